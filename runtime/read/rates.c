/* SPDX-License-Identifier: Apache-2.0 */
#include "rates.h"

/* A second, for what one sample declared on average over the average time: some calls may have no
 * GPU time, or not yet. Samples, not calls: recursive ones lie inside their outermost. */
static uint64_t per_s(const struct stint_row *r, uint64_t sum) {
    double samples = (double)(r->samples ? r->samples : 1);
    double seconds = r->gpu_calls ? (double)r->gpu_total_ns / (double)r->gpu_calls / 1e9
                                  : (double)r->total_ns / samples / 1e9;
    return r->samples && seconds > 0 ? snapshot_whole((double)sum / samples / seconds) : 0;
}

static uint64_t share_of(uint64_t rate, uint64_t peak) {
    return peak ? snapshot_whole((double)rate * 1e6 / (double)peak) : ROW_UNKNOWN;
}

void rates_fill(struct stint_row *r, uint64_t peak_bytes_per_s, uint64_t peak_flops_per_s) {
    r->bytes_per_s = per_s(r, r->bytes);
    r->flops_per_s = per_s(r, r->flops);
    r->has |= r->bytes_per_s ? ROW_BYTES : 0;
    r->has |= r->flops_per_s ? ROW_FLOPS : 0;
    r->peak_bytes_ppm = r->gpu_calls ? share_of(r->bytes_per_s, peak_bytes_per_s) : ROW_UNKNOWN;
    r->peak_flops_ppm = r->gpu_calls ? share_of(r->flops_per_s, peak_flops_per_s) : ROW_UNKNOWN;
    if (r->bytes_per_s && r->flops_per_s && r->peak_bytes_ppm != ROW_UNKNOWN &&
        r->peak_flops_ppm != ROW_UNKNOWN) {
        r->has |= ROW_BOUND;
        r->bound = r->peak_bytes_ppm >= r->peak_flops_ppm ? "memory" : "compute";
    }
}
