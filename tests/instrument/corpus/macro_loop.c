/* SPDX-License-Identifier: Apache-2.0 */
/* A macro that is the head of a loop. */
#define EACH(i, n) for (int i = 0; i < (n); i++)
int corpus_macro_loop(void) {
    int s = 0;
    int k = 0;
    EACH(j, 4) {
        s += j;
        k++;
    }
    return s + k;
}
