/* SPDX-License-Identifier: Apache-2.0 */
#include "rows_private.h"

#include "base/arithmetic.h"

/* The average amount of a call over the average time: some calls may have no GPU time, or not yet.
 * Recursive calls do not count: they are part of the outermost one. */
static uint64_t rate_per_s(const struct stint_row *r, uint64_t sum) {
    double calls = (double)u64_max(r->covered, 1);
    double seconds = (double)r->total_ns / calls / 1e9;
    if (r->gpu_calls) {
        seconds = (double)r->gpu_total_ns / (double)r->gpu_calls / 1e9;
    }
    if (r->samples && seconds > 0) {
        return snapshot_whole((double)sum / calls / seconds);
    }
    return 0;
}

static uint64_t rate_share(uint64_t rate, uint64_t peak) {
    if (peak) {
        return snapshot_whole((double)rate * 1e6 / (double)peak);
    }
    return ROW_UNKNOWN;
}

void rates_fill(struct stint_row *r, uint64_t peak_bytes_per_s, uint64_t peak_flops_per_s) {
    r->bytes_per_s = rate_per_s(r, r->bytes);
    r->flops_per_s = rate_per_s(r, r->flops);
    if (r->bytes_per_s) {
        r->has |= ROW_BYTES;
    }
    if (r->flops_per_s) {
        r->has |= ROW_FLOPS;
    }
    r->peak_bytes_ppm = ROW_UNKNOWN;
    r->peak_flops_ppm = ROW_UNKNOWN;
    if (r->gpu_calls) {
        r->peak_bytes_ppm = rate_share(r->bytes_per_s, peak_bytes_per_s);
        r->peak_flops_ppm = rate_share(r->flops_per_s, peak_flops_per_s);
    }
    if (r->bytes_per_s && r->flops_per_s && r->peak_bytes_ppm != ROW_UNKNOWN &&
        r->peak_flops_ppm != ROW_UNKNOWN) {
        r->has |= ROW_BOUND;
        r->bound = r->peak_bytes_ppm >= r->peak_flops_ppm ? "memory" : "compute";
    }
}
