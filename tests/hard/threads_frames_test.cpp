/* SPDX-License-Identifier: Apache-2.0 */
/*
 * C++ exceptions through C frames with scopes: compiled with -fexceptions C closes them and has its
 * samples; without, they are left open, found by the next scope around them, and counted.
 */
#include <stdexcept>

#include "stint/stint.h"

#include "recorded.hpp"
#include "threads_frames.h"

namespace {

const int rounds = 10000;

void throws(int now) {
    REGISTER_TIMER("c++");
    fake_advance(1);
    if (now) {
        throw std::runtime_error("out");
    }
}

void report(void *) {
    stint_report("table");
}

bool report_has(const char *text) {
    char *said = harness_capture(2, report, nullptr);
    bool has = said && strstr(said, text);
    return has;
}

void many(void (*frames)(void (*)(int), int)) {
    for (int i = 0; i < rounds; ++i) {
        REGISTER_TIMER("around");
        try {
            frames(throws, i % 2);
            CHECK(i % 2 == 0);
        } catch (const std::runtime_error &) {
            CHECK(i % 2 == 1);
        }
        fake_advance(5);
    }
    CHECK_EQ_U64(stat_of("around").samples, rounds);
    CHECK_EQ_U64(stat_of("c++").samples, rounds);
    CHECK_EQ_U64(stat_of("around").total_ns, rounds / 2 * (5 + 3) + rounds / 2 * (5 + 2));
    CHECK_EQ_U64(stat_of("around").self_ns + stat_of("c.outer").self_ns +
                     stat_of("c.inner").self_ns + stat_of("c++").self_ns,
                 stat_of("around").total_ns);
}

} // namespace

TEST(threads_frames, with_exceptions_they_have_their_samples) {
    many(frames_closed);
    CHECK_EQ_U64(stat_of("c.outer").samples, rounds);
    CHECK_EQ_U64(stat_of("c.inner").samples, rounds);
    CHECK(!report_has("left open"));
}

TEST(threads_frames, without_they_are_abandoned_and_counted) {
    many(frames_left);
    CHECK_EQ_U64(stat_of("c.outer").samples, rounds / 2);
    CHECK_EQ_U64(stat_of("c.inner").samples, rounds / 2);
    CHECK(report_has("10000 scopes left open")); /* two in each round that threw */
    CHECK(!report_has("\nopen: "));
}
