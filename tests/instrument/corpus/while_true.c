/* SPDX-License-Identifier: Apache-2.0 */
/* A constant condition. */
int corpus_while_true(void) {
    int n = 0;
    while (1) {
        n++;
        if (n > 4) {
            break;
        }
    }
    return n;
}
