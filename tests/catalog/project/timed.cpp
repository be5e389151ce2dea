/* SPDX-License-Identifier: Apache-2.0 */
#include <stint/stint.hpp>

extern "C" void run_cxx(int n);

namespace space {
template <class T> struct box {
    T value;
    T get() {
        REGISTER_TIMER("template");
        return value;
    }
};
} // namespace space

void run_cxx(int n) {
    REGISTER_TIMER("cxx");
    auto later = [](int x) {
        REGISTER_TIMER("cxx");
        return x;
    };
    try {
        REGISTER_TIMER_FUNC();
        if (later(n) + space::box<int>{1}.get() > 100) {
            REGISTER_TIMER("cxx");
        }
    } catch (...) {
    }
}
