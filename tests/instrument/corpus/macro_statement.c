/* SPDX-License-Identifier: Apache-2.0 */
/* A macro that is a statement. */
#define STEP(x)                                                                                    \
    do {                                                                                           \
        (x)++;                                                                                     \
        (x) *= 2;                                                                                  \
    } while (0)
int corpus_macro_statement(void) {
    int n = 1;
    STEP(n);
    if (n == 4)
        STEP(n);
    else
        STEP(n);
    return n;
}
