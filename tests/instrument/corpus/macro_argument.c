/* SPDX-License-Identifier: Apache-2.0 */
/* Statements in the arguments of a macro. */
#define SAME(x) x
int corpus_macro_argument(void) {
    int n = 0;
    SAME(n++;)
    SAME(if (n) n += 2;)
    return n;
}
