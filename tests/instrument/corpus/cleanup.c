/* SPDX-License-Identifier: Apache-2.0 */
/* Variables with a cleanup function. */
static int closed;
static void close_it(int *n) {
    closed += *n;
}
static int use(int n) {
    int held __attribute__((cleanup(close_it))) = n;
    if (n > 3) {
        return held;
    }
    return held * 2;
}
int corpus_cleanup(void) {
    return use(1) + use(5) + closed;
}
