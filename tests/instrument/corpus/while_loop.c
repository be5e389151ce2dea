/* SPDX-License-Identifier: Apache-2.0 */
/* while, with and without braces. */
int corpus_while_loop(void) {
    int n = 100, s = 0;
    while (n > 3) {
        n /= 2;
        s++;
    }
    while (n--)
        s += 2;
    return s;
}
