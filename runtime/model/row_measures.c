/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns that are made of several measures: usage of the processor and its counters, declared
 * bytes and operations over time. Called by rows_finish.c, where a row has any.
 */
#include "rows_private.h"

#include "base/arithmetic.h"

#define MOSTLY_WAITS_PPM 500000 /* a row with less CPU time is marked */

/* Numbers of a file may be anything. */
static uint64_t ppm_of(u128 part, u128 whole) {
    return snapshot_whole((double)part * 1e6 / (double)whole);
}

/* ROW_UNKNOWN where nothing can be said. */
static uint64_t ratio_of(const struct stint_row_extra *r, enum measure part, enum measure whole) {
    if (!r->measure[whole]) {
        return ROW_UNKNOWN;
    }
    return ppm_of(r->measure[part], r->measure[whole]);
}

/* A thread that waits for anything else gives the processor up, which is a voluntary switch.
 * Nothing is known from a kernel that counts neither. */
static int waited_for_processor_only(u128 waits, u128 preemptions) {
    return !waits && preemptions;
}

/* Whether the calls whose CPU time was read, which took `wall`, tell how the row's time was spent:
 * if they are half of it, but for the first call, which is never read. */
static int is_most_of_row(const struct stint_row *r, u128 wall) {
    return wall >= u128_subtract(r->total_ns, r->first_ns) / 2;
}

/* A node has one group or the other, rows of merged runs may have both. */
static void fill_usage(const struct snapshot *s, struct stint_row *r,
                       struct stint_row_extra *extra) {
    const u128 *value = extra->measure;
    u128 wall = value[MEASURE_USAGE_WALL_NS] + value[MEASURE_CPU_WALL_NS];
    extra->cpu_calls = value[MEASURE_USAGE_CALLS] + value[MEASURE_CPU_CALLS];
    extra->cpu_ns = value[MEASURE_USAGE_CPU_NS] + value[MEASURE_CPU_NS];
    u128 waits = value[MEASURE_WAITS] + value[MEASURE_CPU_WAITS];
    u128 preemptions = value[MEASURE_PREEMPTIONS] + value[MEASURE_CPU_PREEMPTIONS];
    if (!value[MEASURE_USAGE_CALLS] || !value[MEASURE_USAGE_WALL_NS]) {
        r->has &= ~ROW_USAGE; /* none since a reset */
    }
    r->has &= ~ROW_CPU;
    if (extra->cpu_calls && wall) {
        r->has |= ROW_CPU;
        extra->on_cpu_ppm = u64_min(ppm_of(extra->cpu_ns, wall), 1000000);
    }
    if (r->has & ROW_CPU && (s->is_format_4 || is_most_of_row(r, wall))) {
        r->has |= ROW_ON_CPU;
        extra->mostly_waits =
            extra->on_cpu_ppm < MOSTLY_WAITS_PPM && !waited_for_processor_only(waits, preemptions);
    }
}

/* A group of counters: its calls, two times, counters. Those are scaled by the time in which they
 * did not count, because the processor has too few. */
static void scale_group(struct stint_row *r, struct stint_row_extra *extra,
                        enum measure_group group) {
    struct measure_list list = measure_list_of(group);
    u128 *value = extra->measure;
    u128 calls = value[list.number[0]];
    u128 enabled = value[list.number[1]], running = value[list.number[2]];
    uint64_t flag = (uint64_t)1 << (ROW_MEASURES + group);
    if (!(r->has & flag)) {
        return;
    }
    if (!calls || !running) {
        r->has &= ~flag; /* it never counted */
        return;
    }
    r->has |= ROW_COUNTED;
    extra->counted_calls = u128_max(extra->counted_calls, calls);
    if (running >= enabled) {
        return;
    }
    r->has |= ROW_MULTIPLEXED;
    extra->multiplexed_ppm = u64_max(extra->multiplexed_ppm, ppm_of(enabled - running, enabled));
    for (uint32_t i = 3; i < list.count; ++i) {
        u128 *counted = &value[list.number[i]];
        *counted = snapshot_sum_whole((double)*counted * (double)enabled / (double)running);
    }
}

static void fill_counters(struct stint_row *r, struct stint_row_extra *extra) {
    for (uint32_t group = MEASURE_GROUP_CORE; group <= MEASURE_GROUP_SOFTWARE; ++group) {
        scale_group(r, extra, group);
    }
    extra->ipc_ppm = ratio_of(extra, MEASURE_INSTRUCTIONS, MEASURE_CYCLES);
    extra->branch_miss_ppm = ratio_of(extra, MEASURE_BRANCH_MISSES, MEASURE_BRANCHES);
    extra->l1_miss_ppm = ratio_of(extra, MEASURE_L1_MISSES, MEASURE_L1_LOADS);
    extra->llc_miss_ppm = ratio_of(extra, MEASURE_LLC_MISSES, MEASURE_LLC_LOADS);
    extra->dtlb_miss_ppm = ratio_of(extra, MEASURE_DTLB_MISSES, MEASURE_DTLB_LOADS);
}

void measured_fill(const struct snapshot *s, struct stint_row *r, struct stint_row_extra *extra) {
    if (extra->measure[MEASURE_QUEUE_CALLS]) {
        extra->queue_avg_ns =
            u128_narrow(extra->measure[MEASURE_QUEUE_NS] / extra->measure[MEASURE_QUEUE_CALLS]);
    }
    fill_usage(s, r, extra);
    fill_counters(r, extra);
    extra->memory_live = snapshot_memory_live(extra->measure);
}

/* ---- Rates. */

/* The average amount of a call over the average time: some calls may have no GPU time, or not yet.
 * Recursive calls do not count: they are part of the outermost one. */
static uint64_t rate_per_s(const struct stint_row *r, const struct stint_row_extra *extra,
                           u128 sum) {
    double calls = (double)u128_max(r->samples, 1);
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
