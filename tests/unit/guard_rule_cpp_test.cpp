/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions through scopes: C++ guards are destroyed on the way, so every scope has its sample.
 */
#include "stint/stint.h"

#include <pthread.h>

#include <stdexcept>
#include <string>

#include "recorded.hpp"

namespace {

void throws(int depth) {
    REGISTER_TIMER("throws");
    REGISTER_TIMER_INFO("throws.info", "note");
    REGISTER_TIMER_DYNAMIC("throws." + std::to_string(depth));
    fake_advance(1);
    if (depth == 0) {
        throw std::runtime_error("out");
    }
    throws(depth - 1);
}

void *exits(void *unused) {
    REGISTER_TIMER("exits");
    fake_advance(5);
    if (!unused) {
        pthread_exit(nullptr);
    }
    return unused;
}

} // namespace

TEST(guard_rule_cpp, exception_through_scopes) {
    for (int i = 0; i < 100; ++i) {
        REGISTER_TIMER("around");
        try {
            throws(9);
            CHECK(false);
        } catch (const std::runtime_error &) {
            fake_advance(10);
        }
    }
    CHECK_EQ_U64(stat_of("throws").calls, 1000);
    CHECK_EQ_U64(stat_of("throws").samples, 100);
    CHECK_EQ_U64(stat_of("throws").total_ns, 1000);
    CHECK_EQ_U64(stat_of("throws.0").calls, 100);
    CHECK_EQ_U64(stat_of("around").total_ns, 2000);
    CHECK_EQ_U64(stat_of("around").self_ns, 1000);
    CHECK_STR_EQ(stat_of("throws.info").info, "note");
}

TEST(guard_rule_cpp, pthread_exit_destroys_guards) {
    pthread_t t;
    CHECK(pthread_create(&t, nullptr, exits, nullptr) == 0);
    pthread_join(t, nullptr);
    CHECK_EQ_U64(stat_of("exits").total_ns, 5);
}
