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

#define RUNS_MAX 20u

/* Comparisons of a program with itself. */
struct trials {
    uint32_t runs; /* per side */
    int alternated;
    uint32_t covered, all; /* intervals that contain the truth */
    double widened;        /* mean */
};

static void trials_add(struct trials *t, const double *value) {
    struct diff_ordered run[2 * RUNS_MAX];
    double of_side[2][RUNS_MAX];
    uint32_t count[2] = {0, 0};
    struct diff_welch w;
    for (uint32_t i = 0; i < 2 * t->runs; ++i) {
        int side = t->alternated ? (int)(i % 2) : i >= t->runs;
        run[i] = (struct diff_ordered){value[i], i ? diff_order_kept(1) : 0, side};
        of_side[side][count[side]++] = value[i];
    }
    diff_welch(&w, of_side[0], t->runs, of_side[1], t->runs, 0);
    double widened = diff_order_widen(run, 2 * t->runs);
    t->covered += fabs(w.difference) <= widened * diff_student_t(0.05, w.freedom) * w.error;
    t->widened += (widened - t->widened) / ++t->all;
}

/* In thousandths. */
static uint32_t trials_coverage(const struct trials *t, const char *what) {
    if (getenv("V")) {
        printf("%s, %u runs%s: %u of %u, wider by %.2f\n", what, t->runs,
               t->alternated ? ", alternating" : "", t->covered, t->all, t->widened);
    }
    return 1000 * t->covered / t->all;
}

/* All disjoint blocks of recorded runs. */
TEST(diff_order, recorded_runs) {
    static const uint32_t runs[] = {3, 5, 10};
    for (int k = 0; k < 6; ++k) {
        struct trials t = {.runs = runs[k / 2], .alternated = k % 2};
        for (uint32_t at = 0; at + 2 * t.runs <= RECORDED_RUNS; at += 2 * t.runs) {
            for (uint32_t scope = 0; scope < RECORDED_SCOPES; ++scope) {
                double value[2 * RUNS_MAX];
                for (uint32_t i = 0; i < 2 * t.runs; ++i) {
                    value[i] = log(recorded[at + i][scope]);
                }
                trials_add(&t, value);
            }
        }
        CHECK(trials_coverage(&t, "recorded") >= (t.alternated ? 950 : 930));
    }
}

/* Drift with a correlation of `kept` between neighbours that is `share` of the variance; others
 * than 0.95 are no model. Runs that are independent do not show that nothing drifts: their interval
 * is wider, too. */
TEST(diff_order, simulated_drift) {
    static const struct {
        uint32_t runs;
        int alternated;
        double kept, share;
        uint32_t least;
        double widest;
    } rows[] = {
        {10, 0, 0.95, 0.2, 930, 3}, {10, 0, 0.95, 0.4, 930, 3}, {10, 0, 0.95, 0.6, 930, 3},
        {10, 0, 0.95, 0.8, 930, 3}, {10, 0, 0.95, 1, 930, 5},   {10, 1, 0.95, 0.2, 950, 1},
        {10, 1, 0.95, 0.6, 950, 1}, {10, 1, 0.95, 1, 950, 1},   {10, 0, 0.8, 1, 930, 5},
        {10, 0, 0.99, 1, 930, 5},   {20, 0, 0.95, 0.7, 930, 5}, {5, 0, 0.95, 0.7, 930, 3},
        {5, 0, 0.95, 1, 900, 3},    {3, 0, 0, 0, 950, 1.7},     {5, 0, 0, 0, 950, 2},
        {10, 0, 0, 0, 950, 2.4},    {20, 0, 0, 0, 950, 2.7},    {5, 1, 0, 0, 930, 1},
    };
    for (uint32_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        struct trials t = {.runs = rows[k].runs, .alternated = rows[k].alternated};
        struct noise n = {.random = (100 + k) * 1000003};
        double kept = rows[k].kept, share = rows[k].share, value[2 * RUNS_MAX];
        while (t.all < 1000) {
            double drift = noise_normal(&n);
            for (uint32_t i = 0; i < 2 * t.runs; ++i) {
                value[i] = sqrt(share) * drift + sqrt(1 - share) * noise_normal(&n);
                drift = kept * drift + sqrt(1 - kept * kept) * noise_normal(&n);
            }
            trials_add(&t, value);
        }
        CHECK(trials_coverage(&t, "simulated") >= rows[k].least);
        CHECK(t.widened <= rows[k].widest);
    }
}

TEST(diff_order, what_alternates) {
    static const char *const orders[2][4] = {{"AAABBB", "BBBAAA", "AAAABBBBB", "AB"},
                                             {"ABABAB", "ABBAAB", "AABBAABB", "ABBABBABB"}};
    for (int k = 0; k < 8; ++k) {
        const char *sides = orders[k / 4][k % 4];
        struct diff_ordered run[16];
        uint32_t n = 0;
        for (; sides[n]; ++n) {
            run[n] = (struct diff_ordered){0, n ? diff_order_kept(1) : 0, sides[n] == 'B'};
        }
        CHECK(diff_order_cancels(run, n) == k / 4);
    }
}

TEST(diff_order, equal_values_are_not_wider) {
    double value[] = {18.3, 18.3, 18.3, 18.3, 18.3, 18.3};
    struct trials t = {.runs = 3};
    trials_add(&t, value);
    CHECK(t.covered && t.widened <= 1);
}
