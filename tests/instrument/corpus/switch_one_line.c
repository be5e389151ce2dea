/* SPDX-License-Identifier: Apache-2.0 */
/* Cases with their statements on one line. */
static int choose(int n) {
    switch (n) {
    case 0: return 5;
    case 1: n = 7; break;
    default: n = 9;
    }
    return n;
}
int corpus_switch_one_line(void) {
    return choose(0) + choose(1) + choose(2);
}
