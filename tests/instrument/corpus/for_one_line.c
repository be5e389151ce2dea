/* SPDX-License-Identifier: Apache-2.0 */
/* A loop on one line. */
int corpus_for_one_line(void) {
    int s = 0;
    for (int i = 0; i < 6; i++) s += i;
    return s;
}
