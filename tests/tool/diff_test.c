/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge of `stint diff` on simulated runs: it must not cry wolf, and it must find the wolf.
 * Times are drawn with a fixed seed; a run as a whole is off by a factor, and so is each of its
 * scopes, as on a machine that others use too.
 */
#include <math.h>

#include "base/histogram.h"
#include "harness.h"
#include "tool/diff/diff.h"

#define SCOPES 20
#define CALLS 300

struct world {
    struct diff d;
    struct diff_options o;
    uint64_t random;
    double run_noise; /* standard deviations, as logarithms */
    double scope_noise;
    double call_noise;
    double slow[SCOPES]; /* factors on side 1 */
};

static double uniform(struct world *w) {
    w->random = w->random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (double)(w->random >> 11) / 9007199254740992.0;
}

/* A sum of twelve is as normal as a test needs. */
static double normal(struct world *w) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        sum += uniform(w);
    }
    return sum;
}

static void start(struct world *w, uint32_t a_runs, uint32_t b_runs) {
    for (int i = 0; i < SCOPES; ++i) {
        w->slow[i] = 1;
    }
    w->o.threshold = 0.02;
    CHECK(!diff_start(&w->d, a_runs, b_runs));
    for (int side = 0; side < 2; ++side) {
        for (uint32_t i = 0; i < w->d.runs[side]; ++i) {
            w->d.run[side][i].program = w->d.run[side][i].host = "simulated";
            w->d.run[side][i].conditions = "";
            w->d.run[side][i].start_real_ns = 1 + 2 * i + (uint64_t)side; /* A B A B */
        }
    }
}

static void keep(struct world *w, struct diff_times *to, const struct histogram *h) {
    struct histogram_bucket *bucket =
        scratch_array(&w->d.memory, STINT_IMPL_BUCKETS, sizeof *bucket);
    to->histogram.bucket = bucket;
    to->histogram.unit = 1;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (h->bucket[i]) {
            bucket[to->histogram.used].index = i;
            bucket[to->histogram.used++].count = h->bucket[i];
        }
    }
}

/* One call in 50 is hit by something that has nothing to do with it. */
static void draw(struct world *w, struct diff_times *to, double typical, uint32_t calls) {
    struct histogram h;
    memset(&h, 0, sizeof h);
    for (uint32_t i = 0; i < calls; ++i) {
        double v = typical * exp(w->call_noise * normal(w));
        v *= uniform(w) < 0.02 ? 1 + 4 * uniform(w) : 1;
        ++h.bucket[stint_impl_bucket((uint64_t)v)];
        to->total += v;
        to->max = v > to->max ? v : to->max;
    }
    to->count = calls;
    keep(w, to, &h);
}

static struct diff_sample *sample(struct world *w, const char *name, int side, uint32_t run) {
    struct diff_item *item = diff_item(&w->d, name, strlen(name), "");
    CHECK(item != NULL);
    return &item->run[side][run];
}

static void add(struct world *w, const char *name, int side, uint32_t run, double typical,
                uint32_t calls) {
    struct diff_sample *s = sample(w, name, side, run);
    s->there = 1;
    s->calls = calls;
    draw(w, &s->cpu, typical, calls);
    s->self = s->cpu.total;
}

#define LONGEST (double)histogram_low(STINT_IMPL_BUCKETS - 1) /* that has a bucket of its own */

/* Calls that take v, and others. */
static struct diff_sample *add_calls(struct world *w, const char *name, int side, uint32_t run,
                                     double v, uint32_t calls, double other, uint32_t others) {
    struct diff_sample *s = sample(w, name, side, run);
    struct histogram h;
    memset(&h, 0, sizeof h);
    s->there = 1;
    s->calls = s->cpu.count = calls + others;
    s->cpu.total = s->self = v * calls + other * others;
    s->cpu.max = v;
    h.bucket[v < LONGEST ? stint_impl_bucket((uint64_t)v) : STINT_IMPL_BUCKETS - 1] = calls;
    h.bucket[stint_impl_bucket((uint64_t)other)] += others;
    keep(w, &s->cpu, &h);
    return s;
}

static void simulate(struct world *w) {
    for (int side = 0; side < 2; ++side) {
        for (uint32_t run = 0; run < w->d.runs[side]; ++run) {
            double whole = exp(w->run_noise * normal(w));
            for (int i = 0; i < SCOPES; ++i) {
                char name[32];
                snprintf(name, sizeof name, "scope %d", i);
                double own = whole * exp(w->scope_noise * normal(w)) * (side ? w->slow[i] : 1);
                add(w, name, side, run, 300.0 * (i + 1) * (i + 1) * own, CALLS);
            }
        }
    }
    CHECK(!diff_judge(&w->d, &w->o));
    CHECK_EQ_U64(w->d.rows, SCOPES);
}

/* The row of that name that the verdicts are about; NULL: there is none. */
static const struct diff_row *row_of(const struct world *w, const char *name) {
    for (uint32_t i = 0; i < w->d.rows; ++i) {
        int gpu = w->o.metric == DIFF_GPU;
        if (!strcmp(w->d.row[i].item->name, name) && w->d.row[i].gpu == gpu) {
            return &w->d.row[i];
        }
    }
    return NULL;
}

static enum diff_verdict verdict_of(const struct world *w, const char *name) {
    const struct diff_row *row = row_of(w, name);
    return row ? row->verdict : DIFF_VERDICTS;
}

static int shows(struct world *w, int markdown, const char *part) {
    struct text out;
    text_start(&out);
    diff_show(&w->d, &w->o, 0, markdown, &out);
    text_put(&out, "", 1);
    int is_shown = strstr(out.data, part) != NULL;
    text_free(&out);
    return is_shown;
}

/* SLOWER and FASTER rows among 100 comparisons of 20 rows where nothing changed: at most 1 % of
 * 2 000, on a quiet machine, on a noisy one, and in single runs. */
TEST(diff, no_wolf) {
    static const struct {
        uint32_t seed, runs;
        double run_noise, scope_noise;
    } rows[] = {{1, 5, 0.003, 0.003}, {2, 3, 0.003, 0.003}, {3, 5, 0.05, 0.03}, {4, 3, 0.05, 0.03},
                {5, 10, 0.03, 0.10},  {6, 1, 0.005, 0.005}, {7, 1, 0.02, 0.02}, {8, 2, 0.03, 0.02},
                {6, 4, 0.05, 0.03},   {7, 4, 0.05, 0.001},  {8, 4, 0.2, 0.2}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        uint32_t found = 0;
        for (uint64_t i = 0; i < 100; ++i) {
            struct world w = {.random = rows[k].seed * 1000 + i, .call_noise = 0.15};
            w.run_noise = rows[k].run_noise;
            w.scope_noise = rows[k].scope_noise;
            start(&w, rows[k].runs, rows[k].runs);
            simulate(&w);
            found += w.d.verdicts[DIFF_SLOWER] + w.d.verdicts[DIFF_FASTER];
            diff_end(&w.d);
        }
        if (getenv("V")) {
            printf("%u false\n", found);
        }
        CHECK(found <= 20);
    }
}

/* A tenth slower, one scope of twenty: found, and nothing else is. */
TEST(diff, finds_the_one_that_is_slower) {
    uint32_t found = 0, others = 0;
    for (uint64_t i = 0; i < 100; ++i) {
        struct world w = {.random = 9000 + i, .call_noise = 0.15};
        w.run_noise = 0.005;
        w.scope_noise = 0.005;
        start(&w, 5, 5);
        w.slow[7] = 1.1;
        simulate(&w);
        uint32_t here = verdict_of(&w, "scope 7") == DIFF_SLOWER;
        found += here;
        others += w.d.verdicts[DIFF_SLOWER] + w.d.verdicts[DIFF_FASTER] - here;
        diff_end(&w.d);
    }
    if (getenv("V"))
        printf("%u found %u others\n", found, others);
    CHECK(found >= 95);
    CHECK(others <= 20);
}

TEST(diff, finds_what_is_faster) {
    struct world w = {.random = 10, .call_noise = 0.15, .run_noise = 0.005, .scope_noise = 0.005};
    start(&w, 5, 5);
    w.slow[3] = 1 / 1.2;
    simulate(&w);
    CHECK_EQ_U64(verdict_of(&w, "scope 3"), DIFF_FASTER);
    CHECK(w.d.verdicts[DIFF_SAME] >= SCOPES - 5);
    CHECK_EQ_U64(w.d.verdicts[DIFF_SLOWER] + w.d.verdicts[DIFF_FASTER], 1);
    diff_end(&w.d);
}

TEST(diff, single_runs_show_what_is_large) {
    struct world w = {.random = 11, .call_noise = 0.15, .run_noise = 0.005, .scope_noise = 0.005};
    start(&w, 1, 1);
    w.slow[3] = 2;
    w.slow[5] = 1.06; /* runs differ by that */
    simulate(&w);
    CHECK_EQ_U64(verdict_of(&w, "scope 3"), DIFF_SLOWER);
    CHECK_EQ_U64(verdict_of(&w, "scope 5"), DIFF_UNSURE);
    CHECK_EQ_U64(w.d.verdicts[DIFF_SLOWER], 1);
    diff_end(&w.d);
}

/* A change below the threshold is none, however sure it is. */
TEST(diff, small_changes_are_none) {
    struct world w = {.random = 12, .call_noise = 0.02, .run_noise = 0.0005, .scope_noise = 0.0005};
    start(&w, 5, 5);
    w.slow[3] = 1.012;
    simulate(&w);
    CHECK_EQ_U64(verdict_of(&w, "scope 3"), DIFF_SAME);
    w.o.threshold = 0.005;
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK_EQ_U64(verdict_of(&w, "scope 3"), DIFF_SLOWER);
    diff_end(&w.d);
}

/* All calls of a run in one bucket, on side 1 in the next one, 6 % above: what has changed is half
 * a percent. */
TEST(diff, a_bucket_is_no_change) {
    for (uint32_t runs = 1; runs <= 5; runs += 4) {
        struct world w = {.random = 13};
        start(&w, runs, runs);
        for (uint32_t i = 0; i < runs; ++i) {
            for (int side = 0; side < 2; ++side) {
                add_calls(&w, "edge", side, i, side ? 16385 : 16300, 1000, 0, 0);
            }
        }
        CHECK(!diff_judge(&w.d, &w.o));
        CHECK_EQ_U64(verdict_of(&w, "edge"), DIFF_SAME);
        w.o.metric = DIFF_P50;
        CHECK(!diff_judge(&w.d, &w.o));
        CHECK(verdict_of(&w, "edge") != DIFF_SLOWER);
        diff_end(&w.d);
    }
}

/* ---- Another machine. */

static void references(struct world *w, double a, double b) {
    for (int side = 0; side < 2; ++side) {
        for (uint32_t i = 0; i < w->d.runs[side]; ++i) {
            w->d.run[side][i].reference = (side ? b : a) * (1 + 0.002 * i);
        }
    }
}

TEST(diff, a_slower_machine_is_no_slower_program) {
    struct world w = {.random = 14, .call_noise = 0.15, .run_noise = 0.005, .scope_noise = 0.005};
    start(&w, 5, 5);
    references(&w, 1500, 1800);
    for (int i = 0; i < SCOPES; ++i) {
        w.slow[i] = 1.2;
    }
    w.slow[4] = 1; /* waits for memory, say */
    w.slow[9] = 1.6;
    simulate(&w);
    CHECK_EQ_U64(w.d.verdicts[DIFF_SLOWER], 1);
    CHECK_EQ_U64(w.d.verdicts[DIFF_FASTER], 0);
    CHECK_EQ_U64(verdict_of(&w, "scope 4"), DIFF_SAME);
    CHECK_EQ_U64(verdict_of(&w, "scope 9"), DIFF_SLOWER);
    w.o.raw = 1;
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK_EQ_U64(w.d.verdicts[DIFF_SLOWER], SCOPES - 1);
    diff_end(&w.d);
}

/* A reference that differs from run to run on both sides says nothing. */
TEST(diff, a_reference_that_wavers_does_not_count) {
    struct world w = {.random = 15, .call_noise = 0.15, .run_noise = 0.005, .scope_noise = 0.005};
    start(&w, 5, 5);
    references(&w, 1500, 1800);
    w.d.run[0][2].reference = 1900;
    w.slow[2] = 1.15;
    simulate(&w);
    CHECK(fabs(w.d.machine) <= 0);
    CHECK_EQ_U64(verdict_of(&w, "scope 2"), DIFF_SLOWER);
    diff_end(&w.d);
}

/* ---- What is not a CPU time. */

TEST(diff, counts_are_compared_as_they_are) {
    struct world w = {.random = 16, .call_noise = 0.1, .run_noise = 0.01};
    start(&w, 1, 1);
    add(&w, "copy", 0, 0, 5000, 1200);
    add(&w, "copy", 1, 0, 5000, 600);
    add(&w, "like", 0, 0, 5000, 600);
    add(&w, "like", 1, 0, 5000, 600);
    sample(&w, "copy", 0, 0)->number[0] = 2e9; /* bytes */
    sample(&w, "copy", 1, 0)->number[0] = 1e9;
    w.o.metric = DIFF_CALLS;
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK_EQ_U64(verdict_of(&w, "copy"), DIFF_FASTER);
    CHECK_EQ_U64(verdict_of(&w, "like"), DIFF_SAME);
    w.o.metric = DIFF_BYTES;
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK_EQ_U64(w.d.rows, 1);
    CHECK_EQ_U64(verdict_of(&w, "copy"), DIFF_FASTER);
    w.o.metric = DIFF_TIME;
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK(shows(&w, 0, "1200 -> 600") && shows(&w, 0, "bytes 2 GB -> 1 GB"));
    diff_end(&w.d);
}

/* ---- The order of the runs. */

static void put_in_order(struct world *w, uint64_t first) {
    for (int side = 0; side < 2; ++side) {
        for (uint32_t i = 0; i < w->d.runs[side]; ++i) {
            w->d.run[side][i].start_real_ns = first ? first + i + (side ? w->d.runs[0] : 0) : 0;
        }
    }
    CHECK(!diff_judge(&w->d, &w->o));
}

static double median_error(struct world *w) {
    double error[SCOPES];
    for (uint32_t i = 0; i < SCOPES; ++i) {
        error[i] = w->d.row[i].change.error;
    }
    return diff_median(error, SCOPES);
}

TEST(diff, one_side_after_the_other_is_said) {
    struct world w = {.random = 30, .call_noise = 0.02, .run_noise = 0.01, .scope_noise = 0.01};
    start(&w, 5, 5);
    simulate(&w);
    double alternated = median_error(&w);
    CHECK(w.d.alternated && w.d.order_is_known && !shows(&w, 0, "alternate"));
    put_in_order(&w, 1);
    CHECK(!w.d.alternated && w.d.order_is_known);
    CHECK(shows(&w, 0, "\nA and B did not alternate, and the machine may have drifted: "));
    CHECK(median_error(&w) > 1.5 * alternated);
    put_in_order(&w, 0); /* no run has a time */
    CHECK(!w.d.alternated && !w.d.order_is_known);
    CHECK(shows(&w, 0, "\nwhether A and B alternated is not known, and the machine may have"));
    CHECK(median_error(&w) > 1.5 * alternated);
    put_in_order(&w, 1);
    w.d.run[0][4].start_real_ns = w.d.run[1][0].start_real_ns;
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK(!w.d.order_is_known);
    diff_end(&w.d);
}

/* A change as large as the one that the runs can show is found in four of five comparisons. */
TEST(diff, the_change_that_runs_can_show) {
    uint32_t found = 0;
    double shown = 0;
    for (uint64_t i = 0; i < 200; ++i) {
        struct world w = {.random = 32000 + i, .call_noise = 0.02};
        w.run_noise = w.scope_noise = 0.01;
        start(&w, 10, 10);
        w.slow[7] = 1.0340;
        simulate(&w);
        shown += row_of(&w, "scope 7")->shows / 200;
        found += verdict_of(&w, "scope 7") == DIFF_SLOWER;
        diff_end(&w.d);
    }
    if (getenv("V")) {
        printf("%u of 200 found; shown %.2f %%\n", found, shown);
    }
    CHECK(fabs(shown - 3.40) < 0.1);
    CHECK(found >= 145 && found <= 175);
}

/* Scopes in which nothing changed: the more rows, the surer a finding must be. */
static void add_quiet(struct world *w, uint32_t runs) {
    for (int i = 0; i < SCOPES; ++i) {
        char name[32];
        snprintf(name, sizeof name, "scope %d", i);
        for (uint32_t run = 0; run < runs; ++run) {
            add(w, name, 0, run, 1e5 * exp(0.02 * normal(w)), CALLS);
            add(w, name, 1, run, 1e5 * exp(0.02 * normal(w)), CALLS);
        }
    }
}

TEST(diff, runs_far_apart_are_no_doubt) {
    static const double ms[2][4] = {{896, 728, 751, 803}, {174, 350, 192, 211}};
    for (int both = 0; both < 2; ++both) {
        struct world w = {.random = 77, .call_noise = 0.15};
        start(&w, 4, 4);
        for (int side = 0; side < 2; ++side) {
            for (uint32_t run = 0; run < 4; ++run) {
                double ns = ms[both ? !side : side][run] * 1e6;
                add_calls(&w, "once", side, run, ns, 1, 0, 0);
                /* One long call and some short ones, the same in each run: of a mean such calls
                 * say little, the runs say much. */
                add_calls(&w, "uneven", side, run, ns, 1, 1000, 9);
            }
        }
        add_quiet(&w, 4);
        CHECK(!diff_judge(&w.d, &w.o));
        CHECK(verdict_of(&w, "once") == (both ? DIFF_SLOWER : DIFF_FASTER));
        CHECK(verdict_of(&w, "uneven") == (both ? DIFF_SLOWER : DIFF_FASTER));
        CHECK_EQ_U64(w.d.verdicts[DIFF_SLOWER] + w.d.verdicts[DIFF_FASTER], 2);
        diff_end(&w.d);
    }
}

TEST(diff, what_came_and_what_went) {
    struct world w = {.random = 17, .call_noise = 0.1};
    start(&w, 1, 1);
    add(&w, "old", 0, 0, 5000, 100);
    add(&w, "new", 1, 0, 5000, 100);
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK_EQ_U64(verdict_of(&w, "old"), DIFF_GONE);
    CHECK_EQ_U64(verdict_of(&w, "new"), DIFF_APPEARED);
    diff_end(&w.d);
}

/* The launch is as fast as ever, the kernel is not. */
TEST(diff, gpu_time_is_a_row_of_its_own) {
    struct world w = {.random = 18, .call_noise = 0.05};
    start(&w, 4, 4);
    for (int side = 0; side < 2; ++side) {
        for (uint32_t i = 0; i < 4; ++i) {
            add(&w, "kernel", side, i, 5000, 200);
            draw(&w, &sample(&w, "kernel", side, i)->gpu, side ? 30000 : 20000, 200);
        }
    }
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK_EQ_U64(w.d.rows, 2);
    CHECK(w.d.row[0].gpu);
    CHECK_EQ_U64(w.d.row[0].verdict, DIFF_SLOWER);
    CHECK_EQ_U64(w.d.row[1].verdict, DIFF_SAME);
    diff_end(&w.d);
}

TEST(diff, a_name_cannot_break_a_line_or_a_table) {
    struct world w = {.random = 19};
    start(&w, 1, 1);
    add(&w, "a|b\n`c` \x1b[31m<b>", 0, 0, 5000, 10);
    CHECK(!diff_judge(&w.d, &w.o));
    for (int markdown = 0; markdown < 2; ++markdown) {
        CHECK(shows(&w, markdown,
                    markdown ? "a\\|b\\\\n\\`c\\` \\\\x1b\\[31m\\<b\\>" : "a|b\\n`c` \\x1b[31m"));
    }
    diff_end(&w.d);
}

/* ---- Zeros. */

/* A run in which the metric of "x" is v. */
static void put(struct world *w, int side, uint32_t run, double v) {
    struct diff_sample *s = add_calls(w, "x", side, run, v, 10, 0, 0);
    enum diff_metric m = w->o.metric;
    s->calls = m == DIFF_CALLS ? v : 10;
    s->number[0] = v;
    s->number[1] = 10 * v;
    s->cpu.total = s->self = m == DIFF_TOTAL || m == DIFF_SELF ? v : 10 * v;
    s->gpu = s->cpu;
}

static int is_sum_metric(enum diff_metric m) {
    return m == DIFF_TOTAL || m == DIFF_SELF || m == DIFF_CALLS || m == DIFF_BYTES;
}

/* Judges runs of which the first `absent` of a side have no "x". The row of it. */
static const struct diff_row *judge_sides(struct world *w, uint32_t runs, const double v[2],
                                          const uint32_t absent[2]) {
    start(w, runs, runs);
    for (int side = 0; side < 2; ++side) {
        for (uint32_t run = absent[side]; run < runs; ++run) {
            put(w, side, run, v[side]);
        }
    }
    CHECK(!diff_judge(&w->d, &w->o));
    return row_of(w, "x");
}

/* Within the width of a bucket; a percentile is nowhere above the last one. */
static int is_near(double a, double b, enum diff_metric m) {
    if (m != DIFF_P50 && m != DIFF_P99) {
        return fabs(a - b) <= 1e-9 * b;
    }
    return fabs(a - b) <= 0.065 * b + (b > 0) || (b > LONGEST && a > LONGEST);
}

/* Whether the row is what its two numbers say, and their change the one that is shown. */
static int adds_up(const struct diff_row *row, double a, double b, enum diff_verdict v) {
    const struct diff_change *c = &row->change;
    double log = diff_change_log(c);
    int good = row->verdict == v;
    good &= is_near(c->side[0], a, row->metric) && is_near(c->side[1], b, row->metric);
    if (a > 0 && b > 0) {
        good &= fabs(log - c->machine - (c->linear ? log1p(c->size / c->side[0]) : c->size)) < 1e-9;
    }
    if (!good) {
        dprintf(2, "%.12g and %.12g, not %.12g and %.12g; verdict %d\n", c->side[0], c->side[1], a,
                b, (int)row->verdict);
    }
    return good;
}

static const double edges[] = {1, 1e6, 9223372036854775808.0, 18446744073709551615.0};

/* Single runs have a verdict where there are calls enough, or counts. */
TEST(diff, zero_is_a_value_of_each_metric) {
    static const uint32_t none[2] = {0, 0};
    for (enum diff_metric m = DIFF_TIME; m <= DIFF_TYPICAL; ++m) {
        for (uint32_t i = 0; i < 16; ++i) {
            uint32_t both = i % 2, runs = i < 8 ? 5 : 1;
            struct world w = {.o.metric = m};
            double v[2] = {both ? edges[i / 2 % 4] : 0, both ? 0 : edges[i / 2 % 4]};
            const struct diff_row *row = judge_sides(&w, runs, v, none);
            enum diff_verdict verdict = both ? DIFF_FASTER : DIFF_SLOWER;
            if (runs == 1 && (m == DIFF_MAX || m == DIFF_P99)) {
                verdict = DIFF_UNSURE;
            }
            CHECK(row && adds_up(row, v[0], v[1], verdict));
            CHECK(row && isinf(diff_change_log(&row->change)));
            /* Runs that agree by accident are no more certain than others. */
            CHECK(row && (runs == 1 || row->change.error >= 1e-5 * fabs(row->change.size)));
            diff_end(&w.d);
        }
        struct world w = {.o.metric = m};
        const struct diff_row *row = judge_sides(&w, 5, (double[]){0, 0}, none);
        /* A row without calls, bytes or memory on both sides is left out. */
        int empty = m == DIFF_CALLS || m == DIFF_BYTES || m == DIFF_MEMORY;
        CHECK(empty ? !row : row && adds_up(row, 0, 0, DIFF_SAME));
        diff_end(&w.d);
    }
}

TEST(diff, a_run_without_the_scope_has_no_time_and_no_calls) {
    for (enum diff_metric m = DIFF_TIME; m <= DIFF_TYPICAL; ++m) {
        for (uint32_t absent = 1; absent <= 5; ++absent) {
            struct world w = {.o.metric = m};
            const struct diff_row *row =
                judge_sides(&w, 5, (double[]){1000, 1000}, (uint32_t[]){absent, 0});
            CHECK(row && row->seen[0] == 5 - absent);
            CHECK(row && fabs(row->calls[1] * (5 - absent) / 5 - row->calls[0]) < 1e-9);
            double a = is_sum_metric(m) ? 1000.0 * (5 - absent) / 5 : 1000;
            if (absent == 5) {
                CHECK(row && adds_up(row, 0, 1000, DIFF_APPEARED));
            } else if (is_sum_metric(m)) {
                /* Three and two of five are apart by accident, too. */
                enum diff_verdict v = absent < 4 ? DIFF_UNSURE : DIFF_SLOWER;
                CHECK(row && adds_up(row, a, 1000, v));
            } else {
                int unknown = absent > 2 && (m == DIFF_MAX || m == DIFF_P99 || m == DIFF_P50);
                CHECK(row && adds_up(row, a, 1000, unknown ? DIFF_UNSURE : DIFF_SAME));
            }
            diff_end(&w.d);
        }
    }
}

/* Most calls take nothing: the average says more than the typical call. */
TEST(diff, the_average_of_calls_that_take_nothing) {
    struct world w = {.random = 20};
    start(&w, 3, 3);
    for (uint32_t run = 0; run < 3; ++run) {
        for (int side = 0; side < 2; ++side) {
            add_calls(&w, "x", side, run, 1000, 10, 0, 500);
        }
    }
    CHECK(!diff_judge(&w.d, &w.o));
    CHECK(!strcmp(w.d.row[0].change.of, "avg"));
    CHECK(w.d.row[0].change.side[0] > 19 && w.d.row[0].verdict == DIFF_UNSURE);
    diff_end(&w.d);
}

/* ---- Paired runs. */

static enum diff_verdict judge_paired(uint32_t pairs, double a, double b, uint32_t a_absent,
                                      uint32_t b_absent, double side[2]) {
    struct world w = {.o.metric = DIFF_TYPICAL};
    struct diff_pairing p = {.alpha = 0.05, .least = 0.01, .end = ""};
    start(&w, pairs, pairs);
    for (uint32_t run = 0; run < pairs; ++run) {
        w.d.run[0][run].wall = w.d.run[1][run].wall = 1e9;
        if (run >= a_absent) {
            put(&w, 0, run, a);
        }
        if (run >= b_absent) {
            put(&w, 1, run, b);
        }
    }
    w.o.paired = &p;
    diff_watch(&w.d, &p, 0);
    p.watched = 1; /* its GPU time is not of interest */
    CHECK(!diff_judge(&w.d, &w.o));
    enum diff_verdict v = verdict_of(&w, "x");
    memcpy(side, row_of(&w, "x")->change.side, 2 * sizeof *side);
    CHECK_EQ_U64(w.d.wall.verdict, pairs < 4 ? DIFF_UNSURE : DIFF_SAME);
    diff_end(&w.d);
    return v;
}

TEST(diff, zero_is_a_value_of_pairs) {
    for (size_t i = 0; i < sizeof edges / sizeof *edges; ++i) {
        double side[2], v = edges[i];
        CHECK_EQ_U64(judge_paired(6, 0, v, 0, 0, side), DIFF_SLOWER);
        CHECK(side[0] <= 0 && is_near(side[1], v, DIFF_AVG));
        CHECK_EQ_U64(judge_paired(6, v, 0, 0, 0, side), DIFF_FASTER);
        CHECK(side[1] <= 0 && is_near(side[0], v, DIFF_AVG));
        /* Five signs that agree are not rare enough. */
        CHECK_EQ_U64(judge_paired(5, 0, v, 0, 0, side), DIFF_UNSURE);
        CHECK_EQ_U64(judge_paired(6, v, v, 6, 0, side), DIFF_APPEARED);
        CHECK(is_near(side[1], v, DIFF_AVG));
        CHECK_EQ_U64(judge_paired(6, v, v, 0, 6, side), DIFF_GONE);
        CHECK(is_near(side[0], v, DIFF_AVG));
        CHECK_EQ_U64(judge_paired(5, v, v, 5, 0, side), DIFF_UNSURE);
        CHECK_EQ_U64(judge_paired(1, v, v, 1, 0, side), DIFF_UNSURE);
        CHECK_EQ_U64(judge_paired(2, 0, 0, 0, 0, side), DIFF_UNSURE);
        CHECK_EQ_U64(judge_paired(6, 0, 0, 0, 0, side), DIFF_SAME);
        /* The pairs that have both. */
        CHECK_EQ_U64(judge_paired(12, v, v, 5, 0, side), DIFF_SAME);
        CHECK_EQ_U64(judge_paired(12, v, 2 * v, 5, 0, side), DIFF_SLOWER);
    }
}

/* ---- Losses, and files of one instant. */

/* A verdict that the loss of so many calls of a run may explain is UNSURE. */
TEST(diff, lost_scopes_are_no_change) {
    static const double calls[2] = {1200, 2000};
    for (double missing = 0; missing <= 3000; missing += 1000) {
        struct world w = {.o.metric = DIFF_CALLS};
        CHECK(judge_sides(&w, 3, calls, (uint32_t[]){0, 0}) != NULL);
        w.d.run[0][1].lost = (uint64_t)(3 * missing);
        w.d.run[0][1].missing = 3 * missing;
        CHECK(!diff_judge(&w.d, &w.o));
        CHECK_EQ_U64(verdict_of(&w, "x"), missing >= 1000 ? DIFF_UNSURE : DIFF_SLOWER);
        w.o.metric = DIFF_TOTAL; /* how much time the calls took is not known */
        CHECK(!diff_judge(&w.d, &w.o));
        CHECK(verdict_of(&w, "x") != DIFF_SLOWER || missing <= 0);
        w.o.metric = DIFF_AVG;
        CHECK(!diff_judge(&w.d, &w.o));
        CHECK(w.d.lost == 0);
        diff_end(&w.d);
        w = (struct world){.o.metric = DIFF_AVG};
        CHECK(judge_sides(&w, 3, calls, (uint32_t[]){3, 0}) != NULL);
        w.d.run[0][0].missing = missing;
        CHECK(!diff_judge(&w.d, &w.o));
        CHECK_EQ_U64(verdict_of(&w, "x"), missing >= 1000 ? DIFF_UNSURE : DIFF_APPEARED);
        diff_end(&w.d);
    }
}

TEST(diff, files_of_one_instant) {
    struct world w = {.o.metric = DIFF_TIME};
    CHECK(judge_sides(&w, 3, (double[]){5, 5}, (uint32_t[]){0, 0}) != NULL);
    CHECK_EQ_U64(w.d.wall.verdict, DIFF_UNSURE);
    CHECK(!w.d.wall.change.known);
    CHECK(shows(&w, 0, "wall UNSURE: 0 ns -> 0 ns (0.0 % +/- ?)\n"));
    diff_end(&w.d);
}

/* A large change is a factor. */
TEST(diff, changes_as_they_are_shown) {
    static const struct {
        double a, b;
        const char *change;
    } rows[] = {{1e6, 1.5e6, "+50.0 %"},   {1e6, 9e6, "+800.0 %"},
                {1e6, 2.5e7, "x 25.0 "},   {100, 2463480437.0, "x 24634804 "},
                {1, 1.8e19, "x 1.8e+19"},  {1e6, 2e5, "-80.0 %"},
                {1e7, 10, "x 1/1000000 "}, {1e6, 0, "-100.0 %"},
                {0, 1e6, "+1.000 ms"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        struct world w = {.o.metric = DIFF_AVG};
        double v[2] = {rows[i].a, rows[i].b};
        CHECK(judge_sides(&w, 5, v, (uint32_t[]){0, 0}) != NULL);
        CHECK(shows(&w, 0, rows[i].change));
        diff_end(&w.d);
    }
}
