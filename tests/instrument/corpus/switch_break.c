/* SPDX-License-Identifier: Apache-2.0 */
/* switch. */
static int choose(int n) {
    int r = 0;
    switch (n) {
    case 0:
        r = 1;
        break;
    case 1:
    case 2:
        r = 2;
        break;
    default:
        r = 3;
        break;
    }
    return r;
}
int corpus_switch_break(void) {
    return choose(0) + 10 * choose(1) + 100 * choose(2) + 1000 * choose(3);
}
