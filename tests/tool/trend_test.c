/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points of simulated series with fixed seeds, of series whose changes SciPy computed, and
 * of the series that Apache Otava publishes with its tests.
 */
#include <math.h>

#include "harness.h"
#include "tool/trend/trend_math.h"

#define VALUES 1000u

struct trend_vector {
    uint32_t count;
    double value[400];
    uint32_t changes;
    struct {
        uint32_t at;
        double p, before, after;
    } change[4];
};

#include "trend_vectors.inc"

struct series {
    uint64_t random;
    double value[VALUES];
    struct trend_change change[TREND_CHANGES];
    uint32_t changes;
};

static double draw_uniform(struct series *s) {
    s->random = s->random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (double)(s->random >> 11) / 9007199254740992.0;
}

/* Noise of 1 %; a sum of twelve is as normal as a test needs. */
static double draw_time(struct series *s) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) {
        sum += draw_uniform(s);
    }
    return 1e7 * (1 + 0.01 * sum);
}

static void find(struct series *s, uint32_t count) {
    static double work[4 * (VALUES + 1)];
    s->changes = trend_find(s->change, s->value, count, work);
}

/* A series whose values from..to - 1 are larger by that share. */
static void simulate(struct series *s, uint64_t seed, uint32_t count, double by, uint32_t from,
                     uint32_t to) {
    s->random = seed;
    for (uint32_t i = 0; i < count; ++i) {
        double factor = i >= from && i < to ? 1 + by : 1;
        s->value[i] = log(draw_time(s) * factor);
    }
    find(s, count);
}

static int is_near(const struct series *s, uint32_t at, uint32_t by) {
    for (uint32_t i = 0; i < s->changes; ++i) {
        if (s->change[i].at + by >= at && s->change[i].at <= at + by) {
            return 1;
        }
    }
    return 0;
}

static int is_almost(double a, double b) {
    return fabs(a - b) <= 1e-6 * fabs(b);
}

TEST(trend, as_computed_with_scipy) {
    for (size_t i = 0; i < sizeof trend_vectors / sizeof *trend_vectors; ++i) {
        const struct trend_vector *v = &trend_vectors[i];
        struct series s;
        memcpy(s.value, v->value, sizeof v->value);
        find(&s, v->count);
        CHECK_EQ_U64(s.changes, v->changes);
        for (uint32_t k = 0; k < v->changes; ++k) {
            CHECK_EQ_U64(s.change[k].at, v->change[k].at);
            CHECK(is_almost(s.change[k].p, v->change[k].p) || v->change[k].p < 1e-14);
            CHECK(is_almost(s.change[k].before, v->change[k].before));
            CHECK(is_almost(s.change[k].after, v->change[k].after));
        }
    }
}

/* The series of Apache Otava's tests (tests/series_test.py), with the changes that it expects. */
TEST(trend, as_in_the_tests_of_otava) {
    static const double one[] = {1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55};
    static const double two[] = {2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78};
    struct series s;
    for (int i = 0; i < 11; ++i) {
        s.value[i] = log(one[i]);
    }
    find(&s, 11);
    CHECK_EQ_U64(s.changes, 1);
    CHECK_EQ_U64(s.change[0].at, 6);
    for (int i = 0; i < 11; ++i) {
        s.value[i] = log(two[i]);
    }
    find(&s, 11);
    CHECK_EQ_U64(s.changes, 1);
    CHECK_EQ_U64(s.change[0].at, 4);
}

/* Counts, of 1 000 series of 40 runs with a step at run 25, those in which the step is found, and
 * those in which it is found within two runs. */
static void count_steps(double by, uint32_t *found, uint32_t *near) {
    *found = *near = 0;
    for (uint64_t i = 0; i < 1000; ++i) {
        struct series s;
        simulate(&s, 1000 + i, 40, by, 24, 40);
        *found += s.changes != 0;
        *near += is_near(&s, 24, 2) != 0;
    }
    if (getenv("V")) {
        printf("%.1f %%: %u of 1000 found, %u within two runs\n", by * 100, *found, *near);
    }
}

/* At least 97 % of the steps are found, 88 % of them within two runs. */
TEST(trend, a_small_step_is_found) {
    uint32_t found, near;
    count_steps(0.02, &found, &near);
    CHECK(found >= 970);
    CHECK(near >= 880);
}

/* Steps that a comparison of five runs with five does not show. */
TEST(trend, a_smaller_step_is_found_more_often_than_not) {
    uint32_t found, near;
    count_steps(0.015, &found, &near);
    CHECK(found >= 600);
    CHECK(near >= 500);
    count_steps(0.01, &found, &near);
    CHECK(found >= 100);
}

static uint32_t count_false(uint64_t seed, uint32_t length, uint32_t series) {
    uint32_t found = 0;
    for (uint64_t i = 0; i < series; ++i) {
        struct series s;
        simulate(&s, seed + i, length, 0, 0, 0);
        found += s.changes != 0;
    }
    if (getenv("V")) {
        printf("%u of %u false\n", found, series);
    }
    return found;
}

TEST(trend, no_step_is_none) {
    CHECK(count_false(900000, 40, 1000) <= 10);
    CHECK(count_false(600000, 8, 1000) <= 10);
    CHECK(count_false(700000, 1000, 100) <= 1);
}

/* Single runs that are far off are no change, and hide none. */
TEST(trend, a_disturbed_run_is_no_change) {
    uint32_t wrong = 0, found = 0;
    for (uint64_t i = 0; i < 200; ++i) {
        struct series s;
        simulate(&s, 40000 + i, 40, 0, 0, 0);
        s.value[39] += 0.5;
        s.value[11] += 0.3;
        find(&s, 40);
        wrong += s.changes != 0;
        simulate(&s, 50000 + i, 40, 0.03, 20, 40);
        s.value[5] += 0.5;
        s.value[30] += 0.5;
        find(&s, 40);
        found += is_near(&s, 20, 2) != 0;
    }
    if (getenv("V")) {
        printf("%u wrong, %u of 200 found\n", wrong, found);
    }
    CHECK(wrong <= 2);
    CHECK(found >= 190);
}

/* A change that a later one undid is marked. */
TEST(trend, a_change_that_went_away_is_marked) {
    uint32_t marked = 0;
    for (uint64_t i = 0; i < 100; ++i) {
        struct series s;
        simulate(&s, 800000 + i, 60, 0.06, 20, 40);
        marked += s.changes == 2 && s.change[0].back == 2 && !s.change[1].back;
    }
    CHECK(marked >= 90);
    struct series s;
    simulate(&s, 1, 40, 0.06, 20, 40);
    CHECK_EQ_U64(s.changes, 1);
    CHECK_EQ_U64(s.change[0].back, 0);
    CHECK(fabs(s.change[0].after - s.change[0].before - log(1.06)) < 0.015);
}

TEST(trend, few_or_equal_values_have_no_change) {
    struct series s;
    for (int i = 0; i < 40; ++i) {
        s.value[i] = i < 4 ? 1 : 2;
    }
    find(&s, 7);
    CHECK_EQ_U64(s.changes, 0);
    find(&s, 8);
    CHECK_EQ_U64(s.changes, 1);
    CHECK_EQ_U64(s.change[0].at, 4);
    for (int i = 0; i < 40; ++i) {
        s.value[i] = 3;
    }
    find(&s, 40);
    CHECK_EQ_U64(s.changes, 0);
}

/* More steps than there is room for end the search. */
TEST(trend, many_changes_are_bounded) {
    struct series s;
    for (uint32_t i = 0; i < VALUES; ++i) {
        s.value[i] = (i / 5) % 2 ? 2 + 1e-3 * (i % 3) : 1 + 1e-3 * (i % 3);
    }
    find(&s, VALUES);
    CHECK(s.changes <= TREND_CHANGES);
}

HARNESS_MAIN()
