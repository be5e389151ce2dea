// SPDX-License-Identifier: Apache-2.0
// A variable that a lambda with a default capture names in a macro only.
#include <stint/stint.hpp>

#include <string>

extern void work();
extern std::string make_name(int n);
extern void later(void (*run)(void *), void *closure);

template <typename Closure> static void post(Closure closure) {
    later([](void *p) { (*static_cast<Closure *>(p))(); }, &closure);
}

void identity_capture(const char *info) {
    const std::string label = make_name(1);
    post([&] {
        REGISTER_TIMER_DYNAMIC(label);
        work();
    });
    post([=] {
        REGISTER_TIMER_DYNAMIC(label);
        REGISTER_TIMER_INFO("capture", info);
        work();
    });
}
