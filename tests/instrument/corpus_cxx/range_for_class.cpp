/* SPDX-License-Identifier: Apache-2.0 */
/* A loop over a class with begin and end. */
struct span_of {
    const int *first;
    const int *last;
    const int *begin() const {
        return first;
    }
    const int *end() const {
        return last;
    }
};
extern "C" int corpus_range_for_class() {
    static const int values[] = {4, 5, 6};
    span_of s = {values, values + 3};
    int sum = 0;
    for (int v : s) {
        sum = sum * 10 + v;
    }
    return sum;
}
