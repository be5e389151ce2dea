/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of OTLP, JSON in one line.
 */
#ifndef STINT_EXPORT_OTLP_H
#define STINT_EXPORT_OTLP_H

#include "metrics.h"

/* An exponential histogram: index i counts values in (2^(i/2^s), 2^((i+1)/2^s)] seconds. */
#define METRIC_SCALE 6
struct metric_exponential {
    uint64_t zero;   /* samples of 0 */
    int32_t offset;  /* index of the first count */
    uint32_t length; /* 0: none */
    uint64_t *count; /* in the metrics' memory */
};
/* 0, or -1 without memory. */
int metric_to_exponential(struct metric_exponential *out, struct metrics *m,
                          const struct metric_series *h);

/* Writes metrics. explicit_bounds: those of the recorder's buckets; else exponential histograms.
 * 0, or -1 without memory. */
int otlp_put(struct sink *out, struct metrics *m, int explicit_bounds);

#endif
