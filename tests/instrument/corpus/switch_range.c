/* SPDX-License-Identifier: Apache-2.0 */
/* Case ranges. */
static int choose(int n) {
    switch (n) {
    case 0 ... 4:
        return 1;
    case 5 ... 9:
        return 2;
    }
    return 3;
}
int corpus_switch_range(void) {
    return choose(2) + 10 * choose(7) + 100 * choose(12);
}
