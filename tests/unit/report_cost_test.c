/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times without stint's own cost, from given costs of a call. The prices of a test are all
 * different, so that each number says which of them are in it.
 */
#include "harness_threads.h"
#include "report/report_cost.h"

#include <setjmp.h>

#include "recorded.h"
#include "report/report.h"
#include "support.h"

/* Nanoseconds. TIMED is that of the footer, which no corrected time has in it. */
#define TIMED 3001
#define INNER 5
#define OUTER 7
#define RECURSIVE 20
#define DYNAMIC 3
#define READING 50

static const struct report_cost cost = {.timed = TIMED * 1000,
                                        .recursive = RECURSIVE * 1000,
                                        .dynamic = DYNAMIC * 1000,
                                        .reading = READING * 1000,
                                        .inner = INNER * 1000,
                                        .outer = OUTER * 1000};
static const struct report_about nowhere;

static struct snapshot s;
static struct rows rows;

static double ns_per_tick = 1;

static void open_corrected(void) {
    struct report_options o = {.set = REPORT_ALL_SETS, .corrected = 1};
    struct report r = {&s, &o, NULL, &cost, &nowhere};
    CHECK(!interval_open(&s, 0));
    s.ns_per_tick = ns_per_tick;
    CHECK(!report_correct(&r));
    s.corrected = 1;
}

static void flat(void) {
    open_corrected();
    CHECK(!rows_flat(&rows, &s, 0));
}

static void tree(void) {
    open_corrected();
    CHECK(!rows_tree(&rows, &s));
}

static const struct stint_row *row_of(const char *name) {
    const struct stint_row *r = row_in(&rows, 0, name);
    return CHECK(r != NULL) ? r : &rows.row[0];
}

static void leaf(uint64_t ns) {
    REGISTER_TIMER("leaf");
    fake_advance(ns);
}

static void around(uint64_t own, int leaves, uint64_t ns) {
    REGISTER_TIMER("around");
    fake_advance(own);
    while (leaves--) {
        leaf(ns);
    }
}

/* ---- Which part of the cost is in which time. */

TEST(report_cost, inner_part_of_each_call) {
    for (int i = 0; i < 4; ++i) {
        leaf(100);
    }
    flat();
    const struct stint_row *r = row_of("leaf");
    CHECK_EQ_U64(r->total_ns, 400 - 4 * INNER);
    CHECK_EQ_U64(r->self_ns, 400 - 4 * INNER);
    CHECK_EQ_U64(r->avg_ns, 100 - INNER);
    CHECK_EQ_U64(r->share_ppm, (400 - 4 * INNER) * 1000000 / 400);
    CHECK(r->has & ROW_CORRECTED);
    interval_close(&s);
}

TEST(report_cost, other_times_are_as_measured) {
    leaf(100);
    leaf(101);
    flat();
    const struct stint_row *r = row_of("leaf");
    CHECK_EQ_U64(r->avg_ns, 95);
    CHECK_EQ_U64(r->min_ns, 100);
    CHECK_EQ_U64(r->percentile_ns[PERCENTILE_P50], 100);
    CHECK_EQ_U64(r->max_ns, 101);
    CHECK_EQ_U64(r->first_ns, 100);
    interval_close(&s);
}

/* 1000 + 3 * 100: of the children's calls, both parts are in the total and one is in the self
 * time. */
static void check_around(void) {
    CHECK_EQ_U64(row_of("leaf")->total_ns, 300 - 3 * INNER);
    CHECK_EQ_U64(row_of("leaf")->self_ns, 300 - 3 * INNER);
    CHECK_EQ_U64(row_of("around")->self_ns, 1000 - INNER - 3 * OUTER);
    CHECK_EQ_U64(row_of("around")->total_ns, 1300 - INNER - 3 * (INNER + OUTER));
    interval_close(&s);
}

TEST(report_cost, nested) {
    around(1000, 3, 100);
    flat();
    check_around();
    tree();
    check_around();
}

/* Twice as long as the numbers above. */
TEST(report_cost, of_a_clock_whose_ticks_are_no_nanoseconds) {
    ns_per_tick = 2;
    around(1000, 3, 100);
    tree();
    CHECK_EQ_U64(row_of("leaf")->total_ns, 600 - 3 * INNER - 1); /* rounded to whole ticks */
    CHECK_EQ_U64(row_of("around")->self_ns, 2000 - INNER - 3 * OUTER);
    CHECK_EQ_U64(row_of("around")->total_ns, 2600 - INNER - 3 * (INNER + OUTER) - 1);
    interval_close(&s);
}

static void top(void) {
    REGISTER_TIMER("top");
    fake_advance(500);
    around(1000, 3, 100);
}

TEST(report_cost, of_all_below) {
    top();
    tree();
    const struct stint_row *r = row_of("top");
    CHECK_EQ_U64(r->self_ns, 500 - INNER - OUTER);
    CHECK_EQ_U64(r->total_ns, 1800 - INNER - 4 * (INNER + OUTER));
    interval_close(&s);
}

TEST(report_cost, never_below_0) {
    around(3, 2, 1);
    tree();
    CHECK_EQ_U64(row_of("leaf")->total_ns, 0);
    CHECK_EQ_U64(row_of("leaf")->avg_ns, 0);
    CHECK_EQ_U64(row_of("around")->self_ns, 0);
    CHECK_EQ_U64(row_of("around")->total_ns, 0);
    interval_close(&s);
}

/* Otherwise the total would be less than that of its children. */
TEST(report_cost, a_self_time_of_0_takes_nothing_from_the_children) {
    around(3, 2, 100);
    tree();
    CHECK_EQ_U64(row_of("around")->self_ns, 0);
    CHECK_EQ_U64(row_of("leaf")->total_ns, 200 - 2 * INNER);
    CHECK_EQ_U64(row_of("around")->total_ns, 200 - 2 * INNER);
    interval_close(&s);
}

static void recurse(int depth) {
    REGISTER_TIMER("recurse");
    fake_advance(100);
    if (depth) {
        recurse(depth - 1);
    }
}

TEST(report_cost, of_recursive_calls) {
    recurse(4);
    flat();
    CHECK_EQ_U64(row_of("recurse")->total_ns, 500 - INNER - 4 * RECURSIVE);
    CHECK_EQ_U64(row_of("recurse")->self_ns, 500 - INNER - 4 * RECURSIVE);
    interval_close(&s);
}

static void by_name(int depth) {
    REGISTER_TIMER_DYNAMIC("by name");
    fake_advance(100);
    if (depth) {
        by_name(depth - 1);
    }
}

static void around_names(void) {
    REGISTER_TIMER("around names");
    fake_advance(1000);
    by_name(2);
    by_name(0);
}

/* A name is looked up before the clock is read. */
TEST(report_cost, of_names_made_at_run_time) {
    around_names();
    tree();
    uint64_t inner = 2 * INNER + 2 * (RECURSIVE + DYNAMIC), outer = 2 * (OUTER + DYNAMIC);
    CHECK_EQ_U64(row_of("by name")->total_ns, 400 - inner);
    CHECK_EQ_U64(row_of("around names")->self_ns, 1000 - INNER - outer);
    CHECK_EQ_U64(row_of("around names")->total_ns, 1400 - INNER - inner - outer);
    interval_close(&s);
}

static void measured(void) {
    REGISTER_TIMER("measured");
    fake_advance(10000000);
}

static void around_measured(void) {
    REGISTER_TIMER("around measured");
    fake_advance(1000);
    for (int i = 0; i < 7; ++i) {
        measured();
    }
}

TEST(report_cost, of_readings) {
    CHECK(!setenv("STINT_RUSAGE", "1", 1));
    around_measured();
    flat();
    u128 readings = row_of("measured")->extra->measure[MEASURE_USAGE_CALLS];
    CHECK_EQ_U64(readings, 7);
    CHECK_EQ_U64(row_of("measured")->total_ns, 70000000 - 7 * INNER);
    CHECK_EQ_U64(row_of("around measured")->self_ns, 1000 - INNER - 7 * (OUTER + READING));
    interval_close(&s);
}

/* ---- Calls that are in no total, or on another thread. */

/* One of the four calls of leaf is in a call that has ended. */
TEST(report_cost, what_ended_in_an_open_call_is_in_no_total) {
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("around");
        fake_advance(1000);
        leaf(100);
        if (!i) {
            continue;
        }
        leaf(100);
        leaf(100);
        tree();
        const struct stint_row *r = row_of("around");
        CHECK_EQ_U64(row_of("leaf")->total_ns, 400 - 4 * INNER);
        CHECK_EQ_U64(r->self_ns, 1000 - INNER - OUTER);
        CHECK_EQ_U64(r->total_ns, 1100 - 2 * INNER - OUTER);
        interval_close(&s);
    }
}

TEST(report_cost, a_call_that_is_open_has_no_times) {
    REGISTER_TIMER("around");
    leaf(100);
    tree();
    CHECK_EQ_U64(row_of("around")->total_ns, 0);
    CHECK_EQ_U64(row_of("around")->self_ns, 0);
    CHECK_EQ_U64(row_of("leaf")->total_ns, 100 - INNER);
    interval_close(&s);
}

static void *other_thread(void *unused) {
    around(1000, 3, 100);
    return unused;
}

static void run_other(void *(*work)(void *), void *argument) {
    thread_run(work, argument);
}

TEST(report_cost, of_two_threads) {
    around(1000, 3, 100);
    run_other(other_thread, NULL);
    flat();
    CHECK_EQ_U64(row_of("around")->total_ns, 2 * (1300 - INNER - 3 * (INNER + OUTER)));
    CHECK_EQ_U64(row_of("around")->self_ns, 2 * (1000 - INNER - 3 * OUTER));
    CHECK_EQ_U64(row_of("leaf")->total_ns, 2 * (300 - 3 * INNER));
    interval_close(&s);
}

static void *do_job(void *sender) {
    REGISTER_TIMER_UNDER("job", *(stint_sender *)sender);
    fake_advance(400);
    leaf(100);
    return NULL;
}

static void send_job(void) {
    REGISTER_TIMER("send");
    stint_sender sender = stint_sender_here();
    run_other(do_job, &sender);
}

/* It is below its sender in the tree, and its cost is not in the sender's time. */
TEST(report_cost, of_work_that_was_sent) {
    send_job();
    tree();
    const struct stint_row *send = row_of("send"), *job = row_of("job");
    CHECK_EQ_U64(job->parent, (uint32_t)(send - rows.row));
    CHECK_EQ_U64(send->total_ns, 500 - INNER);
    CHECK_EQ_U64(send->self_ns, 500 - INNER);
    CHECK_EQ_U64(job->self_ns, 400 - INNER - OUTER);
    CHECK_EQ_U64(job->total_ns, 500 - INNER - INNER - OUTER);
    interval_close(&s);
}

static void same(int depth) {
    REGISTER_TIMER("same");
    fake_advance(100);
    if (depth) {
        REGISTER_TIMER("same");
        fake_advance(10);
    }
}

/* The total is that of the outer call, and self times are of both. */
TEST(report_cost, of_a_name_inside_itself) {
    same(1);
    flat();
    const struct stint_row *r = row_of("same");
    CHECK_EQ_U64(r->calls, 2);
    CHECK_EQ_U64(r->total_ns, 110 - INNER - INNER - OUTER);
    CHECK_EQ_U64(r->self_ns, r->total_ns);
    interval_close(&s);
}

TEST(report_cost, intervals_are_as_measured) {
    static stint_timer handle;
    TIMER_BEGIN(handle, "interval");
    leaf(100);
    TIMER_END(handle);
    stint_sample_add("added", 77);
    flat();
    CHECK_EQ_U64(row_of("interval")->total_ns, 100);
    CHECK_EQ_U64(row_of("added")->total_ns, 77);
    CHECK(!((row_of("interval")->has | row_of("added")->has) & ROW_CORRECTED));
    CHECK_EQ_U64(row_of("leaf")->total_ns, 100 - INNER);
    interval_close(&s);
}

TEST(report_cost, since_a_reset) {
    around(1000, 3, 100);
    stint_reset();
    around(1000, 1, 100);
    flat();
    CHECK_EQ_U64(row_of("around")->self_ns, 1000 - INNER - OUTER);
    CHECK_EQ_U64(row_of("around")->total_ns, 1100 - 2 * INNER - OUTER);
    interval_close(&s);
}

/* ---- On the screen. */

static char *render(const char *view, const struct report_cost *each) {
    struct report_options o;
    struct text out;
    CHECK(!report_options_parse(view, &o));
    CHECK(!interval_open(&s, 0));
    s.ns_per_tick = ns_per_tick;
    struct report r = {&s, &o, &out, each, &nowhere};
    text_start(&out);
    CHECK(!report_render(&r));
    text_put(&out, "", 1);
    char *text = harness_keep(strdup(out.data));
    text_free(&out);
    CHECK(!s.corrected);
    CHECK(!rows_flat(&rows, &s, 0)); /* the next reader of this snapshot has what was measured */
    CHECK_EQ_U64(row_of("leaf")->total_ns, 300);
    CHECK(!(row_of("leaf")->has & ROW_CORRECTED));
    interval_close(&s);
    return text;
}

static void check_says(const char *view, const struct report_cost *each, const char *what) {
    set_plain(0);
    CHECK_CONTAINS(render(view, each), what);
}

TEST(report_cost, marks) {
    around(1000, 3, 100);
    stint_sample_add("added", 77);
    check_says("table,corrected", &cost, ", by total, corrected\n");
    check_says("table,corrected", &cost,
               "\naround      1  ~1.259 us  ~974 ns   ~96.8  ~1.259 us  1.300 us");
    check_says("table,corrected", &cost,
               "\nleaf        3    ~285 ns  ~285 ns   ~21.9     ~95 ns  ");
    check_says("table,corrected", &cost,
               "\nadded       1      77 ns    77 ns     5.9      77 ns  ");
    check_says("tree,corrected", &cost, "\n  leaf      3    ~285 ns  ~285 ns   ~21.9     ~95 ns  ");
    check_says("table,corrected", &cost,
               "\ncorrected: ~ is without stint's own cost, at least 41 ns of all self times; "
               "percentiles, "
               "min, max and other times are as measured\n");
}

TEST(report_cost, no_mark_without_the_option) {
    around(1000, 3, 100);
    char *text = render("table", &cost);
    CHECK(!strchr(text, '~'));
    CHECK(!strstr(text, "corrected"));
}

static void check_is_not(const char *view, const struct report_cost *each, const char *why) {
    char *text = render(view, each);
    CHECK_CONTAINS(text, why);
    CHECK(!strchr(text, '~'));
    CHECK(!strstr(text, "by total, corrected"));
    CHECK_EQ_U64(times_in(text, "corrected"), 1);
}

TEST(report_cost, an_unknown_cost) {
    static const struct report_cost none;
    static const char why[] = "\nnot corrected: what a call cost in this run is not known\n";
    around(1000, 3, 100);
    check_is_not("table,corrected", NULL, why);
    check_is_not("tree,corrected", NULL, why);
    check_is_not("table,corrected", &none, why);
}

TEST(report_cost, other_views) {
    around(1000, 3, 100);
    check_is_not("gpu,corrected", &cost, "\nnot corrected: only the views table and tree can be\n");
    check_is_not("fluid,corrected", &cost,
                 "\nnot corrected: only the views table and tree can be\n");
    check_is_not("legacy,corrected", &cost,
                 "\nstint: not corrected: only the views table and tree can be\n");
}

/* ---- The footer: of which calls the cost is that of closely packed ones. */

#define FEW 9
#define DENSE 13
#define GAP 10

static const struct report_cost two = {
    .timed = FEW * 1000, .recursive = 20000, .dense = DENSE * 1000, .gap = GAP * 1000};

static int footer_has(const struct report_cost *each, const char *what) {
    struct report_options o = {.set = REPORT_ALL_SETS};
    struct text out;
    CHECK(!interval_open(&s, 0));
    s.ns_per_tick = ns_per_tick;
    struct report r = {&s, &o, &out, each, &nowhere};
    text_start(&out);
    CHECK(!report_footer(&r));
    text_put(&out, "", 1);
    int has = strstr(out.data, what) != NULL;
    if (!has) {
        printf("%s\n", out.data);
    }
    text_free(&out);
    interval_close(&s);
    return has;
}

static void check_footer(const struct report_cost *each, const char *what) {
    set_plain(0);
    CHECK(footer_has(each, what));
}

#define DENSE_TEST(name, ns, what)                                                                 \
    TEST(report_cost, name) {                                                                      \
        for (int i = 0; i < 4; ++i) {                                                              \
            leaf(ns);                                                                              \
        }                                                                                          \
        check_footer(&two, what);                                                                  \
    }
DENSE_TEST(dense_calls, 0, ": 4 calls at about 13 ns, 52 ns in all")
DENSE_TEST(dense_calls_up_to_half_a_gap_more, 15, ": 4 calls at about 13 ns, 52 ns in all")
DENSE_TEST(calls_in_between, 18, ": 4 calls at about 11 ns, 42 ns in all") /* 9 + 4 * 2 / 5 */
DENSE_TEST(calls_with_work_in_them, 20, ": 4 calls at about 9 ns, 36 ns in all")
DENSE_TEST(longer_calls, 1000, ": 4 calls at about 9 ns, 36 ns in all")

/* There is one cost if the distance between readings is not known. */
TEST(report_cost, without_a_gap) {
    leaf(0);
    check_footer(&cost, ": 1 call at about 3.001 us, ");
}

TEST(report_cost, longer_calls_of_few_ticks) {
    ns_per_tick = 2;
    leaf(10);
    check_footer(&two, ": 1 call at about 9 ns, ");
}

/* 40 ns of its own, around three calls: four gaps. */
TEST(report_cost, dense_calls_nested) {
    around(40, 3, 10);
    check_footer(&two, ": 4 calls at about 13 ns, 52 ns in all");
}

TEST(report_cost, longer_calls_around_dense_ones) {
    around(80, 3, 10);
    check_footer(&two, ": 4 calls at about 12 ns, 48 ns in all");
}

/* The time of all of them is in 2 * depth + 1 gaps. */
static void recurse_for(int depth, uint64_t ns) {
    REGISTER_TIMER("recurse");
    fake_advance(ns);
    if (depth) {
        recurse_for(depth - 1, ns);
    }
}

TEST(report_cost, dense_calls_that_are_recursive) {
    recurse_for(4, 18);
    fake_advance(1000);
    check_footer(&two, ": 5 calls at about 19 ns, 93 ns in all"); /* 13 + 4 * 20 */
}

TEST(report_cost, longer_calls_that_are_recursive) {
    recurse_for(4, 100);
    check_footer(&two, ": 5 calls at about 18 ns, 89 ns in all"); /* 9 + 4 * 20 */
}

/* ---- The range: a call of a scope in the nearest cache, and one of many scopes. */

#define COLD 40

static const struct report_cost with_cold = {.timed = FEW * 1000,
                                             .recursive = 20000,
                                             .dense = DENSE * 1000,
                                             .gap = GAP * 1000,
                                             .cold = COLD * 1000};

/* 4 * 9 and 4 * 40 ns, of 4 us. */
TEST(report_cost, a_range_of_calls) {
    for (int i = 0; i < 4; ++i) {
        leaf(1000);
    }
    check_footer(&with_cold, "stint cost 0.9 to 4.0 % of this run: 4 calls at about 9 ns to 40 ns, "
                             "36 ns to 160 ns in all");
}

/* 13 + 4 * 20, and 5 * 40. */
TEST(report_cost, a_range_of_recursive_calls) {
    recurse_for(4, 18);
    fake_advance(1000);
    check_footer(&with_cold, ": 5 calls at about 19 ns to 40 ns, 93 ns to 200 ns in all");
}

/* A call that is not cheaper where there is one scope is what it is. */
TEST(report_cost, no_range_where_both_are_equal) {
    struct report_cost each = with_cold;
    each.cold = FEW * 1000;
    for (int i = 0; i < 4; ++i) {
        leaf(1000);
    }
    check_footer(&each, "stint cost about 0.9 % of this run: 4 calls at about 9 ns, 36 ns in all");
}

/* 40 + 3.3 * 20 ns at most. */
TEST(report_cost, code_built_without_optimisation) {
    for (int i = 0; i < 4; ++i) {
        leaf(1000);
    }
    set_plain(1);
    CHECK(footer_has(&with_cold,
                     "stint cost 0.9 to 10.6 % of this run: 4 calls at about 9 ns to "
                     "106 ns, 36 ns to 424 ns in all, 4 calls of code built without -O; "));
    CHECK(footer_has(&two, "stint cost at least 0.9 % of this run: 4 calls at about 9 ns, 36 ns in "
                           "all, 4 calls of code built without -O; "));
}

/* 4 * 40 ns would be more than 100 ns, and 4 * 9 + 4 * 50 ns as well. */
TEST(report_cost, not_more_than_the_run) {
    for (int i = 0; i < 4; ++i) {
        leaf(25);
    }
    check_footer(&with_cold, "stint cost 36.0 to 100.0 % of this run: 4 calls at about 9 ns to "
                             "25 ns, 36 ns to 100 ns in all;");
    check_footer(&cost, "stint cost at least 100.0 % of this run: 4 calls at about 25 ns, 100 ns "
                        "in all;");
}

/* Its inner part of 5 ns, and 7 ns of each of three calls in it, or 35. */
TEST(report_cost, corrected_times_have_the_range) {
    struct report_cost each = cost;
    each.cold = COLD * 1000;
    around(1000, 3, 100);
    check_says(
        "table,corrected", &each,
        "\ncorrected: ~ is without stint's own cost, at least 41 ns of all self times, maybe "
        "up to 125 ns; percentiles, ");
}

static jmp_buf back;

__attribute__((noinline)) static void leaf_left(void) {
    REGISTER_TIMER("leaf left");
    longjmp(back, 1);
}

static void around_left(void) {
    REGISTER_TIMER("around left");
    if (setjmp(back) == 0) {
        leaf_left();
    }
    fake_advance(1000);
}

/* A call that a jump left has read the clock once: 3001 + 3001 / 2 ns. */
TEST(report_cost, a_left_call_costs_half_a_call) {
    around_left();
    fake_advance(10000);
    check_footer(&cost, ": 2 calls at about 2.251 us, 4.501 us in all");
}

/* A clock that counts in steps of 2.5 ns: from thousandths of a tick to picoseconds. */
TEST(report_cost, from_ticks) {
    static const struct arena_cost ticks = {.timed = 2,
                                            .recursive = 4,
                                            .dynamic = 6,
                                            .reading = 12,
                                            .inner = 14,
                                            .outer = 16,
                                            .dense = 22,
                                            .gap = 24,
                                            .cold = 26,
                                            .ranges = 1};
    struct report_cost ps;
    report_cost_read(&ps, &ticks, 2.5);
    CHECK_EQ_U64(ps.timed, 5);
    CHECK_EQ_U64(ps.recursive, 10);
    CHECK_EQ_U64(ps.dynamic, 15);
    CHECK_EQ_U64(ps.reading, 30);
    CHECK_EQ_U64(ps.inner, 35);
    CHECK_EQ_U64(ps.outer, 40);
    CHECK_EQ_U64(ps.dense, 55);
    CHECK_EQ_U64(ps.gap, 60);
    CHECK_EQ_U64(ps.cold, 65);
    CHECK(ps.ranges);
}

/* The cost is measured in this process: a reading of the clock takes 10 ns. */
TEST(report_cost, of_this_process) {
    fake_step = 10;
    for (int i = 0; i < 3; ++i) {
        leaf(20);
    }
    char *text = report_of("table,corrected");
    CHECK_CONTAINS(text, "\nleaf      3  ~60 ns  ~60 ns ");
    CHECK_CONTAINS(text, ", at least 30 ns of all self times; ");
}
