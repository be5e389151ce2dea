/* SPDX-License-Identifier: Apache-2.0 */
/* A macro that has the parentheses of the condition. */
#define LIKELY(x) (__builtin_expect(!!(x), 1))
int corpus_macro_parentheses(void) {
    int n = 0;
    if LIKELY (n == 0) {
        n = 4;
    }
    return n;
}
