/* SPDX-License-Identifier: Apache-2.0 */
/* A declaration as the condition of a loop. */
static int left = 3;
static int next() {
    return left--;
}
extern "C" int corpus_while_declaration() {
    int sum = 0;
    while (int n = next()) {
        sum += n;
    }
    for (int i = 3; int m = i; i--) {
        sum += m * 10;
    }
    return sum;
}
