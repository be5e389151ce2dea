/* SPDX-License-Identifier: Apache-2.0 */
/* do while (0). */
int corpus_do_once(void) {
    int n = 0;
    do {
        n += 3;
        if (n == 3) {
            break;
        }
        n += 100;
    } while (0);
    return n;
}
