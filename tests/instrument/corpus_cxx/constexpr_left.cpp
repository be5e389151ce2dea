/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that may run in the compiler are left out. */
constexpr int square(int n) {
    return n * n;
}
struct length {
    int n;
    constexpr explicit length(int m) : n(m) {}
    constexpr int get() const {
        return n;
    }
};
extern "C" int corpus_constexpr_left() {
    constexpr length l(4);
    static_assert(l.get() == 4, "");
    char room[square(3)];
    return static_cast<int>(sizeof room) + l.get();
}
