/* SPDX-License-Identifier: Apache-2.0 */
/* Inline functions. */
static inline int small(int n) {
    return n + 1;
}
static inline __attribute__((always_inline)) int smaller(int n) {
    return n + 2;
}
int corpus_inline_function(void) {
    return small(1) + smaller(2);
}
