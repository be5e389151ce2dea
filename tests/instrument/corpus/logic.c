/* SPDX-License-Identifier: Apache-2.0 */
/* && and ||. */
static int calls;
static int yes(void) {
    calls++;
    return 1;
}
int corpus_logic(void) {
    int n = 0;
    if (n && yes()) {
        n = 5;
    }
    if (n || yes()) {
        n = 6;
    }
    return n + calls;
}
