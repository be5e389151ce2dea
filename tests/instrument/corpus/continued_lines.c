/* SPDX-License-Identifier: Apache-2.0 */
/* Lines continued by a backslash. */
int corpus_continued_lines(void) {
    int n = \
        1;
    if (n \
        == 1) {
        n = 2;
    }
    return \
        n;
}
