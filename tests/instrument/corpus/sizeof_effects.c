/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that are not evaluated. */
int corpus_sizeof_effects(void) {
    int n = 3;
    int size = (int)sizeof(n++);
    __typeof__(n) m = n;
    return m + (size > 0);
}
