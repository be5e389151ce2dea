/* SPDX-License-Identifier: Apache-2.0 */
#include "rows_private.h"

#include "base/arithmetic.h"

/* The average amount of a call over the average time: some calls may have no GPU time, or not yet.
 * Recursive calls do not count: they are part of the outermost one. */
static uint64_t rate_per_s(const struct stint_row *r, const struct stint_row_extra *extra,
                           uint64_t sum) {
    double calls = (double)u64_max(r->samples, 1);
    double seconds = (double)r->total_ns / calls / 1e9;
    if (extra->gpu_calls) {
        seconds = (double)extra->gpu_total_ns / (double)extra->gpu_calls / 1e9;
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

void rates_fill(struct stint_row *r, struct stint_row_extra *extra, uint64_t peak_bytes_per_s,
                uint64_t peak_flops_per_s) {
    extra->bytes_per_s = rate_per_s(r, extra, extra->bytes);
    extra->flops_per_s = rate_per_s(r, extra, extra->flops);
    if (extra->bytes_per_s) {
        r->has |= ROW_BYTES;
    }
    if (extra->flops_per_s) {
        r->has |= ROW_FLOPS;
    }
    extra->peak_bytes_ppm = ROW_UNKNOWN;
    extra->peak_flops_ppm = ROW_UNKNOWN;
    if (extra->gpu_calls) {
        extra->peak_bytes_ppm = rate_share(extra->bytes_per_s, peak_bytes_per_s);
        extra->peak_flops_ppm = rate_share(extra->flops_per_s, peak_flops_per_s);
    }
    if (extra->bytes_per_s && extra->flops_per_s && extra->peak_bytes_ppm != ROW_UNKNOWN &&
        extra->peak_flops_ppm != ROW_UNKNOWN) {
        r->has |= ROW_BOUND;
        extra->bound = extra->peak_bytes_ppm >= extra->peak_flops_ppm ? "memory" : "compute";
    }
}
