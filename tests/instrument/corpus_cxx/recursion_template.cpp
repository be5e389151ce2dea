/* SPDX-License-Identifier: Apache-2.0 */
/* A template that calls itself. */
template <int N> static int depth() {
    if constexpr (N == 0) {
        return 0;
    } else {
        int below = depth<N - 1>();
        return below + 1;
    }
}
extern "C" int corpus_recursion_template() {
    return depth<4>();
}
