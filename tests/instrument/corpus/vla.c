/* SPDX-License-Identifier: Apache-2.0 */
/* Variable length arrays. */
static int sum(int n) {
    int values[n];
    int s = 0;
    for (int i = 0; i < n; i++) {
        values[i] = i * i;
    }
    for (int i = 0; i < n; i++) {
        s += values[i];
    }
    return s;
}
int corpus_vla(void) {
    return sum(4) + sum(2);
}
