/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of C in C++. */
extern "C" int corpus_loops() {
    int sum = 0;
    for (int i = 0, n = 4; i < n; ++i) {
        sum += i;
    }
    int k = 3;
    while (k > 0)
        --k;
    do {
        sum++;
    } while (sum < 9);
    for (;;) {
        if (++k > 2) {
            break;
        }
    }
    while (true) {
        if (++k > 5)
            break;
    }
    return sum + k;
}
