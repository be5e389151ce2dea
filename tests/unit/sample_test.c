/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_SAMPLE: which calls are timed, what their totals are scaled to, and how far those are off.
 * The generators have the same numbers in every run, so the errors are the same, too.
 */
#include <pthread.h>
#include <setjmp.h>

#include "read/rows.h"
#include "record/sample.h"
#include "recorded.h"
#include "session/interval.h"
#include "stepping.h"
#include "support.h"

static void sample(const char *how) {
    CHECK(!setenv("STINT_SAMPLE", how, 1));
}

static void work(uint64_t ns) {
    REGISTER_TIMER("work");
    fake_advance(ns);
}

static const struct stint_impl_sampled *sums_of(const char *name) {
    const struct stint_impl_sampled *found = NULL;
    struct snapshot s;
    CHECK(!interval_open(&s, 0));
    for (uint32_t i = 0; i < s.node_count; ++i) {
        const struct stint_impl_node *n = arena_at(s.nodes[i].unit);
        if (!strcmp(s.sites[s.nodes[i].site].name ? s.sites[s.nodes[i].site].name : "", name) &&
            n->kind & STINT_IMPL_SAMPLED) {
            found = arena_at(n->gpu);
        }
    }
    interval_close(&s);
    return found;
}

/* ---- Which calls are timed. */

TEST(sample, every_call_is_counted_and_one_in_n_is_timed) {
    sample("10");
    for (int i = 0; i < 10033; ++i) {
        work(5);
    }
    stint_stat s = stat_of("work");
    CHECK_EQ_U64(s.calls, 10033);
    CHECK(s.samples >= 33 + 999 && s.samples <= 33 + 1000);
    CHECK_EQ_U64(s.total_ns, 10033 * 5);
    CHECK_EQ_U64(s.self_ns, 10033 * 5);
    CHECK(s.total_error_ns > 0); /* all that were timed took the same */
    CHECK(s.total_error_ns < s.total_ns / 100);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(open_scopes(), 0);
}

TEST(sample, the_first_calls_are_timed) {
    sample("1000");
    for (int i = 0; i < 33; ++i) {
        work(i ? 1 : 5000);
    }
    CHECK_EQ_U64(stat_of("work").samples, 33);
    CHECK_EQ_U64(stat_of("work").total_ns, 5032);
    for (int i = 0; i < 100000; ++i) {
        work(1);
    }
    CHECK_EQ_U64(stat_of("work").first_ns, 5000);
    CHECK_EQ_U64(stat_of("work").total_ns, 105032); /* the slow first call is not scaled */
}

TEST(sample, the_cost_says_what_untimed_calls_cost) {
    sample("100");
    for (int i = 0; i < 1033; ++i) {
        work(5);
    }
    char *text = report_of("table");
    CHECK(strstr(text, "this run: 43 calls at about ") != NULL);
    CHECK(strstr(text, ", 990 untimed calls at about 0 ns, ") != NULL);
    CHECK(strstr(text, " in all; most of them work 100 %") != NULL);
    free(text);
}

TEST(sample, of_one_call_is_none) {
    sample("1");
    for (int i = 0; i < 1000; ++i) {
        work(5);
    }
    CHECK_EQ_U64(stat_of("work").samples, 1000);
}

/* One call of each block of N is timed: between two timed calls there are at most 2 N - 2
 * others. */
TEST(sample, calls_between_two_timed_ones_vary) {
    sample("8");
    uint64_t timed = 0, since = 0, least = UINT64_MAX, most = 0, gaps = 0;
    for (int i = 0; i < 8032; ++i) {
        work(1);
        uint64_t now = stat_of("work").samples;
        if (now == timed) {
            ++since;
            continue;
        }
        if (i > 40) {
            least = since < least ? since : least;
            most = since > most ? since : most;
            ++gaps;
        }
        timed = now;
        since = 0;
    }
    CHECK(gaps > 900);
    CHECK_EQ_U64(least, 0);
    CHECK_EQ_U64(most, 14);
}

static void around(int timed_children) {
    REGISTER_TIMER("around");
    fake_advance(3);
    for (int i = 0; i < timed_children; ++i) {
        work(7);
    }
}

TEST(sample, children_keep_their_parent) {
    sample("10");
    for (int i = 0; i < 2000; ++i) {
        around(2);
    }
    work(7);
    struct snapshot s;
    struct rows rows;
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_tree(&rows, &s));
    const struct stint_row *outer = row_in(&rows, 0, "around");
    CHECK(outer != NULL);
    for (uint32_t i = 0; outer && i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        if (!strcmp(r->name, "work")) {
            int inner = r->parent == (uint32_t)(outer - rows.row);
            CHECK_EQ_U64(r->calls, inner ? 4000 : 1);
            CHECK_EQ_U64(r->total_ns, inner ? 28000 : 7);
        }
    }
    CHECK_EQ_U64(outer->calls, 2000);
    CHECK_EQ_U64(outer->total_ns, 34000);
    CHECK_EQ_U64(outer->self_ns, 6000);
    interval_close(&s);
}

static void by_name(void) {
    CHECK(!stint_scope_begin("by name"));
    fake_advance(4);
    CHECK(!stint_scope_end("by name"));
}

static void dynamic(void) {
    REGISTER_TIMER_DYNAMIC("dynamic");
    fake_advance(6);
}

TEST(sample, names_made_at_run_time) {
    sample("4");
    for (int i = 0; i < 1032; ++i) {
        by_name();
        dynamic();
    }
    CHECK_EQ_U64(calls_of("by name"), 1032);
    CHECK_EQ_U64(calls_of("dynamic"), 1032);
    CHECK_EQ_U64(stat_of("by name").total_ns, 4128);
    CHECK_EQ_U64(stat_of("dynamic").total_ns, 6192);
    CHECK(stat_of("by name").samples < 300);
    CHECK(stat_of("dynamic").samples < 300);
}

static void recurse(int depth) {
    REGISTER_TIMER("recurse");
    fake_advance(1);
    if (depth) {
        recurse(depth - 1);
    }
}

TEST(sample, recursive_calls) {
    sample("8");
    for (int i = 0; i < 832; ++i) {
        recurse(4);
    }
    CHECK_EQ_U64(calls_of("recurse"), 832 * 5);
    CHECK_EQ_U64(stat_of("recurse").total_ns, 832 * 5);
    CHECK_EQ_U64(stat_of("recurse").self_ns, 832 * 5);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* The innermost call opens "work", which lies below the outermost one: one node at several
 * depths. */
static void work_below(int depth) {
    REGISTER_TIMER("above");
    if (depth) {
        work_below(depth - 1);
    } else {
        work(1);
    }
}

TEST(sample, at_several_depths) {
    sample("10");
    uint64_t above = 0;
    for (int i = 0; i < 10033; ++i) {
        int depth = i % 7 * (i % 3 == 0);
        work_below(depth);
        above += (uint64_t)depth + 1;
        CHECK_EQ_U64(open_scopes(), 0);
    }
    CHECK_EQ_U64(calls_of("above"), above);
    CHECK_EQ_U64(calls_of("work"), 10033);
    CHECK_EQ_U64(stat_of("work").total_ns, 10033);
    CHECK(stat_of("work").samples <= 33 + 1000);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* A site below two parents and in two sets, and one 256 numbers later, are tried at one place. */
TEST(sample, places_that_are_tried_at_one_place) {
    static struct stint_impl_site sites[STINT_IMPL_NEAR + 1];
    static char names[STINT_IMPL_NEAR + 1][24];
    sample("10");
    for (int i = 0; i <= STINT_IMPL_NEAR; ++i) {
        snprintf(names[i], sizeof names[i], "site %d", i);
        sites[i].name = names[i];
        stint_impl_opened guard;
        guard = stint_impl_begin(&guard, &sites[i], 0);
        stint_impl_end(&guard);
    }
    uint32_t other = stint_set_get("other set")->id;
    uint64_t state = 5, calls[8] = {0}; /* by bits: the parent, the site, the set */
    for (int i = 0; i < 8000; ++i) {
        stint_impl_opened guard[2];
        uint64_t which = random_next(&state) % 8;
        guard[1] = stint_impl_begin(&guard[1], &sites[which & 1 ? 2 : 1], 0);
        struct stint_impl_site *site = &sites[which & 2 ? STINT_IMPL_NEAR : 0];
        guard[0] = stint_impl_begin(&guard[0], site, which & 4 ? other : 0);
        fake_advance(1 + which);
        stint_impl_end(&guard[0]);
        stint_impl_end(&guard[1]);
        ++calls[which];
    }
    struct snapshot s;
    struct rows rows;
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_tree(&rows, &s));
    for (uint64_t which = 0; which < 8; ++which) {
        const struct stint_row *r = NULL;
        for (uint32_t i = 0; i < rows.count; ++i) {
            const char *parent = "";
            if (rows.row[i].parent != SNAPSHOT_NONE) {
                parent = rows.row[rows.row[i].parent].name;
            }
            if (!strcmp(rows.row[i].name, names[which & 2 ? STINT_IMPL_NEAR : 0]) &&
                !strcmp(parent, names[which & 1 ? 2 : 1]) &&
                rows.row[i].set == (which & 4 ? other : 0)) {
                r = &rows.row[i];
            }
        }
        CHECK(r != NULL);
        if (r) {
            CHECK_EQ_U64(r->calls, calls[which]);
            CHECK_EQ_U64(r->total_ns, calls[which] * (1 + which));
            CHECK(r->samples < calls[which] / 4);
        }
    }
    interval_close(&s);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void work_below_after(int depth) {
    REGISTER_TIMER("above");
    if (depth) {
        work_below_after(depth - 1);
        return;
    }
    stint_timers_enable(0);
    stint_timers_enable(1);
    work(1);
}

/* A changed setting sends the next begin to the slow path, but not its end. */
TEST(sample, opened_on_the_slow_path) {
    sample("10");
    for (int i = 0; i < 1033; ++i) {
        work_below_after(i % 4);
        CHECK_EQ_U64(open_scopes(), 0);
    }
    CHECK_EQ_U64(calls_of("work"), 1033);
    CHECK_EQ_U64(stat_of("work").total_ns, 1033);
    CHECK(stat_of("work").samples <= 33 + 100);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* Every path of begin: the clock that is not the inline one shuts the fast one. */
TEST(sample, on_the_slow_path) {
    sample("10");
    CHECK(!setenv("STINT_CLOCK", "monotonic", 1));
    for (int i = 0; i < 10033; ++i) {
        work(1);
    }
    CHECK_EQ_U64(calls_of("work"), 10033);
    CHECK(stat_of("work").samples <= 33 + 1000);
    CHECK(stat_of("work").samples >= 33 + 999);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* ---- Never sampled. */

static void informed(void) {
    REGISTER_TIMER_INFO("informed", "an info");
    fake_advance(1);
}

static void limited(void) {
    REGISTER_TIMER("limited", 1000000);
    fake_advance(1);
}

static void declares(void) {
    REGISTER_TIMER("declares");
    fake_advance(1);
    TIMER_BYTES(64);
}

static void computes(void) {
    REGISTER_TIMER("computes");
    fake_advance(1);
    TIMER_FLOPS(2);
}

static void on_gpu(void) {
    REGISTER_GPU_TIMER("on gpu", NULL);
    fake_advance(1);
}

static void handled(void) {
    static stint_timer handle;
    TIMER_BEGIN(handle, "handled");
    fake_advance(1);
    TIMER_END(handle);
}

static void waited_for(void) {
    REGISTER_TIMER("waited for");
    fake_advance(1);
}

TEST(sample, never_of_what_each_call_matters) {
    static const char *const names[] = {"informed", "limited", "declares",  "computes",
                                        "on gpu",   "handled", "waited for"};
    sample("10");
    CHECK(!setenv("STINT_CAPTURE", "steps 5,when=waited for>1s", 1));
    for (int i = 0; i < 1000; ++i) {
        informed();
        limited();
        declares();
        computes();
        on_gpu();
        handled();
        waited_for();
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        CHECK_EQ_U64(stat_of(names[i]).calls, 1000);
        CHECK_EQ_U64(stat_of(names[i]).samples, 1000);
        CHECK_EQ_U64(stat_of(names[i]).total_ns, 1000);
    }
}

static void declares_at_last(int now) {
    REGISTER_TIMER("late");
    fake_advance(1);
    if (now) {
        TIMER_BYTES(64);
    }
}

/* Calls that were not timed until then stay in the sums. */
TEST(sample, a_node_leaves) {
    sample("10");
    for (int i = 0; i < 1032; ++i) {
        declares_at_last(0);
    }
    uint64_t timed = stat_of("late").samples;
    CHECK(timed < 140);
    for (int i = 0; i < 500; ++i) {
        declares_at_last(1);
    }
    CHECK_EQ_U64(stat_of("late").calls, 1532);
    CHECK_EQ_U64(stat_of("late").total_ns, 1532);
    CHECK(stat_of("late").samples >= timed + 499); /* the first of them may have been untimed */
}

static void over_limit(uint64_t ns, int64_t limit_us) {
    REGISTER_TIMER_DYNAMIC("either", limit_us);
    fake_advance(ns);
}

TEST(sample, a_threshold_that_comes_later) {
    sample("10");
    for (int i = 0; i < 1032; ++i) {
        over_limit(1, -1);
    }
    CHECK(stat_of("either").samples < 140);
    uint64_t timed = stat_of("either").samples;
    for (int i = 0; i < 100; ++i) {
        over_limit(1, 1000000);
    }
    CHECK(stat_of("either").samples >= timed + 99);
    CHECK_EQ_U64(stat_of("either").calls, 1132);
}

/* ---- Estimates: within three standard errors of what it really was. */

static uint64_t really, really_self;

static double off_by(uint64_t is, uint64_t should) {
    return is > should ? (double)(is - should) : (double)(should - is);
}

static void check_within(const char *name, uint64_t total, uint64_t self) {
    stint_stat s = stat_of(name);
    CHECK(off_by(s.total_ns, total) <= 3 * (double)s.total_error_ns + 1);
    CHECK(off_by(s.self_ns, self) <= 3 * (double)s.self_error_ns + 1);
    if (s.total_error_ns != UINT64_MAX) { /* there is an error, and it says something */
        CHECK((double)s.total_error_ns < (double)total * 0.15);
    }
    CHECK(s.self_ns <= s.total_ns);
}

static void inner(uint64_t ns) {
    REGISTER_TIMER("inner");
    fake_advance(ns);
    really_self += ns;
    really += ns;
}

static void outer(uint64_t own, uint64_t ns) {
    REGISTER_TIMER("outer");
    fake_advance(own);
    really += own;
    inner(ns);
}

static void check_outer_and_inner(void) {
    check_within("outer", really, really - really_self);
    check_within("inner", really_self, really_self);
}

/* Periods that divide the block, are the block, or have nothing to do with it. */
static void run_periodic(int period) {
    for (int i = 0; i < 60000; ++i) {
        uint64_t own = i % period ? 10 : 1000;
        outer(own, i % period == 1 ? 500 : 20);
    }
    check_outer_and_inner();
}

#define PERIODIC(period)                                                                           \
    TEST(sample, periodic_##period) {                                                              \
        sample("16");                                                                              \
        run_periodic(period);                                                                      \
    }
PERIODIC(2)
PERIODIC(3)
PERIODIC(16)
PERIODIC(17)
PERIODIC(32)
PERIODIC(100)

static void run_bimodal(void) {
    uint64_t state = 1;
    for (int i = 0; i < 40000; ++i) {
        uint64_t slow = random_next(&state) % 20 == 0;
        uint64_t own = slow ? 2000 : 30;
        outer(own, random_next(&state) % 10 == 0 ? 900 : 10);
    }
}

TEST(sample, bimodal) {
    sample("16");
    run_bimodal();
    check_outer_and_inner();
}

static void run_bursts(void) {
    uint64_t state = 7;
    int slow = 0;
    for (int i = 0; i < 40000; ++i) {
        if (random_next(&state) % 200 == 0) {
            slow = !slow;
        }
        uint64_t own = slow ? 700 : 10;
        outer(own, slow ? 5 : 80);
    }
}

TEST(sample, bursts) {
    sample("16");
    run_bursts();
    check_outer_and_inner();
}

/* The error is neither far too small nor far too large; uncertainty_test.c has skewed durations. */
struct tally {
    unsigned within_one;
    unsigned within_two;
    unsigned all;
};

static void named(const char *name, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(ns);
}

/* Checks the errors of 300 programs, each with `calls` calls of `least` ns and up to `range`
 * more. */
static void check_honest_errors(int calls, uint64_t least, uint64_t range) {
    struct tally t = {0, 0, 0};
    uint64_t state = 3;
    for (int program = 0; program < 300; ++program) {
        char name[24];
        uint64_t total = 0;
        snprintf(name, sizeof name, "program %d", program);
        for (int i = 0; i < calls; ++i) {
            uint64_t ns = least + random_next(&state) % range;
            total += ns;
            named(name, ns);
        }
        stint_stat s = stat_of(name);
        double off = off_by(s.total_ns, total), error = (double)s.total_error_ns;
        t.within_one += off <= error;
        t.within_two += off <= 2 * error;
        ++t.all;
    }
    CHECK(t.within_one > t.all * 60 / 100 && t.within_one <= t.all * 99 / 100);
    CHECK(t.within_two > t.all * 95 / 100);
}

TEST(sample, errors_are_honest) {
    sample("10");
    check_honest_errors(1000, 100, 1000);
}

/* A parent all of whose time is its child's: what is left to it may not be below 0. */
TEST(sample, self_is_not_negative) {
    uint64_t state = 5;
    sample("50");
    for (int i = 0; i < 5000; ++i) {
        outer(0, random_next(&state) % 3000);
    }
    stint_stat s = stat_of("outer");
    CHECK(s.self_ns <= s.total_ns);
    CHECK((double)s.self_ns <= 3 * (double)s.self_error_ns);
    struct snapshot snap;
    CHECK(!interval_open(&snap, 0));
    for (uint32_t i = 0; i < snap.node_count; ++i) {
        CHECK(snap.nodes[i].own <= snap.nodes[i].scaled);
    }
    interval_close(&snap);
}

/* A parent that is timed each time has an estimated self time, too. */
static void exact_parent(uint64_t ns) {
    REGISTER_TIMER_INFO("exact", "an info");
    fake_advance(10);
    inner(ns);
}

TEST(sample, self_of_an_exact_parent) {
    uint64_t state = 5;
    sample("16");
    for (int i = 0; i < 20000; ++i) {
        exact_parent(random_next(&state) % 100);
    }
    CHECK_EQ_U64(stat_of("exact").total_ns, 200000 + really);
    CHECK_EQ_U64(stat_of("exact").total_error_ns, 0);
    CHECK(stat_of("exact").self_error_ns > 0);
    check_within("exact", 200000 + really, 200000);
}

/* A cycle with a sampled scope in each of its calls: the estimates of its self times add up. */
static void cycle_a(int depth, uint64_t *state);

static void cycle_b(int depth, uint64_t *state) {
    REGISTER_TIMER("cycle.b");
    fake_advance(10);
    work(random_next(state) % 100);
    if (depth) {
        cycle_a(depth - 1, state);
    }
}

static void cycle_a(int depth, uint64_t *state) {
    REGISTER_TIMER("cycle.a");
    fake_advance(30);
    work(random_next(state) % 100);
    cycle_b(depth, state);
}

static void check_near(const char *name, uint64_t self, double part) {
    double is = (double)stat_of(name).self_ns;
    CHECK(is > (double)self * (1 - part) && is < (double)self * (1 + part));
}

static void check_cycle(const char *how) {
    uint64_t state = 3, begun = fake_now;
    sample(how);
    for (int i = 0; i < 20000; ++i) {
        cycle_a(3, &state);
    }
    check_near("cycle.a", 20000 * 4 * 30, 0.1);
    check_near("cycle.b", 20000 * 4 * 10, 0.3);
    uint64_t sum =
        stat_of("cycle.a").self_ns + stat_of("cycle.b").self_ns + stat_of("work").self_ns;
    CHECK(off_by(sum, fake_now - begun) < (double)(fake_now - begun) * 0.02);
}

TEST(sample, self_of_a_cycle) {
    check_cycle("20");
}

TEST(sample, auto_self_of_a_cycle) {
    check_cycle("auto:2%");
}

TEST(sample, since_a_reset) {
    uint64_t state = 11, before = 0;
    sample("16");
    for (int i = 0; i < 10000; ++i) {
        outer(900, 20);
    }
    before = really;
    uint64_t before_self = really_self;
    stint_reset();
    CHECK_EQ_U64(calls_of("outer"), 0);
    for (int i = 0; i < 10000; ++i) {
        outer(random_next(&state) % 100, random_next(&state) % 50);
    }
    CHECK_EQ_U64(calls_of("outer"), 10000);
    really -= before;
    really_self -= before_self;
    check_outer_and_inner();
}

/* Fewer calls than a block after the first ones. */
TEST(sample, before_the_first_drawn_call) {
    sample("1048576");
    for (int i = 0; i < 132; ++i) {
        work(10);
    }
    CHECK_EQ_U64(calls_of("work"), 132);
    CHECK_EQ_U64(stat_of("work").total_ns, 1320);
    for (int i = 0; i < 33; ++i) {
        inner((uint64_t)i % 3 * 10);
    }
    for (int i = 0; i < 100; ++i) {
        inner(30);
    }
    CHECK_EQ_U64(stat_of("inner").total_ns, 133 * 10);
    CHECK(stat_of("inner").total_error_ns >= 1000);
}

/* ---- STINT_SAMPLE=auto: a timed call costs 20 ns, and the fake clock does not count them. */

static unsigned cost_readings;

static uint64_t cost_of_20_ns(void) {
    ++cost_readings;
    return 20000;
}

static void sample_auto(const char *how) {
    sample(how);
    sample_set_cost(cost_of_20_ns);
}

/* The cost of the timed calls of all nodes, as a share of the time. */
static double share_of(uint64_t ns) {
    struct snapshot s;
    uint64_t timed = 0;
    CHECK(!interval_open(&s, 0));
    for (uint32_t i = 0; i < s.node_count; ++i) {
        timed += s.nodes[i].count;
    }
    interval_close(&s);
    return (double)timed * 20 / (double)ns;
}

/* 20 ns of 50: one call in eight is timed for 5 %. */
TEST(sample, auto_a_short_scope) {
    sample_auto("auto:5%");
    for (int i = 0; i < 200000; ++i) {
        work(50);
    }
    stint_stat s = stat_of("work");
    CHECK_EQ_U64(s.calls, 200000);
    CHECK_EQ_U64(s.total_ns, 200000 * 50);
    CHECK(s.total_error_ns < s.total_ns / 100);
    CHECK(share_of(200000 * 50) < 0.055 && share_of(200000 * 50) > 0.04);
    CHECK_EQ_U64(cost_readings, 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(sample, auto_without_a_share_is_one_percent) {
    sample_auto("auto");
    for (int i = 0; i < 200000; ++i) {
        work(50);
    }
    CHECK_EQ_U64(stat_of("work").calls, 200000);
    CHECK(share_of(200000 * 50) < 0.011 && share_of(200000 * 50) > 0.008);
}

TEST(sample, auto_a_long_scope_is_timed_each_time) {
    sample_auto("auto:1%");
    for (int i = 0; i < 10000; ++i) {
        work(2100);
    }
    CHECK_EQ_U64(stat_of("work").samples, 10000);
}

TEST(sample, auto_all_is_every_call) {
    sample_auto("auto:100%");
    for (int i = 0; i < 10000; ++i) {
        work(50);
    }
    CHECK_EQ_U64(stat_of("work").samples, 10000);
}

static void rare(uint64_t ns) {
    REGISTER_TIMER("rare");
    fake_advance(ns);
}

/* The rare scope is as short as the other, but takes next to nothing of the run. */
TEST(sample, auto_a_rare_scope_is_timed_each_time) {
    sample_auto("auto:2%");
    for (int i = 0; i < 400000; ++i) {
        work(50);
        if (i % 1000 == 0) {
            rare(50);
        }
    }
    CHECK_EQ_U64(stat_of("rare").samples, 400);
    CHECK(stat_of("work").samples < 400000 / 20);
    CHECK(share_of(400000 * 50) < 0.022);
}

/* None of them alone is over the share. */
TEST(sample, auto_many_scopes_together) {
    static char names[100][24];
    sample_auto("auto:2%");
    for (int i = 0; i < 100; ++i) {
        snprintf(names[i], sizeof names[i], "name %d", i);
    }
    for (int i = 0; i < 600000; ++i) {
        named(names[i % 100], 50);
    }
    CHECK(share_of(600000 * 50) < 0.025);
    for (int i = 0; i < 100; ++i) {
        CHECK_EQ_U64(stat_of(names[i]).total_ns, 6000 * 50);
    }
}

static void named_with_a_limit(const char *name) {
    REGISTER_TIMER_DYNAMIC(name, 1000000);
    fake_advance(50);
}

/* Scopes that became exact have no part any more: the others share it. */
TEST(sample, auto_a_scope_that_is_no_longer_sampled_takes_no_part) {
    enum { OTHERS = 9 };
    static char names[OTHERS][24];
    sample_auto("auto:5%");
    for (int i = 0; i < OTHERS; ++i) {
        snprintf(names[i], sizeof names[i], "other %d", i);
    }
    for (int i = 0; i < OTHERS * 10000; ++i) {
        named(names[i % OTHERS], 50);
    }
    for (int i = 0; i < OTHERS; ++i) {
        named_with_a_limit(names[i]);
    }
    for (int i = 0; i < 2000000; ++i) {
        work(50);
    }
    double all = OTHERS * 10000 * 50.0 + 2000000 * 50.0;
    CHECK((double)stat_of("work").samples * 20 / all > 0.03);
    CHECK(share_of((uint64_t)all) < 0.055);
}

/* A time of fewer calls pays for some of the next one. */
TEST(sample, auto_a_scope_that_becomes_frequent) {
    sample_auto("auto:5%");
    for (int i = 0; i < 2000; ++i) {
        work(1000);
    }
    CHECK_EQ_U64(stat_of("work").samples, 2000);
    for (int i = 0; i < 200000; ++i) {
        work((uint64_t)i % 2 * 20);
    }
    check_within("work", 2000 * 1000 + 200000 * 10, 2000 * 1000 + 200000 * 10);
    CHECK(share_of(2000 * 1000 + 200000 * 10) < 0.055);
    uint64_t timed = stat_of("work").samples;
    for (int i = 0; i < 20000; ++i) {
        work(1000);
    }
    CHECK(stat_of("work").samples > timed + 10000);
}

#define AUTO_PERIODIC(period)                                                                      \
    TEST(sample, auto_periodic_##period) {                                                         \
        sample_auto("auto:2%");                                                                    \
        run_periodic(period);                                                                      \
        CHECK(share_of(really) < 0.022);                                                           \
    }
AUTO_PERIODIC(2)
AUTO_PERIODIC(3)
AUTO_PERIODIC(16)
AUTO_PERIODIC(17)
AUTO_PERIODIC(32)
AUTO_PERIODIC(100)

TEST(sample, auto_bimodal) {
    sample_auto("auto:2%");
    run_bimodal();
    check_outer_and_inner();
    CHECK(share_of(really) < 0.022);
}

TEST(sample, auto_bursts) {
    sample_auto("auto:2%");
    run_bursts();
    check_outer_and_inner();
    CHECK(share_of(really) < 0.022);
}

/* Many calls at once, then none for long: what they leave unused pays for the next ones. */
TEST(sample, auto_bursts_of_calls) {
    uint64_t state = 9, elapsed = 0;
    sample_auto("auto:1%");
    for (int burst = 0; burst < 50; ++burst) {
        for (int i = 0; i < 2000; ++i) {
            outer(random_next(&state) % 40, random_next(&state) % 40);
        }
        fake_advance(200000);
        elapsed += 200000;
    }
    check_outer_and_inner();
    CHECK(share_of(really + elapsed) < 0.011);
}

/* The same as errors_are_honest, while N changes in each of the programs. */
TEST(sample, auto_errors_are_honest) {
    sample_auto("auto:1%");
    check_honest_errors(4000, 20, 100);
}

/* All of the parent's time is its child's. */
TEST(sample, auto_self_is_not_negative) {
    uint64_t state = 5;
    sample_auto("auto:1%");
    for (int i = 0; i < 50000; ++i) {
        outer(0, random_next(&state) % 300);
    }
    stint_stat s = stat_of("outer");
    CHECK(s.self_ns <= s.total_ns);
    CHECK((double)s.self_ns <= 3 * (double)s.self_error_ns + 1);
    check_within("inner", really_self, really_self);
}

static void *work_in_a_thread(void *unused) {
    (void)unused;
    for (int i = 0; i < 20000; ++i) {
        work(50);
    }
    return NULL;
}

/* Each has the share of its own time. */
TEST(sample, auto_on_two_threads) {
    pthread_t thread;
    sample_auto("auto:5%");
    work_in_a_thread(NULL);
    uint64_t timed = stat_of("work").samples;
    CHECK(!pthread_create(&thread, NULL, work_in_a_thread, NULL));
    CHECK(!pthread_join(thread, NULL));
    CHECK_EQ_U64(stat_of("work").calls, 40000);
    CHECK_EQ_U64(stat_of("work").total_ns, 40000 * 50);
    CHECK(stat_of("work").samples < timed * 5 / 2);
    CHECK(stat_of("work").samples > timed * 3 / 2);
    CHECK_EQ_U64(cost_readings, 1);
}

/* ---- Open, abandoned, interrupted. */

static void check_open(uint64_t is_untimed) {
    struct snapshot s;
    CHECK(!interval_open(&s, 0));
    if (CHECK_EQ_U64(s.threads[0].open_count, 1)) {
        CHECK_EQ_U64((uint64_t)s.threads[0].open[0].untimed, is_untimed);
    }
    interval_close(&s);
}

TEST(sample, open_calls) {
    sample("1048576");
    for (int i = 0; i < 40; ++i) {
        REGISTER_TIMER("open");
        fake_advance(10);
        check_open(i >= 33);
        if (i == 39) {
            char *text = report_of("table");
            CHECK(strstr(text, "open: open, untimed, thread ") != NULL);
            free(text);
        }
    }
    CHECK_EQ_U64(calls_of("open"), 40);
}

static jmp_buf back;

static void jumps(int now) {
    REGISTER_TIMER("jumps");
    fake_advance(1);
    if (now) {
        longjmp(back, 1);
    }
}

static void catches(int jump) {
    REGISTER_TIMER("catches");
    if (!setjmp(back)) {
        jumps(jump);
    }
    fake_advance(1);
}

TEST(sample, abandoned_calls_are_counted_as_such) {
    sample("10");
    for (int i = 0; i < 3032; ++i) {
        catches(i % 3 == 0);
    }
    CHECK_EQ_U64(calls_of("catches"), 3032);
    CHECK_EQ_U64(calls_of("jumps"), 3032);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1011);
    CHECK_EQ_U64(lost_in_all(), 1011);
    CHECK_EQ_U64(stat_of("jumps").total_ns, 3032 - 1011);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* An untimed call of "child" is known inside "parent", and opened where "parent" was left open. */
TEST(sample, abandoned_where_its_child_is_opened) {
    static struct stint_impl_site parent = {.name = "parent"}, child = {.name = "child"};
    uint64_t guard[2];
    sample("1048576");
    for (int i = 0; i < 40; ++i) {
        guard[1] = stint_impl_begin(&guard[1], &parent, 0);
        guard[0] = stint_impl_begin(&guard[0], &child, 0);
        stint_impl_end(&guard[0]);
        stint_impl_end(&guard[1]);
    }
    guard[1] = stint_impl_begin(&guard[1], &parent, 0);
    guard[1] = stint_impl_begin(&guard[1], &child, 0);
    CHECK_EQ_U64(open_scopes(), 1);
    stint_impl_end(&guard[1]);
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(calls_of("parent"), 41);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1);
}

static stint_impl_opened moved_guard;
static struct stint_impl_site moved_site = {.name = "moved"};

static void *end_moved_guard(void *unused) {
    (void)unused;
    stint_impl_end(&moved_guard);
    return NULL;
}

/* A scope of a coroutine may end on another thread. */
TEST(sample, ended_on_another_thread) {
    sample("1048576");
    for (int i = 0; i < 40; ++i) {
        moved_guard = stint_impl_begin(&moved_guard, &moved_site, 0);
        stint_impl_end(&moved_guard);
    }
    for (int i = 0; i < 40; ++i) {
        pthread_t thread;
        moved_guard = stint_impl_begin(&moved_guard, &moved_site, 0);
        CHECK(!pthread_create(&thread, NULL, end_moved_guard, NULL));
        CHECK(!pthread_join(thread, NULL));
        work(1);
    }
    CHECK_EQ_U64(calls_of("moved"), 40);
    CHECK_EQ_U64(calls_of("work"), 40);
    CHECK_EQ_U64(lost(STINT_STATUS_OTHER_THREAD), 40);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* Two guards in one stack frame, opened upwards: both orders of addresses occur. */
TEST(sample, guards_at_rising_addresses) {
    static struct stint_impl_site first = {.name = "first"}, second = {.name = "second"};
    stint_impl_opened guard[2];
    sample("10");
    for (int i = 0; i < 1032; ++i) {
        guard[0] = stint_impl_begin(&guard[0], &first, 0);
        guard[1] = stint_impl_begin(&guard[1], &second, 0);
        fake_advance(1);
        stint_impl_end(&guard[1]);
        stint_impl_end(&guard[0]);
    }
    CHECK_EQ_U64(calls_of("first"), 1032);
    CHECK_EQ_U64(calls_of("second"), 1032);
    CHECK(stat_of("first").samples <= 133);
    CHECK(stat_of("second").samples <= 133);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static unsigned interrupted;
static char handler_names[40][16];

/* The same site in other places of the tree, and new ones, so that tables grow. */
static void handler(int number) {
    (void)number;
    ++interrupted;
    if (interrupted % 2) {
        REGISTER_TIMER("handler");
        fake_advance(1);
    } else {
        named(handler_names[interrupted % 40], 1);
    }
}

/* Wide enough for begin and end of timed and untimed calls, and the calls where sampling begins. */
TEST(sample, at_every_instruction) {
    NEEDS_STEPPING(handler);
    for (int i = 0; i < 40; ++i) {
        snprintf(handler_names[i], sizeof handler_names[i], "handler %d", i);
    }
    sample("3");
    around(1);
    handler(0);
    stepping(1);
    for (int i = 0; i < 60; ++i) {
        around(1);
    }
    stepping(0);
    CHECK_EQ_U64(calls_of("around"), 61);
    CHECK_EQ_U64(calls_of("work"), 61);
    CHECK(stat_of("work").samples < 50);
    uint64_t handled_calls = calls_of("handler");
    for (int i = 0; i < 40; ++i) {
        handled_calls += calls_of(handler_names[i]);
    }
    CHECK_EQ_U64(handled_calls + lost(STINT_STATUS_IN_SLOW_PATH), interrupted);
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_IN_SLOW_PATH));
    CHECK_EQ_U64(open_scopes(), 0);
}

/* ---- Bounds and reports. */

/* The drawn calls alone are long: on one thread the clock would else run over first. */
TEST(sample, totals_saturate) {
    sample("1048576");
    for (int i = 0; i < 33; ++i) {
        work(1);
    }
    const struct stint_impl_sampled *sums = sums_of("work");
    for (uint64_t i = 0; i < 2200000; ++i) {
        work(sums->left ? 1 : (uint64_t)1 << 45);
    }
    stint_stat s = stat_of("work");
    CHECK_EQ_U64(s.calls, 2200033);
    CHECK(s.total_ns >= (uint64_t)1 << 63);
    char *text = report_of("table");
    CHECK(strstr(text, "sampled: 1 scaled total is too large to be counted: shown too small") !=
          NULL);
    free(text);
}

TEST(sample, the_report_says_so) {
    sample("10");
    CHECK(!setenv("STINT_UNIT", "ns", 1));
    uint64_t state = 9;
    for (int i = 0; i < 1032; ++i) {
        work(100 + random_next(&state) % 100);
        named("exactly", 5);
        informed();
    }
    char *text = report_of("table");
    CHECK(strstr(text, "+- total") != NULL);
    CHECK(strstr(text, " ~5160") != NULL);
    CHECK(strstr(text, "sampled: 266 of 2064 calls were timed; ~ is scaled") != NULL);
    CHECK(strstr(text, "exactly    1032    ~5160       322    ~5160      322") != NULL);
    CHECK(strstr(text, "informed   1032     1032         -     1032        -") != NULL);
    free(text);
}

static void with_value(const char *value) {
    char line[200], *text;
    CHECK(!setenv("STINT_SAMPLE", value, 1));
    text = report_of("table");
    snprintf(line, sizeof line,
             "stint: STINT_SAMPLE=%s: expected 1..1048576|auto|auto:SHARE%%; ignored\n", value);
    CHECK(strstr(text, line) != NULL);
    free(text);
    for (int i = 0; i < 100; ++i) {
        work(1);
    }
    CHECK_EQ_U64(stat_of("work").samples, 100);
}

#define BAD_VALUE(name, value)                                                                     \
    TEST(sample, bad_value_##name) {                                                               \
        with_value(value);                                                                         \
    }
BAD_VALUE(zero, "0")
BAD_VALUE(negative, "-5")
BAD_VALUE(word, "often")
BAD_VALUE(fraction, "1.5")
BAD_VALUE(large, "1048577")
BAD_VALUE(huge, "99999999999999999999999")
BAD_VALUE(auto_and_rest, "automatic")
BAD_VALUE(auto_of_nothing, "auto:")
BAD_VALUE(auto_percent_only, "auto:%")
BAD_VALUE(auto_zero, "auto:0%")
BAD_VALUE(auto_too_much, "auto:200%")
BAD_VALUE(auto_little_too_much, "auto:100.01%")
BAD_VALUE(auto_word, "auto:x")
BAD_VALUE(auto_without_percent, "auto:1")
BAD_VALUE(auto_negative, "auto:-1%")
BAD_VALUE(auto_with_rest, "auto:1%%")
BAD_VALUE(auto_not_a_number, "auto:nan%")

HARNESS_MAIN()
