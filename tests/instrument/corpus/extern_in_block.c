/* SPDX-License-Identifier: Apache-2.0 */
/* A declaration of a function in a block. */
int corpus_extern_in_block(void) {
    extern int abs(int);
    int n = abs(-4);
    return n;
}
