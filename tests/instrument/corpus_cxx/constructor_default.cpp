/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors that the compiler makes. */
struct part {
    int n = 3;
    part() = default;
    part(const part &) = default;
    part &operator=(const part &) = delete;
    ~part() = default;
};
extern "C" int corpus_constructor_default() {
    part a;
    part b(a);
    return a.n + b.n;
}
