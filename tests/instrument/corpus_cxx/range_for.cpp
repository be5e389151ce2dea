/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over ranges. */
extern "C" int corpus_range_for() {
    int values[] = {1, 2, 3};
    int sum = 0;
    for (int v : values) {
        sum += v;
    }
    for (int &v : values)
        v++;
    for (const auto &v : values) {
        if (v == 3) {
            break;
        }
        sum += v;
    }
    return sum;
}
