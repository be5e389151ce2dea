/* SPDX-License-Identifier: Apache-2.0 */

#include "harness_threads.h"
#include "recorded.h"

TEST(handle, interval_is_a_sample) {
    stint_timer t;
    for (uint64_t i = 1; i <= 4; ++i) {
        TIMER_BEGIN(t, "interval");
        fake_advance(i * 10);
        TIMER_END(t);
    }
    stint_stat s = stat_of("interval");
    CHECK_EQ_U64(s.calls, 4);
    CHECK_EQ_U64(s.total_ns, 100);
    CHECK(s.min_ns == 10 && s.max_ns == 40 && s.first_ns == 10);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(handle, overlaps_scopes_and_stands_beside_them) {
    stint_timer a, b;
    {
        REGISTER_TIMER("scope");
        TIMER_BEGIN(a, "a");
        fake_advance(1);
        TIMER_BEGIN(b, "b");
        fake_advance(2);
        TIMER_END(a);
        fake_advance(4);
    }
    fake_advance(8);
    TIMER_END(b);
    CHECK_EQ_U64(stat_of("a").total_ns, 3);
    CHECK_EQ_U64(stat_of("b").total_ns, 14);
    CHECK_EQ_U64(stat_of("scope").total_ns, 7);
    CHECK_EQ_U64(stat_of("scope").self_ns, 7); /* an interval takes nothing away from it */
}

static void *ends(void *timer) {
    stint_timer *t = timer;
    fake_advance(5);
    TIMER_END(*t);
    return NULL;
}

TEST(handle, ends_on_another_thread) {
    stint_timer t;
    TIMER_BEGIN(t, "crossing");
    fake_advance(5);
    thread_run(ends, &t);
    CHECK_EQ_U64(stat_of("crossing").total_ns, 10);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(handle, ended_twice_or_never_begun) {
    stint_timer t = {{0, 0}};
    TIMER_END(t);
    TIMER_BEGIN(t, "once");
    TIMER_END(t);
    TIMER_END(t);
    TIMER_END(t);
    CHECK_EQ_U64(calls_of("once"), 1);
    CHECK_EQ_U64(lost(STINT_STATUS_STRAY_END), 3);
}

TEST(handle, begun_again_starts_over) {
    stint_timer t;
    TIMER_BEGIN(t, "again");
    fake_advance(100);
    TIMER_BEGIN(t, "again");
    fake_advance(1);
    TIMER_END(t);
    CHECK_EQ_U64(calls_of("again"), 1);
    CHECK_EQ_U64(stat_of("again").total_ns, 1);
}

TEST(handle, many_open_at_once) {
    static stint_timer t[1000]; /* far more than open scopes may be */
    for (int i = 0; i < 1000; ++i) {
        TIMER_BEGIN(t[i], "many");
        fake_advance(1);
    }
    for (int i = 0; i < 1000; ++i) {
        TIMER_END(t[i]);
    }
    CHECK_EQ_U64(calls_of("many"), 1000);
    CHECK_EQ_U64(stat_of("many").total_ns, 1000 * 1001 / 2);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(handle, switched_off_at_its_begin) {
    stint_timer t;
    stint_timers_enable(0);
    TIMER_BEGIN(t, "off");
    stint_timers_enable(1);
    TIMER_END(t);
    TIMER_BEGIN(t, "on");
    stint_timers_enable(0);
    TIMER_END(t); /* it began: it ends */
    CHECK_EQ_U64(calls_of("off"), 0);
    CHECK_EQ_U64(calls_of("on"), 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(handle, clock_stepping_back) {
    stint_timer t;
    TIMER_BEGIN(t, "back");
    fake_advance((uint64_t)-10);
    TIMER_END(t);
    CHECK_EQ_U64(calls_of("back"), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_CLOCK_BACK), 1);
}

TEST(handle, errno_is_kept) {
    stint_timer t;
    errno = 1234;
    TIMER_BEGIN(t, "first use");
    TIMER_END(t);
    TIMER_END(t);
    CHECK(errno == 1234);
}
