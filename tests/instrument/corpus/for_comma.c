/* SPDX-License-Identifier: Apache-2.0 */
/* for with comma expressions. */
int corpus_for_comma(void) {
    int s = 0;
    int i, j;
    for (i = 0, j = 9; i < j; i++, j--) {
        s += i * j;
    }
    return s;
}
