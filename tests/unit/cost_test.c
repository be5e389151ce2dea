/* SPDX-License-Identifier: Apache-2.0 */
#include "record/cost.h"

#include "recorded.h"
#include "support.h"

TEST(cost, two_clock_readings_a_scope) {
    fake_step = 10;
    { REGISTER_TIMER("scope"); }
    struct arena_cost cost;
    cost_read(&cost);
    CHECK_EQ_U64(cost.timed, 20000);
    CHECK_EQ_U64(cost.recursive, 10000); /* no clock is read at its end */
    CHECK_EQ_U64(cost.dynamic, 0);
    CHECK_EQ_U64(cost.reading, 0);
    CHECK_EQ_U64(cost.inner, 10000); /* from one reading to the next one */
    CHECK_EQ_U64(cost.outer, 10000);
    CHECK_EQ_U64(cost.dense, 20000);
    CHECK_EQ_U64(cost.gap, 10000);
    CHECK_EQ_U64(cost.cold, 20000);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(cost, of_a_slow_clock) {
    CHECK(!setenv("STINT_CLOCK", "monotonic", 1));
    fake_step = 10;
    { REGISTER_TIMER("scope"); }
    struct arena_cost cost;
    cost_read(&cost);
    CHECK(cost.timed > 0);
    CHECK_EQ_U64(cost.cold, 0); /* not measured: each call takes the slow path */
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(calls_of("scope"), 1);
}

static void with_all_settings(void) {
    REGISTER_TIMER("scope");
    fake_advance(1);
}

/* Nothing that it opens or keeps is in the arena. */
TEST(cost, of_every_path) {
    CHECK(!setenv("STINT_TRACE", "64K", 1));
    CHECK(!setenv("STINT_RUSAGE", "1", 1));
    fake_step = 10;
    for (int i = 0; i < 100; ++i) {
        with_all_settings();
    }
    struct arena_cost cost;
    uint64_t used = arena_used();
    cost_read(&cost);
    CHECK_EQ_U64(cost.timed, 20000);
    CHECK(cost.reading > 0);
    CHECK_EQ_U64(arena_used(), used);
    CHECK_EQ_U64(calls_of("scope"), 100);
    CHECK_EQ_U64(open_scopes(), 0);
}

static void measured(uint64_t ns) {
    REGISTER_TIMER("measured");
    fake_advance(ns);
}

/* The cost of STINT_RUSAGE's readings comes on top of the cost of the calls. */
TEST(cost, of_readings) {
    CHECK(!setenv("STINT_RUSAGE", "1", 1));
    fake_step = 10;
    for (int i = 0; i < 7; ++i) {
        measured(10000000);
    }
    set_plain(0);
    char *text = report_of("table");
    CHECK(strstr(text, "this run: 7 calls at about 20 ns, 7 measured calls at about ") != NULL);
    CHECK(strstr(text, " more, ") != NULL);
}

static void by_name(const char *name) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(1);
}

static void recursive(int depth) {
    REGISTER_TIMER("recursive");
    if (depth) {
        recursive(depth - 1);
    }
}

/* Each call has the cost of its kind: the recorder reads no clock to look up a name, and here takes
 * none. */
TEST(cost, of_calls_of_all_kinds) {
    fake_step = 10;
    by_name("name");
    recursive(3);
    set_plain(0);
    char *text = report_of("table");
    CHECK(strstr(text, "this run: 5 calls at about 14 ns to 20 ns, 70 ns to 100 ns in all; ") !=
          NULL);
}

TEST(cost, leaves_no_trace) {
    {
        REGISTER_TIMER("scope");
        struct stint_impl_thread *before = stint_impl_thread_here;
        uint64_t used = arena_used();
        struct arena_cost cost;
        cost_read(&cost);
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
    struct arena_cost cost;
    cost_read(&cost);
    CHECK(cost.timed > 0);
    CHECK(stint_impl_thread_here->base == NULL);
}
