/* SPDX-License-Identifier: Apache-2.0 */
/* A condition with an assignment. */
static int next(int *n) {
    return --*n;
}
int corpus_while_assignment(void) {
    int n = 5, m, s = 0;
    while ((m = next(&n)) > 0) {
        s += m;
    }
    return s;
}
