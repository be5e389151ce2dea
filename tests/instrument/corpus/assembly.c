/* SPDX-License-Identifier: Apache-2.0 */
/* Assembler statements. */
int corpus_assembly(void) {
    int n = 3;
    __asm__ volatile("" : "+r"(n));
    if (n)
        __asm__ volatile("" ::: "memory");
    return n;
}
