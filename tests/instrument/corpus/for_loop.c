/* SPDX-License-Identifier: Apache-2.0 */
/* for, with and without an increment. */
int corpus_for_loop(void) {
    int s = 0;
    for (int i = 0; i < 7; i++) {
        s += i;
    }
    for (int i = 7; i-- > 0;) {
        s ^= i;
    }
    return s;
}
