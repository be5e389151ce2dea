/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of statements, variables and functions. */
[[nodiscard]] static int get(int n) {
    if (n > 1) [[likely]] {
        return n;
    }
    [[maybe_unused]] int unused = 3;
    return 1;
}
extern "C" int corpus_attributes() {
    return get(1) + get(5);
}
