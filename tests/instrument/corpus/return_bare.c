/* SPDX-License-Identifier: Apache-2.0 */
/* return without braces, with and without a value. */
static int sign(int n) {
    if (n < 0)
        return -1;
    if (n > 0)
        return 1;
    return 0;
}
static void nothing(int n) {
    if (n)
        return;
    n++;
}
int corpus_return_bare(void) {
    nothing(0);
    nothing(1);
    return sign(-3) + 10 * sign(4) + 100 * sign(0);
}
