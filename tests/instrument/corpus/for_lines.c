/* SPDX-License-Identifier: Apache-2.0 */
/* Loops with heads of several lines. */
int corpus_for_lines(void) {
    int i, n = 0;
    for (i = 0;
         i < 5;
         i++) {
        n += i;
    }
    for (
        i = 0;
        i < 3; i++)
        n++;
    for (int k = 1,
             m = 2;
         k < 4;
         k++, m++)
        n += m;
    for (int k = 0; k < 6;
         k += 2) n++;
    for (; i < 7;
         i++) {
        n++;
    }
    while (
        i > 0)
        i--;
    for (i = 0;;
         i++) {
        if (i == 3)
            break;
    }
    return n;
}
