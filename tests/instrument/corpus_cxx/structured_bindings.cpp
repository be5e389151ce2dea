/* SPDX-License-Identifier: Apache-2.0 */
/* Structured bindings. */
struct couple {
    int a;
    int b;
};
static couple make(int n) {
    return {n, n + 1};
}
extern "C" int corpus_structured_bindings() {
    auto [first, second] = make(3);
    int pair[2] = {1, 2};
    auto &[x, y] = pair;
    x += first;
    y += second;
    return pair[0] * 10 + pair[1];
}
