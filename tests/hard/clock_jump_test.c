/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock that jumps, back and ahead, in the middle of everything that is timed: a step back costs
 * the sample it falls into and nothing else, a step ahead is one long sample, and ten years are
 * neither too long for a number nor for a report.
 */

#include "harness_threads.h"
#include "model/rows.h"
#include "model/snapshot.h"
#include "recorded.h"
#include "support.h"

#define SECOND ((uint64_t)1000000000u)
#define HOUR (3600 * SECOND)
#define YEARS_10 (HOUR * 24 * 3653)

/* Every way to time `ns`; a number of them, the same each time. */
static unsigned all_ways(uint64_t ns) {
    static stint_timer h;
    stint_set *set = stint_set_get("set");
    uint64_t us = stint_now_us();
    {
        REGISTER_TIMER("plain");
        fake_advance(ns);
    }
    {
        REGISTER_TIMER_INFO("note", "a word");
        fake_advance(ns);
    }
    {
        REGISTER_TIMER("set", -1, set);
        fake_advance(ns);
    }
    {
        REGISTER_TIMER_DYNAMIC("dynamic");
        fake_advance(ns);
    }
    {
        REGISTER_TIMER("threshold", (int64_t)1 << 39);
        fake_advance(ns);
    }
    TIMER_BEGIN(h, "handle");
    fake_advance(ns);
    TIMER_END(h);
    stint_scope_begin("by name");
    fake_advance(ns);
    stint_scope_end("by name");
    us = stint_now_us();
    {
        REGISTER_TIMER_SET("since", us);
        fake_advance(ns);
    }
    return 8;
}

static void print(NO_ARG) {
    CHECK(!stint_report("table,threads"));
    CHECK(!stint_report("tree"));
    CHECK(!stint_report("legacy"));
}

/* No row is out of its bounds, and no report says so much. samples: of each row, 0 = as many as it
 * has. */
static void check_rows(uint64_t least, uint64_t most, uint64_t samples) {
    struct snapshot s;
    struct rows rows;
    if (!CHECK(!interval_open(&s, 0))) {
        return;
    }
    CHECK(!rows_flat(&rows, &s, 0));
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        CHECK(row_is_sane(r));
        CHECK(!samples || r->samples == samples);
        CHECK(r->min_ns >= least && r->max_ns <= most);
        CHECK(r->percentile_ns[PERCENTILE_P50] >= r->min_ns &&
              r->percentile_ns[PERCENTILE_P99] <= r->max_ns);
        CHECK(r->extra->open_ns == 0);
    }
    interval_close(&s);
    char *text = harness_capture(2, print, NULL);
    CHECK(text && !strstr(text, "1844674407") && !strstr(text, "nan"));
}

TEST(clock_jump, a_step_back_costs_its_sample_alone) {
    unsigned ways = all_ways(100);
    CHECK_EQ_U64(lost_in_all(), 0);
    for (uint64_t back = 1; back < FAKE_START / 2; back *= 10) {
        uint64_t before = lost(STINT_STATUS_CLOCK_BACK);
        fake_advance(back * ways);
        all_ways(-back);
        CHECK_EQ_U64(lost(STINT_STATUS_CLOCK_BACK), before + ways);
        check_rows(100, 100, 1);
    }
    all_ways(50);
    check_rows(50, 100, 2);
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_CLOCK_BACK));
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(clock_jump, a_step_back_in_the_first_sample) {
    fake_advance(SECOND);
    unsigned ways = all_ways(-(uint64_t)7);
    CHECK_EQ_U64(lost(STINT_STATUS_CLOCK_BACK), ways);
    CHECK_EQ_U64(calls_of("plain"), 0);
    all_ways(30);
    check_rows(30, 30, 1);
}

/* The step is in the inner scope; the outer one has time again when it ends. */
TEST(clock_jump, a_step_back_inside_a_nested_scope) {
    stint_stat s;
    {
        REGISTER_TIMER("outer");
        fake_advance(1000);
        {
            REGISTER_TIMER("inner");
            fake_advance(-(uint64_t)400);
        }
        fake_advance(100);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_CLOCK_BACK), 1);
    CHECK(!stint_stat_get("outer", &s, sizeof s) && s.total_ns == 700 && s.self_ns == 700);
    {
        REGISTER_TIMER("outer");
        {
            REGISTER_TIMER("inner");
            fake_advance(1000);
        }
        fake_advance(-(uint64_t)600); /* the inner one is longer than the outer */
    }
    CHECK(!stint_stat_get("outer", &s, sizeof s) && s.samples == 2 && s.self_ns <= s.total_ns);
    check_rows(400, 1000, 0);
}

TEST(clock_jump, a_report_from_before_the_open_scope) {
    REGISTER_TIMER("open");
    { REGISTER_TIMER("closed"); }
    fake_advance(-(uint64_t)500);
    struct snapshot s;
    CHECK(!interval_open(&s, 1));
    for (uint32_t i = 0; i < s.node_count; ++i) {
        CHECK_EQ_U64(s.nodes[i].extra->open, 0);
    }
    CHECK_EQ_U64(s.wall_ns, 0);
    interval_close(&s);
    char *text = harness_capture(2, print, NULL);
    CHECK(text && !strstr(text, "1844674407"));
    fake_advance(700);
    CHECK(!interval_open(&s, 0));
    CHECK(s.wall_ns <= 700 && s.nodes[1].extra->open <= 700);
    interval_close(&s);
}

TEST(clock_jump, steps_of_the_program) {
    stint_stat s;
    stint_step();
    fake_advance(100);
    stint_step();
    fake_advance(-(uint64_t)5000);
    stint_step(); /* no sample: it ended before it began */
    fake_advance(100);
    stint_step();
    CHECK(!stint_stat_get("stint_step", &s, sizeof s));
    CHECK_EQ_U64(s.samples, 2);
    CHECK_EQ_U64(s.total_ns, 200);
    CHECK_EQ_U64(s.max_ns, 100);
}

/* Asleep for a night: one sample is that long; the next interval knows nothing of it. */
TEST(clock_jump, suspend) {
    stint_stat s;
    for (int i = 0; i < 1000; ++i) {
        all_ways(100);
    }
    all_ways(8 * HOUR);
    CHECK(!stint_stat_get("plain", &s, sizeof s));
    CHECK_EQ_U64(s.max_ns, 8 * HOUR);
    CHECK_EQ_U64(s.total_ns, 8 * HOUR + 100000);
    CHECK(s.p50_ns >= 100 && s.p99_ns <= 103);
    stint_reset();
    fake_advance(1);
    for (int i = 0; i < 1000; ++i) {
        all_ways(100);
    }
    CHECK(!stint_stat_get("plain", &s, sizeof s));
    CHECK(s.max_ns >= 100 && s.max_ns <= 107); /* a histogram's bound */
    CHECK(s.p99_ns >= 100 && s.p99_ns <= 103);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* The rate of a counter that ran through the night while the other clock did not: ticks and
 * nanoseconds disagree. */
TEST(clock_jump, suspend_of_one_of_the_two_clocks) {
    struct snapshot s;
    struct rows rows;
    all_ways(1000);
    uint64_t now_ns = fake_now;
    struct clock_stamp jumped[] = {{now_ns + 8 * HOUR, now_ns, 1},
                                   {now_ns, now_ns + 8 * HOUR, 1},
                                   {FAKE_START + 1, now_ns + 8 * HOUR, 1},
                                   {1, now_ns, 1}};
    for (size_t i = 0; i < sizeof jumped / sizeof *jumped; ++i) {
        CHECK(!snapshot_read(&s, arena.base, arena.size, FAKE_START, &jumped[i]));
        CHECK(!rows_flat(&rows, &s, 0));
        for (uint32_t r = 0; r < rows.count; ++r) {
            CHECK_EQ_U64(rows.row[r].total_ns, 1000);
        }
        snapshot_free(&s);
    }
}

/* ---- Ten years. */

static void ten_years(NO_ARG) {
    all_ways(YEARS_10);
    all_ways(1);
}

TEST(clock_jump, ten_years_are_a_sample) {
    stint_stat s;
    setenv("STINT_TRACE", "64K", 1);
    harness_capture(2, ten_years, NULL);
    check_rows(1, YEARS_10, 2);
    CHECK(!stint_stat_get("plain", &s, sizeof s));
    CHECK_EQ_U64(s.max_ns, YEARS_10);
    CHECK(s.total_ns >= YEARS_10 && s.total_ns <= YEARS_10 + 1); /* to 53 bits */
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void slow_line(NO_ARG) {
    REGISTER_TIMER("slow", 0);
    fake_advance(YEARS_10);
}

TEST(clock_jump, ten_years_in_a_slow_scopes_line) {
    char *line = harness_capture(2, slow_line, NULL);
    char want[64];
    snprintf(want, sizeof want, "[Span:%" PRIu64 "ms0us]", YEARS_10 / 1000000);
    CHECK_CONTAINS(line, want);
}

TEST(clock_jump, open_for_ten_years) {
    struct snapshot s;
    REGISTER_TIMER("open");
    fake_advance(YEARS_10);
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.nodes[1].extra->open, YEARS_10);
    CHECK_EQ_U64(s.wall_ns, YEARS_10);
    interval_close(&s);
    stint_reset();
    fake_advance(5);
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.nodes[1].extra->open, 5);
    interval_close(&s);
}

/* Seventy threads of ten years each are more than 2^64 nanoseconds. */
enum { THREADS = 70 };
static pthread_barrier_t begun, ended;

static void *ten_years_each(void *unused) {
    REGISTER_TIMER("thread");
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&ended);
    return unused;
}

TEST(clock_jump, many_threads_of_ten_years) {
    pthread_t thread[THREADS];
    stint_stat s;
    pthread_barrier_init(&begun, NULL, THREADS + 1);
    pthread_barrier_init(&ended, NULL, THREADS + 1);
    threads_start(thread, THREADS, ten_years_each, NULL, 0);
    pthread_barrier_wait(&begun);
    fake_advance(YEARS_10);
    pthread_barrier_wait(&ended);
    threads_join(thread, THREADS);
    CHECK(!stint_stat_get("thread", &s, sizeof s));
    CHECK_EQ_U64(s.samples, THREADS);
    CHECK_EQ_U64(s.max_ns, YEARS_10);
    CHECK(s.total_ns > UINT64_MAX / 10 * 9); /* as much as a number can say */
    CHECK(s.self_ns > UINT64_MAX / 10 * 9);
}
