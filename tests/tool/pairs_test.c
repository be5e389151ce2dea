/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential test of `stint ab` on simulated pairs, and on pairs of recorded runs: comparisons
 * of a program with itself end without a verdict that it is slower or faster, and known changes are
 * found.
 */
#include "harness.h"
#include "tool/diff/diff_math.h"

#include "pairs_noise.h"
#include "pairs_recorded.inc"

static int is_near(double a, double b, double by) {
    int is = fabs(a - b) <= by * fabs(b);
    if (!is) {
        dprintf(2, "%.12g is not %.12g\n", a, b);
    }
    return is;
}

struct pairs_vector {
    uint32_t count;
    double alpha;
    double change[12];
    double mean, half, p;
};

#include "pairs_vectors.inc"

/* The interval is where a numerical integral of the likelihood over the prior says: an independent
 * computation with SciPy, pairs_vectors.py. */
TEST(pairs, as_integrated_with_scipy) {
    for (size_t i = 0; i < sizeof pairs_vectors / sizeof *pairs_vectors; ++i) {
        const struct pairs_vector *v = &pairs_vectors[i];
        struct pairs_interval out;
        pairs_compare(&out, v->change, v->count, v->alpha, 0);
        CHECK(is_near(out.mean, v->mean, 1e-7));
        CHECK(is_near(out.half, v->half, 1e-5));
        CHECK(is_near(out.p, v->p, 1e-5));
    }
}

TEST(pairs, few_have_no_interval) {
    static const double change[] = {0.1, 0.1, 0.1001};
    struct pairs_interval out;
    pairs_compare(&out, change, 0, 0.05, 0);
    CHECK(out.half < 0 && out.p >= 1);
    pairs_compare(&out, change, 1, 0.05, 0);
    CHECK(out.half < 0 && is_near(out.mean, 0.1, 1e-12));
    CHECK_EQ_U64(pairs_verdict(&out, 0.01), PAIRS_UNDECIDED);
    pairs_compare(&out, change, 3, 0.0025, 0);
    CHECK_EQ_U64(pairs_verdict(&out, 0.01), PAIRS_UNDECIDED);
}

TEST(pairs, a_verdict_needs_a_change_of_interest) {
    struct pairs_interval i = {.mean = 0.02, .half = 0.005};
    CHECK_EQ_U64(pairs_verdict(&i, 0.01), PAIRS_SLOWER);
    i.mean = -0.02;
    CHECK_EQ_U64(pairs_verdict(&i, 0.01), PAIRS_FASTER);
    i.mean = 0.006; /* certainly slower, but not by the difference of interest */
    CHECK_EQ_U64(pairs_verdict(&i, 0.012), PAIRS_WITHIN);
    CHECK_EQ_U64(pairs_verdict(&i, 0.01), PAIRS_UNDECIDED);
    i.half = 0.02;
    CHECK_EQ_U64(pairs_verdict(&i, 0.01), PAIRS_UNDECIDED);
}

/* One pair far off neither hides a change nor makes one. */
TEST(pairs, a_disturbed_pair_decides_nothing) {
    double change[12];
    struct pairs_interval out;
    for (int i = 0; i < 12; ++i) {
        change[i] = 0.03 + (i % 3 - 1) * 0.002;
    }
    change[5] = -0.9;
    pairs_compare(&out, change, 12, 0.0025, 0);
    CHECK_EQ_U64(pairs_verdict(&out, 0.01), PAIRS_SLOWER);
    for (int i = 0; i < 12; ++i) {
        change[i] = (i % 3 - 1) * 0.002;
    }
    change[5] = 0.9;
    pairs_compare(&out, change, 12, 0.0025, 0);
    CHECK_EQ_U64(pairs_verdict(&out, 0.01), PAIRS_WITHIN);
}

/* The order of the pairs does not matter. */
TEST(pairs, the_order_is_no_part_of_it) {
    static const double a[] = {0.01, 0.03, -0.02, 0.5, 0.012, 0.011, 0.008, 0.01, 0.013};
    double b[9];
    struct pairs_interval one, two;
    for (int i = 0; i < 9; ++i) {
        b[i] = a[8 - i];
    }
    pairs_compare(&one, a, 9, 0.01, 0);
    pairs_compare(&two, b, 9, 0.01, 0);
    CHECK(is_near(one.mean, two.mean, 1e-12) && is_near(one.half, two.half, 1e-12));
}

/* Comparisons of a program with itself that end with any false verdict among 20 scopes. */
static uint32_t count_false(struct noise from, uint32_t comparisons) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < comparisons; ++i) {
        struct noise n = from;
        struct noise_result r = {0};
        n.random = from.random * 100000 + i;
        noise_compare(&r, &n, NOISE_PAIRS, 0.01, 0.05);
        wrong += r.slower || r.faster || r.verdict == PAIRS_SLOWER || r.verdict == PAIRS_FASTER;
    }
    if (getenv("V")) {
        printf("%u of %u comparisons are wrong\n", wrong, comparisons);
    }
    return wrong;
}

/* 5 % of 2 000. */
TEST(pairs, no_false_alarm_on_a_quiet_machine) {
    CHECK(count_false((struct noise){.random = 1, .run = 0.01}, 1000) <= 50);
    CHECK(count_false((struct noise){.random = 2, .run = 0.03}, 1000) <= 50);
}

TEST(pairs, no_false_alarm_on_a_busy_machine) {
    CHECK(count_false((struct noise){.random = 3, .run = 0.01, .disturbed = 1}, 1000) <= 50);
    CHECK(count_false((struct noise){.random = 4, .run = 0.05, .disturbed = 1}, 1000) <= 50);
}

static uint32_t count_found(double change, double run, int disturbed, uint32_t seed) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        struct noise n = {.random = seed * 100000 + i, .run = run, .disturbed = disturbed};
        struct noise_result r = {0};
        n.change = log1p(change);
        noise_compare(&r, &n, NOISE_PAIRS, 0.01, 0.05);
        found += r.verdict == PAIRS_SLOWER;
    }
    if (getenv("V")) {
        printf("%u of 200 found\n", found);
    }
    return found;
}

TEST(pairs, extra_work_is_found) {
    CHECK(count_found(0.05, 0.01, 0, 5) >= 198);
    CHECK(count_found(0.02, 0.01, 0, 6) >= 196);
    CHECK(count_found(0.05, 0.01, 1, 7) >= 190);
}

/* ---- Zeros. */

/* Comparisons of a number that is 0 in a share of the runs and else about 1, with itself, that
 * have a false verdict at any look: 5 % of 1 000, also of numbers that are all equal where they are
 * not 0. Or, if it is 0 in no run of side 1, that find this. */
TEST(pairs, zeros) {
    static const struct {
        double zeros, noise;
        uint32_t changed, least, most;
    } rows[] = {{0.02, 0, 0, 0, 50},       {0.5, 0, 0, 0, 50},       {0.98, 0, 0, 0, 50},
                {0.2, 0.05, 0, 0, 50},     {0.8, 0.05, 0, 0, 50},    {0.02, 0.5, 0, 0, 50},
                {0.5, 0.5, 0, 0, 50},      {0.98, 0.5, 0, 0, 50},    {1, 0, 1, 1000, 1000},
                {0.8, 0.05, 1, 990, 1000}, {0.5, 0.05, 1, 650, 1000}};
    for (uint32_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < 1000; ++i) {
            struct noise n = {.random = (10 + k) * 100000 + i};
            double change[NOISE_PAIRS], zeros = rows[k].zeros, noise = rows[k].noise;
            enum pairs_verdict v = PAIRS_UNDECIDED;
            for (uint32_t pairs = 0;
                 pairs < NOISE_PAIRS && v != PAIRS_SLOWER && v != PAIRS_FASTER;) {
                struct pairs_interval interval;
                double a = noise_uniform(&n) < zeros ? 0 : exp(noise * noise_normal(&n));
                double b = noise_uniform(&n) < zeros ? 0 : exp(noise * noise_normal(&n));
                change[pairs++] = (rows[k].changed ? 1 : b) - a;
                pairs_compare(&interval, change, pairs, 0.05, 1);
                v = pairs_verdict(&interval, 0.01);
            }
            found += v == PAIRS_SLOWER || (v == PAIRS_FASTER && !rows[k].changed);
        }
        if (getenv("V")) {
            printf("%u of 1000 with zeros\n", found);
        }
        CHECK(found >= rows[k].least && found <= rows[k].most);
    }
}

/* The bet on the signs is fair: before the next sign its wealth, 1 / p, is expected to stay. */
TEST(pairs, signs_are_a_fair_bet) {
    for (uint32_t up = 8; up < 40; ++up) {
        for (uint32_t down = 0; down <= up / 8; ++down) {
            double next = 0.5 / pairs_sign_p(up + 1, down) + 0.5 / pairs_sign_p(up, down + 1);
            CHECK(is_near(next, 1 / pairs_sign_p(up, down), 1e-9));
        }
    }
    CHECK(pairs_sign_p(6, 0) < 0.05 && pairs_sign_p(5, 0) > 0.05);
    CHECK(is_near(pairs_sign_p(3, 20), pairs_sign_p(20, 3), 1e-12));
}

/* ---- Recorded runs. */

#define BLOCK_PAIRS 10u
#define RECORDED_STEADY (RECORDED_SCOPES - 1) /* the scope that varies least */

/* A comparison of the recorded program with itself. Blocks of consecutive runs are drawn, so that
 * runs depend on those before them as they did on the machine; within a pair the order is random.
 * extra: logarithm of what the steady scope takes longer on side B. Returns whether any look had a
 * false verdict, about another scope if that one has extra work. */
static int compare_recorded(struct noise_result *r, struct noise *n, double extra) {
    static double change[RECORDED_SCOPES][NOISE_PAIRS];
    uint32_t at = 0;
    int wrong = 0;
    for (r->pairs = 0; r->pairs < NOISE_PAIRS;) {
        if (r->pairs % BLOCK_PAIRS == 0) {
            at = (uint32_t)(noise_uniform(n) * (RECORDED_RUNS - 2 * BLOCK_PAIRS + 1));
        }
        uint32_t b = noise_uniform(n) < 0.5;
        for (uint32_t i = 0; i < RECORDED_SCOPES; ++i) {
            uint32_t scope = (i + RECORDED_STEADY) % RECORDED_SCOPES;
            double ratio = recorded[at + b][scope] / recorded[at + !b][scope];
            change[i][r->pairs] = log(ratio) + (i ? 0 : extra);
        }
        at += 2;
        ++r->pairs;
        noise_judge(r, change, RECORDED_SCOPES, 0.01, 0.05);
        int first = r->verdict == PAIRS_SLOWER || r->verdict == PAIRS_FASTER;
        wrong |= r->slower || r->faster || (first && extra <= 0);
        if (noise_is_decided(r)) {
            break;
        }
    }
    return wrong;
}

/* 5 % of 2 000, at any look. */
TEST(pairs, no_false_alarm_of_recorded_runs) {
    uint32_t wrong = 0, decided = 0;
    for (uint32_t i = 0; i < 2000; ++i) {
        struct noise n = {.random = 800000 + i};
        struct noise_result r = {0};
        wrong += compare_recorded(&r, &n, 0) != 0;
        decided += noise_is_decided(&r) != 0;
    }
    if (getenv("V")) {
        printf("%u of 2000 comparisons are wrong, %u are decided\n", wrong, decided);
    }
    CHECK(wrong <= 100);
}

static uint32_t count_recorded(double extra, uint32_t *wrong) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < 200; ++i) {
        struct noise n = {.random = 900000 + i};
        struct noise_result r = {0};
        *wrong += compare_recorded(&r, &n, log1p(extra)) != 0;
        found += r.verdict == PAIRS_SLOWER;
    }
    if (getenv("V")) {
        printf("%.0f %%: %u of 200 found\n", extra * 100, found);
    }
    return found;
}

TEST(pairs, extra_work_in_recorded_runs_is_found) {
    uint32_t wrong = 0;
    CHECK(count_recorded(0.02, &wrong) >= 90);
    CHECK(count_recorded(0.05, &wrong) >= 198);
    CHECK(wrong <= 20);
}
