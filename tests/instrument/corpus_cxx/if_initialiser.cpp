/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions with an initialiser or a declaration. */
static int get(int n) {
    return n - 2;
}
extern "C" int corpus_if_initialiser() {
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        if (int n = get(i); n > 0) {
            sum += n;
        } else if (n == 0) {
            sum += 10;
        }
        if (int m = get(i)) {
            sum += m * 100;
        }
    }
    return sum;
}
