/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard deviations, without the mathematics library.
 */
#ifndef STINT_DEVIATION_H
#define STINT_DEVIATION_H

#include <stdint.h>

#include "base/arithmetic.h"
#include "base/histogram.h"

/* Facts about samples that are known beside their histogram. */
struct deviation_known {
    uint64_t count; /* of the histogram */
    u128 total;     /* 0: not known */
    uint64_t min;
    uint64_t max;
    int bounds_only; /* min and max are bounds, not samples of the histogram */
};

/* The mean of `count` samples, between whose bounds it lies: rounding, or a sample whose writer was
 * preempted while it was counted, must not put it outside. */
uint64_t mean_of(u128 total, u128 count, uint64_t *min, uint64_t *max);
/* The standard deviation of exactly these. */
uint64_t deviation_exactly(const uint64_t *samples, uint32_t count);
/* The square root; 0 for a negative number. */
double deviation_root(double v);
/* The standard deviation of the samples in the histogram, in its unit: within 3 % where they are
 * spread over a tenth of the average or more. Of closer samples, or of a few distinct values, the
 * histogram does not tell where in their buckets they lie: it may be off by 5 % of the average. 0
 * for fewer than two samples. */
uint64_t deviation_of(const struct histogram *h, const struct deviation_known *known);

#endif
