/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the columns of rows from their sums: ticks become nanoseconds, and averages, shares, rates
 * and percentiles are computed. Numbers of a file may be anything.
 */
#include "rows_private.h"

#include <string.h>

#include "base/arithmetic.h"
#include "deviation.h"

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

struct row_sampled row_sampled(const struct stint_row *r, int gpu) {
    const struct stint_row_extra *e = r->extra;
    if (gpu) {
        return (struct row_sampled){e->gpu_calls, e->gpu_total_ns, (uint64_t)e->gpu_min_ns,
                                    (uint64_t)e->gpu_max_ns, e->gpu_beyond};
    }
    return (struct row_sampled){r->samples, r->total_ns, r->min_ns, r->max_ns, r->beyond};
}

int row_is_called(const struct stint_row *r) {
    return r->calls || r->extra->gpu_calls || r->extra->device_calls;
}

int row_is_beyond(const struct stint_row *r, struct row_field field) {
    static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;
    struct row_sampled of = row_sampled(r, field.in_extra);
    size_t first = field.in_extra ? offsetof(struct stint_row_extra, gpu_percentile_ns)
                                  : offsetof(struct stint_row, percentile_ns);
    size_t which = (field.at - first) / sizeof(uint64_t);
    if (!of.beyond || field.at < first || which >= PERCENTILE_COUNT ||
        row_number(r, field) == of.max_ns) {
        return 0;
    }
    uint64_t count = u128_narrow(of.count);
    return histogram_rank(count, permilles[which]) > saturating_subtract(count, of.beyond);
}

struct times rows_times(const struct grouping *g, const struct group *from) {
    struct times t = from->cpu;
    if (!t.in_ns) {
        return t;
    }
    const struct times *added = &g->extras[from->extra - 1].added;
    t.total = snapshot_sum_ns(g->s, t.total);
    t.min = t.min == UINT64_MAX ? t.min : snapshot_ns(g->s, (uint64_t)t.min);
    t.max = snapshot_ns(g->s, (uint64_t)t.max);
    t.first = snapshot_ns(g->s, (uint64_t)t.first);
    numbers_add_sums(&record_scope, t.number, added->number);
    t.loose |= added->loose;
    return t;
}

/* The own time of a row whose timed scopes have so many ticks of it. */
static u128 self_ns(const struct grouping *g, const struct group *from, u128 ticks) {
    u128 ns = snapshot_sum_ns(g->s, ticks);
    if (from->extra) {
        ns += g->extras[from->extra - 1].added_self;
    }
    return ns;
}

static void finish_cpu(const struct grouping *g, struct group *from, struct stint_row *r) {
    const struct snapshot *s = g->s;
    struct times t = rows_times(g, from);
    struct spread spread;
    r->samples = t.count;
    if (spread_read(g, &t, r->samples, &spread)) {
        r->has |= ROW_HISTOGRAM;
        for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
            r->percentile_ns[i] = times_ns(g, &t, spread.percentile[i]);
        }
        r->stddev_ns = times_ns(g, &t, spread.stddev);
        r->beyond = spread.beyond;
        r->has |= spread.beyond ? 0 : ROW_STDDEV;
    }
    if (t.in_ns && t.max > snapshot_ns(s, (uint64_t)from->cpu.max)) {
        r->info = ""; /* an added sample has none */
    }
    r->total_ns = times_sum_ns(g, &t);
    r->self_ns = self_ns(g, from, from->self);
    r->first_ns = times_ns(g, &t, (uint64_t)t.first);
    if (r->first_ns) {
        r->has |= ROW_FIRST;
    }
    if (r->samples) {
        r->has |= ROW_SAMPLES;
        r->min_ns = times_ns(g, &t, (uint64_t)t.min);
        r->max_ns = times_ns(g, &t, (uint64_t)t.max);
        r->avg_ns = mean_of(r->total_ns, r->samples, &r->min_ns, &r->max_ns);
    }
    fill_share(s, from, r);
}

static void finish_open(const struct snapshot *s, const struct group_extra *from,
                        struct stint_row_extra *extra) {
    extra->open_ns = snapshot_ns(s, from->open);
    extra->open_all_ns = snapshot_sum_ns(s, from->open_all);
    extra->open_self_ns = snapshot_sum_ns(s, from->open_self);
}

static void finish_gpu(const struct grouping *g, struct group_extra *from, struct stint_row *r,
                       struct stint_row_extra *extra) {
    struct spread spread;
    struct times *t = &from->gpu;
    if (!extra->gpu_calls) {
        r->has &= ~ROW_GPU;
        extra->gpu_total_ns = extra->gpu_min_ns = extra->gpu_max_ns = 0;
        return;
    }
    t->total = extra->gpu_total_ns;
    t->min = extra->gpu_min_ns;
    t->max = extra->gpu_max_ns;
    if (spread_read(g, t, extra->gpu_calls, &spread)) {
        r->has |= ROW_GPU_HISTOGRAM;
        memcpy(extra->gpu_percentile_ns, spread.percentile, sizeof extra->gpu_percentile_ns);
        extra->gpu_beyond = spread.beyond;
    }
    double both = (double)r->total_ns + (double)t->total;
    uint64_t min = (uint64_t)t->min, max = (uint64_t)t->max;
    extra->gpu_avg_ns = mean_of(t->total, extra->gpu_calls, &min, &max);
    extra->gpu_min_ns = min;
    extra->gpu_max_ns = max;
    if (both > 0) {
        extra->gpu_share_ppm = (uint64_t)((double)t->total * 1e6 / both);
        extra->cpu_share_ppm = 1000000 - extra->gpu_share_ppm;
    }
}

/* Subtracts the cost from the times of a row that is complete. Its bounds, its rates and all other
 * numbers that are computed from its times stay as measured. */
static void finish_corrected(const struct grouping *g, const struct group *from,
                             const struct row_cost *cost, struct stint_row *r) {
    const struct snapshot *s = g->s;
    u128 ticks = u128_subtract(from->cpu.total, cost->all);
    u128 left_out = u128_subtract(snapshot_sum_ns(s, from->cpu.total), snapshot_sum_ns(s, ticks));
    r->total_ns = u128_subtract(r->total_ns, left_out);
    r->self_ns = self_ns(g, from, u128_subtract(from->self, cost->own));
    if (r->samples) {
        r->avg_ns = u128_narrow(r->total_ns / r->samples);
    }
    fill_share(s, from, r);
}

static void row_finish_extra(const struct grouping *g, struct group_extra *from,
                             struct stint_row *r, struct stint_row_extra *extra) {
    finish_open(g->s, from, extra);
    finish_gpu(g, from, r, extra);
    extra->waiting_ns = snapshot_sum_ns(g->s, from->waiting);
    if (from->waiting) {
        r->has |= ROW_WAITING;
    }
    if (extra->device_calls) {
        r->has |= ROW_DEVICE;
    }
    measured_fill(g->s, r, extra);
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
