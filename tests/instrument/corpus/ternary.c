/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional expressions. */
static int yes(void) {
    return 1;
}
int corpus_ternary(void) {
    int n = 2;
    int a = n > 1 ? yes() : 0;
    int b = n < 1 ? 5 : a;
    return a ?: b;
}
