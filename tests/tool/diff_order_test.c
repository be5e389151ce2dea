/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interval of a difference where one side ran after the other: it contains the truth as often
 * as is said, for recorded runs and for simulated drift. The constants of diff_order.c were
 * chosen on these recorded runs, and on simulated drift of other seeds, made by NumPy.
 */
#include <math.h>

#include "harness.h"
#include "tool/diff/diff_math.h"

#include "pairs_noise.h"
#include "pairs_recorded.inc"

#define RUNS_MAX 40u

/* The runs of a comparison of a program with itself. */
struct trial {
    struct diff_ordered run[2 * RUNS_MAX];
    uint32_t runs; /* per side */
    double widened;
};

static void trial_set(struct trial *t, uint32_t i, double value, int alternated) {
    t->run[i] = (struct diff_ordered){.value = value, .kept = i ? diff_order_kept(1) : 0};
    t->run[i].side = i >= t->runs;
    if (alternated) {
        t->run[i].side = (int)(i % 2);
    }
}

/* Whether the 95 % interval contains 0. */
static int trial_covers(struct trial *t) {
    double value[2][RUNS_MAX];
    uint32_t count[2] = {0, 0};
    struct diff_welch w;
    for (uint32_t i = 0; i < 2 * t->runs; ++i) {
        int side = t->run[i].side;
        value[side][count[side]++] = t->run[i].value;
    }
    diff_welch(&w, value[0], count[0], value[1], count[1], 0);
    t->widened = diff_order_widen(t->run, 2 * t->runs);
    return fabs(w.difference) <= t->widened * diff_student_t(0.05, w.freedom) * w.error;
}

struct coverage {
    uint32_t covered, all;
    double widened; /* mean */
};

static void coverage_add(struct coverage *c, struct trial *t) {
    c->covered += trial_covers(t) != 0;
    c->widened += (t->widened - c->widened) / ++c->all;
}

/* The share of intervals that contain the truth, in thousandths. */
static uint32_t coverage_of(const struct coverage *c, const char *what) {
    if (getenv("V")) {
        printf("%s: %u of %u, %.1f %%, wider by %.2f\n", what, c->covered, c->all,
               100.0 * c->covered / c->all, c->widened);
    }
    return 1000 * c->covered / c->all;
}

/* All disjoint blocks of recorded runs. */
static uint32_t recorded_coverage(uint32_t runs, int alternated) {
    struct coverage c = {0, 0, 0};
    for (uint32_t at = 0; at + 2 * runs <= RECORDED_RUNS; at += 2 * runs) {
        for (uint32_t scope = 0; scope < RECORDED_SCOPES; ++scope) {
            struct trial t = {.runs = runs};
            for (uint32_t i = 0; i < 2 * runs; ++i) {
                trial_set(&t, i, log(recorded[at + i][scope]), alternated);
            }
            coverage_add(&c, &t);
        }
    }
    return coverage_of(&c, alternated ? "recorded, alternating" : "recorded, one after the other");
}

TEST(diff_order, recorded_runs_one_side_after_the_other) {
    CHECK(recorded_coverage(3, 0) >= 930);
    CHECK(recorded_coverage(5, 0) >= 930);
    CHECK(recorded_coverage(10, 0) >= 930);
}

TEST(diff_order, recorded_runs_alternating) {
    CHECK(recorded_coverage(3, 1) >= 950);
    CHECK(recorded_coverage(5, 1) >= 950);
    CHECK(recorded_coverage(10, 1) >= 950);
}

/* Drift with a correlation of `kept` between neighbours that is `share` of the variance. */
static struct coverage simulate(uint64_t seed, uint32_t runs, double kept, double share,
                                int alternated) {
    struct coverage c = {0, 0, 0};
    struct noise n = {.random = seed * 1000003};
    for (int k = 0; k < 1000; ++k) {
        struct trial t = {.runs = runs};
        double drift = noise_normal(&n);
        for (uint32_t i = 0; i < 2 * runs; ++i) {
            trial_set(&t, i, sqrt(share) * drift + sqrt(1 - share) * noise_normal(&n), alternated);
            drift = kept * drift + sqrt(1 - kept * kept) * noise_normal(&n);
        }
        coverage_add(&c, &t);
    }
    return c;
}

TEST(diff_order, simulated_drift) {
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        for (int fifths = 1; fifths <= 5; ++fifths) {
            struct coverage c = simulate(100 * seed, 10, 0.95, fifths / 5.0, 0);
            CHECK(coverage_of(&c, "drift of 0.95, 10 runs") >= 930);
            c = simulate(200 * seed, 10, 0.95, fifths / 5.0, 1);
            CHECK(coverage_of(&c, "drift of 0.95, 10 runs, alternating") >= 945);
        }
    }
}

/* Drift that is no model, and other numbers of runs. */
TEST(diff_order, other_drift) {
    struct coverage c = simulate(300, 10, 0.8, 1, 0);
    CHECK(coverage_of(&c, "drift of 0.8, 10 runs") >= 930);
    c = simulate(301, 10, 0.99, 1, 0);
    CHECK(coverage_of(&c, "drift of 0.99, 10 runs") >= 930);
    c = simulate(302, 20, 0.95, 0.7, 0);
    CHECK(coverage_of(&c, "drift of 0.95, 20 runs") >= 930);
    c = simulate(303, 5, 0.95, 0.7, 0);
    CHECK(coverage_of(&c, "drift of 0.95, 5 runs") >= 930);
    c = simulate(304, 5, 0.95, 1, 0);
    CHECK(coverage_of(&c, "drift of 0.95 only, 5 runs") >= 900);
}

/* Runs that are independent do not show that nothing drifts: their interval is wider, too. */
TEST(diff_order, independent_runs) {
    static const uint32_t runs[] = {3, 5, 10, 20};
    static const double widest[] = {1.7, 2.0, 2.4, 2.7};
    for (int i = 0; i < 4; ++i) {
        struct coverage c = simulate(400 + runs[i], runs[i], 0, 0, 0);
        CHECK(coverage_of(&c, "no drift") >= 950);
        CHECK(c.widened <= widest[i]);
        c = simulate(500 + runs[i], runs[i], 0, 0, 1);
        CHECK(c.widened <= 1);
    }
}

TEST(diff_order, what_alternates) {
    static const struct {
        const char *sides;
        uint64_t cancels;
    } orders[] = {{"AAABBB", 0},   {"BBBAAA", 0}, {"ABABAB", 1},    {"ABBAAB", 1},
                  {"AABBAABB", 1}, {"AB", 0},     {"AAAABBBBB", 0}, {"ABBABBABB", 1}};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; ++k) {
        struct trial t = {.runs = 0};
        uint32_t n = 0;
        for (; orders[k].sides[n]; ++n) {
            trial_set(&t, n, 0, 0);
            t.run[n].side = orders[k].sides[n] == 'B';
        }
        CHECK_EQ_U64((uint64_t)diff_order_cancels(t.run, n), orders[k].cancels);
    }
}

/* Sides with a long break between them may differ by more than their own runs show. */
TEST(diff_order, a_break_between_the_sides_is_wider) {
    struct trial t = {.runs = 5};
    for (uint32_t i = 0; i < 10; ++i) {
        trial_set(&t, i, (i * 7 % 5) * 0.01, 0);
    }
    double beside = diff_order_widen(t.run, 10);
    t.run[5].kept = diff_order_kept(1000);
    CHECK(diff_order_widen(t.run, 10) > 1.2 * beside);
}

TEST(diff_order, equal_values_are_not_wider) {
    struct trial t = {.runs = 5};
    for (uint32_t i = 0; i < 10; ++i) {
        trial_set(&t, i, 18.3, 0);
    }
    CHECK(trial_covers(&t));
    CHECK(t.widened <= 1);
}

HARNESS_MAIN()
