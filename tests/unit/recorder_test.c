/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes as users write them, on the inline path and on the slow path: every number of a statistic,
 * recursion, self time, slow lines. The expected times are those of the fake clock.
 */
#include "record/recorder.h"

#include "interval/interval.h"
#include "recorded.h"

static void sample(uint64_t ns, const char *info) {
    REGISTER_TIMER_INFO("scope", info);
    fake_advance(ns);
}

TEST(recorder, every_number_of_a_statistic) {
    sample(500, "first");
    sample(300, "least");
    sample(900, "slowest");
    sample(700, NULL);
    stint_stat s = stat_of("scope");
    CHECK_EQ_U64(s.calls, 4);
    CHECK_EQ_U64(s.samples, 4);
    CHECK_EQ_U64(s.total_ns, 2400);
    CHECK_EQ_U64(s.self_ns, 2400);
    CHECK_EQ_U64(s.min_ns, 300);
    CHECK_EQ_U64(s.max_ns, 900);
    CHECK_EQ_U64(s.first_ns, 500);
    CHECK_STR_EQ(s.info, "slowest");
    CHECK_EQ_U64(s.threads, 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* Small values have buckets of their own: exact. */
TEST(recorder, percentiles) {
    for (uint64_t i = 1; i <= 30; ++i) {
        sample(i, NULL);
    }
    stint_stat s = stat_of("scope");
    CHECK_EQ_U64(s.p50_ns, 15);
    CHECK_EQ_U64(s.p90_ns, 27);
    CHECK_EQ_U64(s.p99_ns, 30);
}

TEST(recorder, percentiles_off) {
    setenv("STINT_PERCENTILES", "0", 1);
    for (uint64_t i = 1; i <= 30; ++i) {
        sample(i, NULL);
    }
    stint_stat s = stat_of("scope");
    CHECK_EQ_U64(s.calls, 30);
    CHECK_EQ_U64(s.total_ns, 465);
    CHECK(s.min_ns == 1 && s.max_ns == 30);
    CHECK(s.p50_ns == 0 && s.p90_ns == 0 && s.p99_ns == 0);
}

static void nest(void) {
    REGISTER_TIMER("outer");
    fake_advance(10);
    {
        REGISTER_TIMER("middle");
        fake_advance(20);
        for (int i = 0; i < 3; ++i) {
            REGISTER_TIMER("inner");
            fake_advance(5);
        }
    }
    {
        REGISTER_TIMER("inner");
        fake_advance(7);
    }
}

static void check_nest(uint64_t times) {
    stint_stat outer = stat_of("outer"), middle = stat_of("middle"), inner = stat_of("inner");
    CHECK_EQ_U64(outer.total_ns, 52 * times);
    CHECK_EQ_U64(outer.self_ns, 10 * times);
    CHECK_EQ_U64(middle.total_ns, 35 * times);
    CHECK_EQ_U64(middle.self_ns, 20 * times);
    CHECK_EQ_U64(inner.calls, 4 * times);
    CHECK_EQ_U64(inner.total_ns, 22 * times);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(recorder, self_time_is_without_the_nested) {
    for (int i = 0; i < 1000; ++i) {
        nest();
    }
    check_nest(1000);
}

TEST(recorder, the_other_clock_records_the_same) {
    setenv("STINT_CLOCK", "monotonic", 1);
    for (int i = 0; i < 1000; ++i) {
        nest();
        sample(3, "x");
    }
    CHECK_EQ_U64(stint_impl_thread_here->gate, STINT_IMPL_SHUT); /* it is the slow path */
    check_nest(1000);
    CHECK_EQ_U64(stat_of("scope").total_ns, 3000);
    CHECK_STR_EQ(stat_of("scope").info, "x");
}

static void direct(int depth) {
    REGISTER_TIMER("direct");
    fake_advance(1);
    if (depth > 1) {
        direct(depth - 1);
    }
    fake_advance(1);
}

TEST(recorder, recursion_counts_calls_and_times_the_outermost) {
    direct(10);
    direct(3);
    stint_stat s = stat_of("direct");
    CHECK_EQ_U64(s.calls, 13);
    CHECK_EQ_U64(s.samples, 2);
    CHECK_EQ_U64(s.total_ns, 26);
    CHECK_EQ_U64(s.self_ns, 26);
    CHECK_EQ_U64(s.max_ns, 20);
    CHECK_EQ_U64(s.min_ns, 6);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void mutual_b(int depth);

static void mutual_a(int depth) {
    REGISTER_TIMER("mutual.a");
    fake_advance(1);
    if (depth) {
        mutual_b(depth - 1);
    }
}

static void mutual_b(int depth) {
    REGISTER_TIMER("mutual.b");
    fake_advance(2);
    if (depth) {
        mutual_a(depth - 1);
    }
}

TEST(recorder, mutual_recursion) {
    mutual_a(5); /* a b a b a b: 9 ns, of which 8 inside the first b */
    stint_stat a = stat_of("mutual.a"), b = stat_of("mutual.b");
    CHECK(a.calls == 3 && a.samples == 1);
    CHECK(b.calls == 3 && b.samples == 1);
    CHECK_EQ_U64(a.total_ns, 9);
    CHECK_EQ_U64(b.total_ns, 8);
    CHECK_EQ_U64(a.self_ns, 3);
    CHECK_EQ_U64(b.self_ns, 6);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* A recursive descent. The scopes between the inner calls have no time of their own. */
static void descend(const char *path) {
    char name[2] = {path[0], '\0'};
    REGISTER_TIMER_DYNAMIC(name);
    if (path[1]) {
        descend(path + 1);
    } else {
        fake_advance(50);
    }
}

static void check_descent(const char *path, const char *spins, uint64_t total) {
    stint_reset();
    for (int i = 0; i < 100; ++i) {
        descend(path);
    }
    for (const char *one = path; *one; ++one) {
        char name[2] = {*one, '\0'};
        CHECK_EQ_U64(stat_of(name).total_ns, total);
        CHECK_EQ_U64(stat_of(name).self_ns, *one == *spins ? total : 0);
    }
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(recorder, self_time_is_that_of_the_call_it_was_spent_in) {
    check_descent("aba", "a", 5000);
    check_descent("abcab", "b", 5000);
    check_descent("abcabbb", "b", 5000);
    check_descent("aaabbba", "a", 5000);
    check_descent("abcabcabcc", "c", 5000);
}

/* Open calls of the cycle: the time so far is self time of the innermost. */
static void open_cycle(int depth) {
    REGISTER_TIMER("open.a");
    fake_advance(1);
    {
        REGISTER_TIMER("open.b");
        fake_advance(10);
        if (depth) {
            open_cycle(depth - 1);
        }
        struct snapshot s;
        uint64_t a = 0, b = 0;
        CHECK(!snapshot_take(&s));
        for (uint32_t i = 0; i < s.node_count; ++i) {
            const struct snapshot_node *n = &s.nodes[i];
            const char *name = s.sites[n->site].name;
            *(name && !strcmp(name, "open.a") ? &a : &b) += snapshot_own(n) + n->extra->open_self;
        }
        snapshot_free(&s);
        CHECK_EQ_U64(a, 4);
        CHECK_EQ_U64(b, 40);
    }
}

TEST(recorder, self_time_of_a_cycle_that_is_open) {
    open_cycle(3);
    CHECK_EQ_U64(stat_of("open.a").self_ns, 4);
    CHECK_EQ_U64(stat_of("open.b").self_ns, 40);
}

/* A scope is abandoned. The time of the inner call then belongs to the scope around it. */
TEST(recorder, self_time_of_a_cycle_of_which_a_call_is_abandoned) {
    REGISTER_TIMER("around");
    stint_scope_begin("cycle.a");
    fake_advance(1);
    stint_scope_begin("cycle.b");
    fake_advance(10);
    stint_scope_begin("cycle.a");
    fake_advance(100);
    stint_scope_end("cycle.a");
    stint_scope_begin("cycle.a");
    fake_advance(1000);
    stint_scope_begin("cycle.b");
    fake_advance(10000);
    stint_scope_end("cycle.a"); /* the second b is left, its time is that of this call */
    stint_scope_end("cycle.b");
    stint_scope_end("cycle.a");
    CHECK_EQ_U64(stat_of("cycle.a").self_ns, 11101);
    CHECK_EQ_U64(stat_of("cycle.b").self_ns, 10);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1);
}

/* An inner call that began, by its own account, before the scope around it. */
TEST(recorder, self_time_of_an_inner_call_with_an_earlier_start) {
    uint64_t begun = stint_now_us();
    stint_scope_begin("early.a");
    fake_advance(3000);
    stint_scope_begin("early.b");
    fake_advance(5000);
    {
        REGISTER_TIMER_DYNAMIC_SET("early.a", begun);
        fake_advance(7000);
    }
    stint_scope_end("early.b");
    stint_scope_end("early.a");
    CHECK_EQ_U64(stat_of("early.a").total_ns, 15000);
    CHECK_EQ_U64(stat_of("early.a").self_ns, 15000);
    CHECK_EQ_U64(stat_of("early.b").self_ns, 0);
}

/* 256 distinct scopes need 256 names: a scope a level by name. */
static void deeper(int level, int most) {
    char name[24];
    snprintf(name, sizeof name, "level%d", level);
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(1);
    if (level < most) {
        deeper(level + 1, most);
    }
}

TEST(recorder, too_deep_is_counted) {
    for (int i = 0; i < 2; ++i) {
        deeper(1, 300);
    }
    CHECK_EQ_U64(calls_of("level1"), 2);
    CHECK_EQ_U64(stat_of("level1").total_ns, 600);
    CHECK_EQ_U64(calls_of("level256"), 2);
    CHECK_EQ_U64(stat_of("level256").self_ns, 2 * 45); /* its own and what had no frame */
    CHECK_EQ_U64(calls_of("level257"), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_TOO_DEEP), 2 * 44);
    CHECK_EQ_U64(lost_in_all(), 2 * 44);
    nest();
    CHECK_EQ_U64(stat_of("outer").self_ns, 10);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(recorder, clock_stepping_back_drops_the_sample) {
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("back");
        fake_advance(i == 1 ? (uint64_t)-100 : 40);
    }
    stint_stat s = stat_of("back");
    CHECK_EQ_U64(lost(STINT_STATUS_CLOCK_BACK), 1);
    CHECK_EQ_U64(s.calls, 2);
    CHECK_EQ_U64(s.total_ns, 80);
    CHECK_EQ_U64(s.max_ns, 40);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(recorder, started_earlier) {
    uint64_t start = stint_now_us();
    fake_advance(7000);
    {
        REGISTER_TIMER_SET("since", start);
        fake_advance(3000);
    }
    { REGISTER_TIMER_DYNAMIC_SET("since.dynamic", start); }
    {
        REGISTER_TIMER_SET("since.future", stint_now_us() + 100); /* now, then */
        fake_advance(500);
    }
    CHECK_EQ_U64(stat_of("since").total_ns, 10000);
    CHECK_EQ_U64(stat_of("since.dynamic").total_ns, 10000);
    CHECK_EQ_U64(stat_of("since.future").total_ns, 500);
}

static void slow(void *info) {
    {
        REGISTER_TIMER_INFO("slow", info);
        fake_advance(12003045000u);
    }
    {
        REGISTER_TIMER("slow.threshold", 500);
        fake_advance(500000);
    }
    {
        REGISTER_TIMER("quick.threshold", 500);
        fake_advance(499999);
    }
    REGISTER_TIMER_INFO("quick", info);
    fake_advance(9999999999u);
}

TEST(recorder, slow_scopes_print_a_line) {
    char info[] = "batch=32";
    char *text = harness_capture(2, slow, info);
    CHECK_STR_EQ(text, "Stat: [slow] batch=32 [Span:12003ms45us] \n"
                       "Stat: [slow.threshold]  [Span:0ms500us] \n");
    CHECK_EQ_U64(stat_of("slow").max_ns, 12003045000u);
}

static void slow_dynamic(void *name) {
    REGISTER_TIMER_DYNAMIC((const char *)name, 0);
}

TEST(recorder, threshold_zero_prints_each_call) {
    char name[] = "dynamic name";
    CHECK_STR_EQ(harness_capture(2, slow_dynamic, name), "Stat: [dynamic name]  [Span:0ms0us] \n");
}

/* A line has room for the longest name, and never loses its figures to it. */
TEST(recorder, slow_line_of_a_long_name_keeps_its_figures) {
    char name[1001];
    memset(name, 'n', sizeof name);
    name[1000] = '\0';
    CHECK_CONTAINS(harness_capture(2, slow_dynamic, name), "[Span:0ms0us] \n");
}

TEST(recorder, slow_line_is_one_line) {
    char name[] = "two\nlines \x1b[31m";
    char *text = harness_capture(2, slow_dynamic, name);
    CHECK(text && strchr(text, '\n') == text + strlen(text) - 1);
    CHECK(text && !strchr(text, '\x1b'));
}

TEST(recorder, errno_is_kept) {
    errno = 1234;
    sample(1, "x"); /* first use: environment, clock, arena, thread, site */
    CHECK(errno == 1234);
    sample(2, "x");
    direct(300);
    deeper(1, 300);
    CHECK(errno == 1234);
}
