/* SPDX-License-Identifier: Apache-2.0 */
/* The buckets of metrics: exponential ones, bounds and percentiles of single histograms. */
#include <math.h>

#include "base/histogram.h"
#include "hand_test.h"
#include "viewers/metrics.h"

static const double lengths[] = {0.2381, 1, 3.7, 41.6667};

/* A histogram with one bucket. */
static struct metric_histogram one_bucket(struct metric_bucket *b, uint32_t bucket, int gpu) {
    *b = (struct metric_bucket){bucket, 9};
    return (struct metric_histogram){.bucket = b, .buckets = 1, .gpu = gpu, .count = 9};
}

/* A value is within 3.7 % of the centre of the exponential bucket that it is counted in. */
TEST(metrics, exponential_buckets_are_near_the_recorders) {
    for (size_t u = 0; u < sizeof lengths / sizeof *lengths; ++u) {
        struct metrics m = {.ns_per_tick = lengths[u]};
        for (uint32_t b = 16; b < STINT_IMPL_BUCKETS; ++b) {
            struct metric_bucket bucket;
            struct metric_histogram h = one_bucket(&bucket, b, 0);
            struct metric_exponential x;
            CHECK(!metric_to_exponential(&x, &m, &h));
            CHECK_EQ_U64(x.length, 1);
            CHECK_EQ_U64(x.zero, 0);
            CHECK_EQ_U64(x.count[0], 9);
            double centre = 1e9 * exp2((x.offset + 0.5) / 64);
            for (int end = 0; end < 2; ++end) {
                double ns =
                    (double)(end ? histogram_low(b + 1) - 1 : histogram_low(b)) * lengths[u];
                CHECK(fabs(ns - centre) <= 0.037 * ns);
            }
        }
        scratch_free(&m.memory);
    }
}

TEST(metrics, zero_is_a_count_of_its_own) {
    struct metrics m = {.ns_per_tick = 1};
    struct metric_bucket bucket[2] = {{0, 4}, {100, 5}};
    struct metric_histogram h = {.bucket = bucket, .buckets = 2, .count = 9};
    struct metric_exponential x;
    CHECK(!metric_to_exponential(&x, &m, &h));
    CHECK_EQ_U64(x.zero, 4);
    CHECK_EQ_U64(x.length, 1);
    CHECK_EQ_U64(x.count[0], 5);
    h.buckets = 1;
    CHECK(!metric_to_exponential(&x, &m, &h));
    CHECK_EQ_U64(x.zero, 4);
    CHECK_EQ_U64(x.length, 0);
    scratch_free(&m.memory);
}

/* A bound lies between the last value of its bucket and the first of the next. */
TEST(metrics, bounds_are_between_values) {
    for (size_t u = 0; u < sizeof lengths / sizeof *lengths; ++u) {
        const struct metrics m = {.ns_per_tick = lengths[u]};
        for (uint32_t b = 0; b < STINT_IMPL_BUCKETS; ++b) {
            struct metric_bucket bucket;
            const struct metric_histogram h = one_bucket(&bucket, b, 0);
            double last = (double)(histogram_low(b + 1) - 1) * lengths[u];
            CHECK(metric_bound(&m, &h, b) > last);
            CHECK(metric_bound(&m, &h, b) < last + lengths[u]);
            CHECK(fabs(metric_middle(&m, &h, b) - histogram_middle(b) * lengths[u]) <
                  1e-6 * last + 1e-9);
        }
    }
}

/* Times of a GPU are nanoseconds, whatever the clock. */
TEST(metrics, times_on_a_gpu_are_nanoseconds) {
    const struct metrics m = {.ns_per_tick = 41.6667};
    struct metric_bucket bucket;
    const struct metric_histogram h = one_bucket(&bucket, 200, 1);
    CHECK(metric_middle(&m, &h, 200) == histogram_middle(200));
    CHECK_EQ_U64(metric_percentile(&m, &h, 990), (uint64_t)histogram_middle(200));
}

TEST(metrics, percentiles_as_in_reports) {
    const struct metrics m = {.ns_per_tick = 1};
    struct metric_bucket bucket[3] = {{10, 50}, {100, 40}, {300, 10}};
    const struct metric_histogram h = {.bucket = bucket, .buckets = 3, .count = 100};
    const struct metric_histogram none = {0};
    static struct histogram same;
    for (int i = 0; i < 3; ++i) {
        same.bucket[bucket[i].bucket] = bucket[i].count;
    }
    for (uint32_t permille = 1; permille <= 1000; ++permille) {
        CHECK_EQ_U64(metric_percentile(&m, &h, permille),
                     histogram_percentile(&same, 100, permille));
    }
    CHECK_EQ_U64(metric_percentile(&m, &none, 500), 0);
}

HARNESS_MAIN()
