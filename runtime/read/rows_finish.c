/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the columns of rows from their sums: ticks become nanoseconds, and averages, shares, rates
 * and percentiles are computed. Numbers of a file may be anything.
 */
#include "rows_private.h"

#include <string.h>

#include "base/arithmetic.h"

const struct stint_row_extra stint_row_no_extra = {.bound = "",
                                                   .peak_bytes_ppm = ROW_UNKNOWN,
                                                   .peak_flops_ppm = ROW_UNKNOWN,
                                                   .ipc_ppm = ROW_UNKNOWN,
                                                   .branch_miss_ppm = ROW_UNKNOWN,
                                                   .l1_miss_ppm = ROW_UNKNOWN,
                                                   .llc_miss_ppm = ROW_UNKNOWN,
                                                   .dtlb_miss_ppm = ROW_UNKNOWN};

/* Any number of intervals of one thread may be open at once. Where they certainly were, their sum
 * says nothing about a part of the wall time. */
static int intervals_overlap(const struct snapshot *s, const struct group *from,
                             const struct stint_row *r) {
    double most = (double)s->wall_ns * (double)u64_max(r->threads, 1);
    return from->has_intervals && (double)r->total_ns > most;
}

static void fill_share(const struct snapshot *s, const struct group *from, struct stint_row *r) {
    r->share_ppm = 0;
    if (s->wall_ns) {
        r->share_ppm = snapshot_whole((double)r->total_ns * 1e6 / (double)s->wall_ns);
    }
    if (intervals_overlap(s, from, r)) {
        r->share_ppm = ROW_UNKNOWN;
    }
    if (s->wall_at_least) {
        r->has |= ROW_AT_MOST;
    }
}

static void finish_cpu(const struct grouping *g, struct group *from, struct stint_row *r) {
    const struct snapshot *s = g->s;
    struct spread spread;
    if (spread_read(g, &from->cpu, r->samples, &spread)) {
        r->has |= ROW_HISTOGRAM;
        for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
            r->percentile_ns[i] = snapshot_ns(s, spread.percentile[i]);
        }
        r->stddev_ns = snapshot_ns(s, spread.stddev);
    }
    r->total_ns = snapshot_ns(s, from->cpu.total);
    r->self_ns = snapshot_ns(s, from->self);
    r->first_ns = snapshot_ns(s, from->first);
    if (r->first_ns) {
        r->has |= ROW_FIRST;
    }
    if (r->samples) {
        /* Rounding, or a sample whose writer was preempted while it was counted, must not put the
         * average outside the bounds. */
        uint64_t up = r->total_ns / r->samples + (r->total_ns % r->samples != 0);
        r->has |= ROW_SAMPLES;
        r->avg_ns = r->total_ns / r->samples;
        r->min_ns = u64_clamp(snapshot_ns(s, from->cpu.min), 0, r->avg_ns);
        r->max_ns = u64_clamp(snapshot_ns(s, from->cpu.max), up, UINT64_MAX);
    }
    fill_share(s, from, r);
}

static void finish_open(const struct snapshot *s, const struct group_extra *from,
                        struct stint_row_extra *extra) {
    extra->open_ns = snapshot_ns(s, from->open);
    extra->open_all_ns = snapshot_ns(s, from->open_all);
    extra->open_self_ns = snapshot_ns(s, from->open_self);
}

static void finish_gpu(const struct grouping *g, struct group_extra *from, struct stint_row *r,
                       struct stint_row_extra *extra) {
    struct spread spread;
    if (!extra->gpu_calls) {
        return;
    }
    r->has |= ROW_GPU;
    if (spread_read(g, &from->gpu, extra->gpu_calls, &spread)) {
        r->has |= ROW_GPU_HISTOGRAM;
        memcpy(extra->gpu_percentile_ns, spread.percentile, sizeof extra->gpu_percentile_ns);
    }
    uint64_t total = from->gpu.total;
    uint64_t up = total / extra->gpu_calls + (total % extra->gpu_calls != 0);
    double both = (double)r->total_ns + (double)total;
    extra->gpu_total_ns = total;
    extra->gpu_avg_ns = total / extra->gpu_calls;
    extra->gpu_min_ns = u64_clamp(from->gpu.min, 0, extra->gpu_avg_ns);
    extra->gpu_max_ns = u64_clamp(from->gpu.max, up, UINT64_MAX);
    extra->gpu_share_ppm = 0;
    extra->cpu_share_ppm = 0;
    if (both > 0) {
        extra->gpu_share_ppm = (uint64_t)((double)total * 1e6 / both);
        extra->cpu_share_ppm = 1000000 - extra->gpu_share_ppm;
    }
}

/* Subtracts the cost from the times of a row that is complete. Its bounds, its rates and all other
 * numbers that are computed from its times stay as measured. */
static void finish_corrected(const struct grouping *g, const struct group *from,
                             const struct snapshot_cost *cost, struct stint_row *r) {
    const struct snapshot *s = g->s;
    r->total_ns = snapshot_ns(s, saturating_subtract(from->cpu.total, cost->all));
    r->self_ns = snapshot_ns(s, saturating_subtract(from->self, cost->own));
    if (r->samples) {
        r->avg_ns = r->total_ns / r->samples;
    }
    fill_share(s, from, r);
}

static void row_finish_extra(const struct grouping *g, struct group_extra *from,
                             struct stint_row *r, struct stint_row_extra *extra) {
    finish_open(g->s, from, extra);
    finish_gpu(g, from, r, extra);
    extra->waiting_ns = snapshot_ns(g->s, from->waiting);
    if (from->waiting) {
        r->has |= ROW_WAITING;
    }
    if (extra->device_calls) {
        r->has |= ROW_DEVICE;
    }
    measured_fill(r, extra);
    rates_fill(r, extra, from->bytes_per_s, from->flops_per_s);
}

void rows_finish(struct grouping *g) {
    for (uint32_t i = 0; i < g->rows->count; ++i) {
        struct stint_row *r = &g->rows->row[i];
        struct group *from = &g->groups[i];
        finish_cpu(g, from, r);
        if (from->extra) {
            row_finish_extra(g, &g->extras[from->extra - 1], r, &g->rows->extra[from->extra - 1]);
        }
        if (g->costs && r->has & ROW_CORRECTED) {
            finish_corrected(g, from, &g->costs[i], r);
        }
    }
}
