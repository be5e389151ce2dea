/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that full buckets had no room for: a recorder's bucket counts up to
 * STINT_IMPL_BUCKET_FULL. The recorder counts no loss there, as a full bucket costs a branch in
 * every call; the reader does: they are the samples of all records that share the histogram, less
 * those that it has.
 */
#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "samples.h"
#include "snapshot_parts.h"

/* A histogram, and the samples of the records that have it. */
struct full_sum {
    uint64_t samples;
    uint32_t unit;
    uint32_t thread;
};

struct full_sums {
    struct hash_map number_of;
    struct full_sum *sum;
};

static void full_add(struct full_sums *f, uint32_t unit, uint32_t thread, uint64_t samples) {
    uint32_t number = unit ? hash_map_number(&f->number_of, unit) : HASH_MAP_NONE;
    if (number != HASH_MAP_NONE) {
        f->sum[number].unit = unit;
        f->sum[number].thread = thread;
        f->sum[number].samples = saturating_add(f->sum[number].samples, samples);
    }
}

/* The samples that a node keeps itself are not in its histogram. */
static void full_add_node(struct full_sums *f, const struct snapshot *s,
                          const struct snapshot_node *n) {
    struct samples kept;
    samples_read(&kept, s, n);
    full_add(f, n->histogram, n->thread, saturating_subtract(n->count, kept.kept));
    full_add(f, n->extra->gpu.histogram, SNAPSHOT_NONE, n->measures->gpu_calls);
}

static int full_start(struct full_sums *f, struct snapshot *s) {
    uint64_t most = 2 * (uint64_t)s->node_count + s->activity_count;
    f->sum = scratch_array(&s->memory, most, sizeof *f->sum);
    hash_map_start(&f->number_of, &s->memory, most);
    return scratch_failed(&s->memory) ? -1 : 0;
}

static void full_collect(struct full_sums *f, const struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        full_add_node(f, s, &s->nodes[i]);
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        full_add(f, a->histogram, SNAPSHOT_NONE, saturating_add(a->count, a->taken_count));
    }
}

/* Most runs have fewer samples in all than a bucket has room for. */
static int full_is_possible(const struct snapshot *s) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        all = saturating_add(all, s->nodes[i].count);
        all = saturating_add(all, s->nodes[i].measures->gpu_calls);
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        all = saturating_add(all, s->activities[i].count);
    }
    return all >= STINT_IMPL_BUCKET_FULL;
}

int snapshot_count_full(struct snapshot *s) {
    uint64_t *lost = &s->lost[STINT_STATUS_FULL_BUCKET];
    struct full_sums f = {.sum = NULL};
    if (*lost || !full_is_possible(s)) {
        return 0;
    }
    struct histogram *read = scratch_get(&s->memory, sizeof *read);
    if (full_start(&f, s)) {
        return -1;
    }
    full_collect(&f, s);
    for (uint32_t i = 0; i < f.number_of.count; ++i) {
        const struct full_sum *sum = &f.sum[i];
        if (!snapshot_read_buckets(s, sum->thread, sum->unit, read) && read->full) {
            *lost = saturating_add(*lost, saturating_subtract(sum->samples, histogram_count(read)));
        }
    }
    return 0;
}
