/* SPDX-License-Identifier: Apache-2.0 */
/* Duff's device: cases inside a loop inside the switch. */
static int copy(int n) {
    int r = 0;
    int rounds = (n + 3) / 4;
    switch (n % 4) {
    case 0:
        do {
            r++;
            /* fall through */
        case 3:
            r++;
            /* fall through */
        case 2:
            r++;
            /* fall through */
        case 1:
            r++;
        } while (--rounds > 0);
    }
    return r;
}
int corpus_switch_loop(void) {
    return copy(9) * 100 + copy(4);
}
