/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions that begin in a macro. */
#define BIG(x) ((x) > 3)
#define PLAIN(x) x
int corpus_macro_condition(void) {
    int s = 0, n = 6;
    while (BIG(n)) {
        n--;
    }
    while (PLAIN(n > 1)) {
        n--;
    }
    for (int i = 0; BIG(4) && PLAIN(i < 3); i++) {
        s += n;
    }
    if (BIG(s)) {
        s = 3;
    }
    return s;
}
