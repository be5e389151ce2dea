/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls whose durations are known, drawn with fixed seeds, and the histogram that the recorder has
 * of them.
 */
#ifndef STINT_TESTS_DISTRIBUTIONS_H
#define STINT_TESTS_DISTRIBUTIONS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/histogram.h"
#include "hand_test.h"

#define CALLS 1000u

enum shape {
    CONSTANT,
    BIMODAL,
    PARETO,
    SHORT,
    ZEROS,
    SPREAD,
    LOGNORMAL,
    UNIFORM,
    EXPONENTIAL,
    POWERS,
    HOURS, /* 1 to 2.4 */
    SHAPES,
    DAYS = SHAPES /* a tenth of the calls is longer than the grid of nanoseconds */
};

/* Uniform in [0, 1), the same numbers in every run. */
static inline double draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

static inline double draw_ns(enum shape shape, uint64_t *seed) {
    double u = draw(seed);
    switch (shape) {
    case CONSTANT:
        return 1e6;
    case BIMODAL:
        return u < 0.6 ? 1e3 : 1e6;
    case PARETO:
        return 100 * pow(1 - u, -1 / 1.2);
    case SHORT:
        return 1 + floor(19 * u);
    case ZEROS:
        return u < 0.7 ? 0 : 50;
    case SPREAD:
        return exp2(4 + 36 * u);
    case LOGNORMAL: /* Box and Muller */
        return 1e4 * exp(0.5 * sqrt(-2 * log(1 - u)) * cos(6.283185307 * draw(seed)));
    case UNIFORM:
        return 1e3 + 1e6 * u;
    case EXPONENTIAL:
        return -1e5 * log(1 - u);
    case POWERS:
        return exp2(floor(40 * u));
    case HOURS:
        return 3.6e12 * (1 + 1.4 * u);
    default:
        return u < 0.9 ? 1e9 : 3.6e15 * (1 + u);
    }
}

/* The true durations in ns, ascending. */
static double truth[CALLS];
static struct histogram recorded;

static inline int order_doubles(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static inline void record_calls(enum shape shape, double ns_per_tick, uint64_t *seed) {
    memset(&recorded, 0, sizeof recorded);
    for (uint32_t i = 0; i < CALLS; ++i) {
        uint64_t ticks = (uint64_t)(draw_ns(shape, seed) / ns_per_tick + 0.5);
        truth[i] = (double)ticks * ns_per_tick;
        if (ticks >= STINT_IMPL_LONG) {
            recorded.open = STINT_IMPL_BUCKETS;
            ticks = STINT_IMPL_LONG - 1;
        }
        ++recorded.bucket[stint_impl_bucket(ticks)];
    }
    qsort(truth, CALLS, sizeof *truth, order_doubles);
}

/* The duration that `permille` of 1000 calls do not exceed. */
static inline double true_percentile(uint32_t permille) {
    return truth[(CALLS * permille + 999) / 1000 - 1];
}

/* Starts a run with one scope that has the calls of the histogram. */
static inline void hand_calls(const struct histogram *h, double ns_per_tick) {
    hand_start(&hand);
    hand_node(&hand, hand_thread(&hand, 7, "t"), hand_named("n"), CALLS, CALLS, 1);
    for (uint32_t b = 0; b < STINT_IMPL_BUCKETS; ++b) {
        hand.histograms[1].bucket[b] = (uint32_t)h->bucket[b];
    }
    hand.histograms[1].open = h->open;
    hand.run.snapshot.ns_per_tick = ns_per_tick;
}

#endif
