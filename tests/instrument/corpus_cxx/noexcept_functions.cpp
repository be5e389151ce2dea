/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that throw nothing. */
static int safe(int n) noexcept {
    n++;
    return n;
}
template <class T> static T swap_first(T &a, T b) noexcept(sizeof(T) < 16) {
    T old = a;
    a = b;
    return old;
}
extern "C" int corpus_noexcept_functions() {
    int n = safe(1);
    return swap_first(n, 5) + n;
}
