/* SPDX-License-Identifier: Apache-2.0 */
/* What rows.c calls in rows_device.c, rates.c and row_measures.c. */
#ifndef STINT_ROWS_PRIVATE_H
#define STINT_ROWS_PRIVATE_H

#include "rows.h"

/* What a node's scopes and those nested in them had done on GPUs, as a tracer saw it: kernels,
 * copies and fills. */
struct device_work {
    uint64_t count;
    uint64_t total; /* nanoseconds, added up: what ran side by side counts twice */
};

/* By node, in the snapshot's memory; NULL where nothing was seen. 0, or -1 without memory. */
int rows_device(struct device_work **out, struct snapshot *s);
static inline struct device_work rows_device_of(const struct device_work *work, uint32_t node) {
    return work ? work[node] : (struct device_work){0, 0};
}

/* ---- row_measures.c: columns made of several measures. */

/* From a row's measures. */
void measured_fill(struct stint_row *r);

/* ---- rates.c: declared bytes and operations over time, and how near that comes to what the device
 * can do. */

/* From a row's sums; the peaks of the device its GPU time is of, 0 = unknown. */
void rates_fill(struct stint_row *r, uint64_t peak_bytes_per_s, uint64_t peak_flops_per_s);

#endif
