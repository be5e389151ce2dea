/* SPDX-License-Identifier: Apache-2.0 */
/* A condition that the compiler decides. */
template <int N> static int choose(int n) {
    if constexpr (N > 1) {
        n += N;
    } else {
        n -= 1;
    }
    return n;
}
extern "C" int corpus_if_constexpr() {
    return choose<1>(10) + choose<3>(20);
}
