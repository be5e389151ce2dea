/* SPDX-License-Identifier: Apache-2.0 */
/* goto out of nested loops. */
int corpus_goto_out(void) {
    int n = 0;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            n++;
            if (i + j == 3) {
                goto out;
            }
        }
    }
out:
    return n;
}
