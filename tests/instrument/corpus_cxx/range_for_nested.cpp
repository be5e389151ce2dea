/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over ranges inside each other, with continue. */
extern "C" int corpus_range_for_nested() {
    int sum = 0;
    int rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
    for (auto &row : rows) {
        for (int cell : row) {
            if (cell % 2) {
                continue;
            }
            sum += cell;
        }
    }
    return sum;
}
