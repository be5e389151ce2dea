/* SPDX-License-Identifier: Apache-2.0 */
/* if and else with braces. */
static int choose(int n) {
    if (n > 2) {
        n += 10;
    } else if (n == 1) {
        n += 20;
    } else {
        n += 30;
    }
    return n;
}
int corpus_if_braces(void) {
    int s = 0;
    for (int i = 0; i < 5; i++) {
        s += choose(i);
    }
    return s;
}
