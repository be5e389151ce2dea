/* SPDX-License-Identifier: Apache-2.0 */
/* The column stddev against the exact standard deviation of the same samples. One tick is one
 * nanosecond on the fake clock. */
#include <math.h>

#include "harness_threads.h"
#include "model/deviation.h"

#include "support.h"

#define SAMPLES 2000

static double random_part(uint64_t *state) {
    return (double)(random_next(state) >> 11) / 9007199254740992.0; /* 2^53 */
}

typedef uint64_t sample_fn(uint64_t *state, double scale);

static uint64_t constant(uint64_t *state, double scale) {
    (void)state;
    return (uint64_t)scale;
}

static uint64_t uniform(uint64_t *state, double scale) {
    return (uint64_t)(scale * random_part(state));
}

static uint64_t uniform_narrow(uint64_t *state, double scale) {
    return (uint64_t)(scale * (1 + 0.5 * random_part(state)));
}

/* A cache hit or a miss, each a tenth more or less. */
static uint64_t bimodal(uint64_t *state, double scale) {
    double mode = random_part(state) < 0.9 ? 1 : 20;
    return (uint64_t)(scale * mode * (0.9 + 0.2 * random_part(state)));
}

static uint64_t exponential(uint64_t *state, double scale) {
    return (uint64_t)(-scale * log(1 - random_part(state)));
}

/* Pareto with an exponent of 1.5, whose variance grows with the number of samples. */
static uint64_t heavy_tailed(uint64_t *state, double scale) {
    return (uint64_t)(scale * pow(1 - random_part(state), -1 / 1.5));
}

static uint64_t normal(uint64_t *state, double scale) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) {
        sum += random_part(state);
    }
    return (uint64_t)(scale * (1 + 0.2 * (sum - 6)));
}

static double exact_of(const uint64_t *samples, uint32_t count) {
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; ++i) {
        mean += (double)samples[i] / count;
    }
    for (uint32_t i = 0; i < count; ++i) {
        squares += ((double)samples[i] - mean) * ((double)samples[i] - mean);
    }
    return sqrt(squares / (count - 1));
}

static uint64_t stddev_in_table(const char *name) {
    static struct snapshot s;
    struct rows rows;
    uint64_t found = UINT64_MAX;
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    const struct stint_row *r = row_in(&rows, 0, name);
    if (CHECK(r && r->has & ROW_HISTOGRAM)) {
        found = r->stddev_ns;
    }
    interval_close(&s);
    return found;
}

static int within(uint64_t found, double exact, double share) {
    double off = fabs((double)found - exact);
    if (off > exact * share + 1) {
        fprintf(stderr, "found %llu, exact %.1f\n", (unsigned long long)found, exact);
        return 0;
    }
    return 1;
}

TEST(deviation, of_samples_of_many_distributions) {
    static const struct {
        const char *name;
        sample_fn *next;
    } kinds[] = {{"constant", constant}, {"uniform", uniform},         {"narrow", uniform_narrow},
                 {"bimodal", bimodal},   {"exponential", exponential}, {"heavy", heavy_tailed},
                 {"normal", normal}};
    static uint64_t samples[SAMPLES];
    uint64_t state = 88172645463325252u;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
        for (int scale = 500; scale < 100000000; scale *= 37) {
            char name[40];
            snprintf(name, sizeof name, "%s %d", kinds[k].name, scale);
            for (uint32_t i = 0; i < SAMPLES; ++i) {
                samples[i] = kinds[k].next(&state, scale);
                timed(name, samples[i]);
            }
            if (!CHECK(within(stddev_in_table(name), exact_of(samples, SAMPLES), 0.03))) {
                fprintf(stderr, "of %s\n", name);
            }
        }
    }
    timed("once", 100);
    CHECK_EQ_U64(stddev_in_table("once"), 0);
    timed("twice", 1000);
    timed("twice", 1010); /* in one bucket */
    CHECK_EQ_U64(stddev_in_table("twice"), 7);
}

/* Closer together than buckets are wide, or at a few values: within 5 % of the average. */
TEST(deviation, of_samples_that_are_close_together) {
    static uint64_t samples[SAMPLES];
    uint64_t state = 1181783497276652981u;
    for (uint64_t width = 0; width < 2000; width = width * 2 + 3) {
        for (uint64_t values = 2; values < 2000; values *= 5) {
            char name[40];
            double mean = 0;
            snprintf(name, sizeof name, "%u %u", (unsigned)width, (unsigned)values);
            for (uint32_t i = 0; i < SAMPLES; ++i) {
                samples[i] = 10000 + width * (random_next(&state) % values) / values;
                mean += (double)samples[i] / SAMPLES;
                timed(name, samples[i]);
            }
            double off = (double)stddev_in_table(name) - exact_of(samples, SAMPLES);
            CHECK(fabs(off) <= 0.05 * mean);
        }
    }
}

static uint64_t shared_samples[2 * SAMPLES];

/* The total tells that they are low in their buckets. */
TEST(deviation, of_values_at_the_edges_of_buckets) {
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        shared_samples[i] = i % 2 ? 20480 : 1024;
    }
    shared_samples[0] = 40000;
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        timed("a", shared_samples[i]);
    }
    CHECK(within(stddev_in_table("a"), exact_of(shared_samples, SAMPLES), 0.01));
}

TEST(deviation, of_values_in_one_bucket) {
    uint64_t state = 1442695040888963407u;
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        shared_samples[i] = 1024000 + uniform(&state, 24000);
        timed("a", shared_samples[i]);
    }
    CHECK(within(stddev_in_table("a"), exact_of(shared_samples, SAMPLES), 0.03));
}

static void *record_half(void *from) {
    const uint64_t *samples = from;
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        timed("merged", samples[i]);
        timed("merged elsewhere", samples[i]);
    }
    return NULL;
}

/* Two threads that are far apart: the row is not the mean of theirs. */
TEST(deviation, of_merged_rows) {
    uint64_t state = 2463534242u;
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        shared_samples[i] = uniform(&state, 2000);
        shared_samples[SAMPLES + i] = 50000 + uniform(&state, 9000);
    }
    record_half(shared_samples);
    thread_run(record_half, shared_samples + SAMPLES);
    CHECK(within(stddev_in_table("merged"), exact_of(shared_samples, 2 * SAMPLES), 0.03));
}

/* The deviation is that of the samples since the reset; its bounds are those of the histogram. */
TEST(deviation, after_a_reset) {
    uint64_t state = 4101842887655102017u;
    for (int i = 0; i < 100; ++i) {
        timed("a", 1000000000);
        timed("a", 1);
    }
    stint_reset();
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        shared_samples[i] = 1000 + uniform(&state, 20000);
        timed("a", shared_samples[i]);
    }
    CHECK(within(stddev_in_table("a"), exact_of(shared_samples, SAMPLES), 0.03));
}

static struct histogram h;

TEST(deviation, of_what_is_known_in_part) {
    struct deviation_known known = {.count = 0};
    CHECK_EQ_U64(deviation_of(&h, &known), 0);
    h.bucket[10] = 1;
    h.bucket[20] = 1;
    known = (struct deviation_known){.count = 2, .min = 10, .max = 20, .bounds_only = 1};
    CHECK_EQ_U64(deviation_of(&h, &known), 7); /* buckets of one value */
    known.total = 30;
    CHECK_EQ_U64(deviation_of(&h, &known), 7);
    known.bounds_only = 0;
    CHECK_EQ_U64(deviation_of(&h, &known), 7);
    known.total = UINT64_MAX; /* numbers of a file that do not belong together */
    CHECK(deviation_of(&h, &known) <= 10);
    known.total = 1;
    CHECK(deviation_of(&h, &known) <= 10);
}

TEST(deviation, roots) {
    static const double squares[] = {1e-300, 1e-9, 0.25, 1, 2, 3, 81, 1e6, 1e18, 7.3e26, 1e300};
    for (size_t i = 0; i < sizeof squares / sizeof *squares; ++i) {
        double exact = sqrt(squares[i]);
        CHECK(fabs(deviation_root(squares[i]) - exact) <= 1e-15 * exact);
    }
    CHECK(deviation_root(0) == 0 && deviation_root(-1) == 0 && deviation_root(NAN) == 0);
}
