/* SPDX-License-Identifier: Apache-2.0 */
/* A macro that returns. */
#define RETURN_IF(c, v)                                                                            \
    if (c) return (v)
static int choose(int n) {
    RETURN_IF(n == 1, 10);
    RETURN_IF(n == 2, 20);
    return n;
}
int corpus_macro_return(void) {
    return choose(1) + choose(2) + choose(3);
}
