/* SPDX-License-Identifier: Apache-2.0 */
/* do, with and without braces. */
int corpus_do_loop(void) {
    int n = 0;
    do {
        n += 3;
    } while (n < 20);
    do
        n--;
    while (n > 10);
    return n;
}
