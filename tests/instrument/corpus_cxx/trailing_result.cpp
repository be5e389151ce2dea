/* SPDX-License-Identifier: Apache-2.0 */
/* Results after the parameters, and deduced ones. */
static auto twice(int n) -> int {
    return n * 2;
}
static auto half(int n) {
    return n / 2;
}
template <class T> static decltype(auto) same(T &t) {
    return (t);
}
extern "C" int corpus_trailing_result() {
    int n = twice(3);
    same(n) += half(8);
    return n;
}
