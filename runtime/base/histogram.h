/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading histograms: the recorder's log-linear buckets, summed over threads.
 */
#ifndef STINT_HISTOGRAM_H
#define STINT_HISTOGRAM_H

#include <stdint.h>

#include "stint/detail/impl_layout.h"

struct histogram {
    uint64_t bucket[STINT_IMPL_BUCKETS];
};

/* The lowest value of a bucket; of STINT_IMPL_BUCKETS: one past the last. */
uint64_t histogram_low(uint32_t bucket);
double histogram_middle(uint32_t bucket);
uint64_t histogram_count(const struct histogram *h);
/* The value that `permille` of 1000 samples do not exceed: the middle of its bucket. 0 if empty. */
uint64_t histogram_percentile(const struct histogram *h, uint64_t count, uint32_t permille);
/* The counts of buckets whose values count `unit` ns each, on the grid of nanoseconds: the same
 * bounds in every run, whatever its clock. A bucket goes as a whole to the place of its middle:
 * the middle of that place is within 6.4 % of each value. */
void histogram_to_ns(struct histogram *out, const struct histogram *from, double unit);
/* Bounds of all samples, from the lowest and highest bucket in use; 0 if empty. */
uint64_t histogram_min(const struct histogram *h);
uint64_t histogram_max(const struct histogram *h);

#endif
