/* SPDX-License-Identifier: Apache-2.0 */
/* Comments everywhere. */
int corpus_comments(void) {
    int n /* ; { */ = 1; // } if (
    if /* ( */ (n /* ) */ == 1) /* { */ {
        n++; /* n--; */
    }
    while /* ( */ (/* ( */ n < 5)
        /* ; */ n++;
    return n;
}
