/* SPDX-License-Identifier: Apache-2.0 */
/* Statements over several lines. */
static int add(int a, int b,
               int c) {
    return a +
           b +
           c;
}
int corpus_multi_line(void) {
    int n = add(1,
                2,
                3);
    n +=
        4;
    return n;
}
