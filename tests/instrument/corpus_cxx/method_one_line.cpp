/* SPDX-License-Identifier: Apache-2.0 */
/* Functions on one line. */
// clang-format off
struct box {
    int n = 1;
    int get() const { return n; }
    void set(int m) { if (m > 0) { n = m; } }
};
template <class T> static T same(T t) { return t; }
// clang-format on
extern "C" int corpus_method_one_line() {
    box b;
    b.set(0);
    b.set(4);
    return b.get() + same(1) + same('a');
}
