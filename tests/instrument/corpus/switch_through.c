/* SPDX-License-Identifier: Apache-2.0 */
/* Cases that continue with the next one. */
static int choose(int n) {
    int r = 0;
    switch (n) {
    case 0:
        r += 1;
        /* fall through */
    case 1:
        r += 10;
        /* fall through */
    default:
        r += 100;
    }
    return r;
}
int corpus_switch_through(void) {
    return choose(0) + choose(1) + choose(2);
}
