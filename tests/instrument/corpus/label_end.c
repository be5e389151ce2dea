/* SPDX-License-Identifier: Apache-2.0 */
/* A label before an empty statement. */
int corpus_label_end(void) {
    int n = 0;
    for (int i = 0; i < 5; i++) {
        if (i == 2) {
            goto next;
        }
        n += i;
    next:;
    }
    return n;
}
