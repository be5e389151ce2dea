/* SPDX-License-Identifier: Apache-2.0 */
/* Results by reference and moved ones. */
#include <utility>
struct owner {
    int *held;
    explicit owner(int *p) : held(p) {}
    owner(owner &&other) noexcept : held(other.held) {
        other.held = nullptr;
    }
    int &get() & {
        return *held;
    }
    int get() && {
        return *held + 100;
    }
};
extern "C" int corpus_references() {
    int n = 2;
    owner a(&n);
    a.get() = 5;
    owner b(std::move(a));
    return std::move(b).get() + (a.held == nullptr);
}
