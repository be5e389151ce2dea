/* SPDX-License-Identifier: Apache-2.0 */
#include "session/cost.h"

#include "recorded.h"

TEST(cost, two_clock_readings_a_scope) {
    fake_step = 10;
    { REGISTER_TIMER("scope"); }
    /* 64 scopes of two readings lie between the two readings around them: 129 steps of 10. */
    CHECK_EQ_U64(cost_ticks_x1000(), 1290 * 1000 / 64);
}

/* Of these, too, each call is timed, though it ends on the slow path. */
TEST(cost, of_a_sampled_scope) {
    CHECK(!setenv("STINT_SAMPLE", "auto:1%", 1));
    fake_step = 10;
    { REGISTER_TIMER("scope"); }
    CHECK_EQ_U64(cost_sampled_x1000(), 1290 * 1000 / 64);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(calls_of("scope"), 1);
}

TEST(cost, leaves_no_trace) {
    {
        REGISTER_TIMER("scope");
        struct stint_impl_thread *before = stint_impl_thread_here;
        uint64_t used = arena_used();
        cost_ticks_x1000();
        CHECK(stint_impl_thread_here == before);
        CHECK_EQ_U64(arena_used(), used);
        CHECK_EQ_U64(open_scopes(), 1);
    }
    CHECK_EQ_U64(calls_of("scope"), 1);
    CHECK_EQ_U64(arena_header()->site_count, 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(cost, before_the_first_scope) {
    fake_step = 1;
    CHECK(cost_ticks_x1000() > 0);
    CHECK(stint_impl_thread_here->base == NULL);
}

HARNESS_MAIN()
