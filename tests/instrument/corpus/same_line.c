/* SPDX-License-Identifier: Apache-2.0 */
/* Several statements on one line. */
int corpus_same_line(void) {
    int a = 1; int b = 2; a += b;
    if (a > 2) b++; else b--;
    a++; b++;
    { a--; b--; }
    return a + b;
}
