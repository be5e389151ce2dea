/* SPDX-License-Identifier: Apache-2.0 */
/* goto out of the scope of a variable length array. */
static int rounds(int n) {
    int r = 0;
again: {
    int values[n];
    values[n - 1] = n;
    r += values[n - 1];
}
    if (--n > 0) {
        goto again;
    }
    return r;
}
int corpus_vla_goto(void) {
    return rounds(4);
}
