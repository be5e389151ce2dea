/* SPDX-License-Identifier: Apache-2.0 */
/* for without a condition. */
int corpus_for_no_condition(void) {
    int s = 0;
    for (int i = 0;; i++) {
        if (i == 4) {
            break;
        }
        s += i;
    }
    return s;
}
