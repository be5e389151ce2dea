/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activities of GPUs: one row for what a scope of the merged file did on a device and stream
 * (several, where its sums do not fit into one), or, where threads are kept, a copy of each row.
 * Samples that a run took back are subtracted, but a copy has their row, too. Times count from the
 * start of a run, and which run began first is known at the end: until then they count from the
 * start of the merged clock, modulo 2^64.
 */
#include <stddef.h>
#include <string.h>

#include "arena/activity_kind.h"
#include "merge.h"
#include "model/activity_table.h"

#define MOMENT_ZERO ((uint64_t)1 << 63)

struct activity_key {
    struct arena_activity of;
    const uint64_t *number; /* to be added */
};

static int is_activity(struct merge *m, uint32_t unit, const void *wanted) {
    const struct activity_key *key = wanted;
    const struct arena_activity *a = merge_file_at(&m->file, unit), *of = &key->of;
    return a->kind == of->kind && a->detail == of->detail && a->name == of->name &&
           a->node == of->node && a->device == of->device && a->context == of->context &&
           a->stream == of->stream && merge_record_fits(&record_activity, a, key->number);
}

static uint32_t make_activity(struct merge *m, const void *wanted) {
    const struct activity_key *key = wanted;
    struct arena_header *h = merge_file_header(&m->file);
    uint32_t unit = merge_file_put(&m->file, &key->of, sizeof key->of);
    if (unit) {
        struct arena_activity *to = merge_file_at(&m->file, unit);
        merge_record_clear(&record_activity, to);
        to->next = h->first_activity;
        h->first_activity = unit;
    }
    return unit;
}

/* Adds one that began so many nanoseconds later than counted. Moments are modulo 2^64 until
 * merge_activities_finish: they are compared from half of that on. */
static void add_to_row(struct arena_activity *to, const struct snapshot_activity *a,
                       uint64_t later) {
    struct snapshot_activity have = {.count = 0}, more = *a;
    snapshot_activity_load(&have, to);
    if (!have.count) {
        have.first_at = UINT64_MAX - MOMENT_ZERO;
        have.last_at = 0 - MOMENT_ZERO;
    }
    have.first_at += MOMENT_ZERO;
    have.last_at += MOMENT_ZERO;
    more.first_at += later + MOMENT_ZERO;
    more.last_at += later + MOMENT_ZERO;
    struct activity_sum sum = {.of = have};
    numbers_widen(&record_activity, sum.number, have.number);
    activity_sum_add(&sum, &more);
    numbers_narrow(&record_activity, have.number, sum.number);
    have.first_at -= MOMENT_ZERO;
    have.last_at -= MOMENT_ZERO;
    numbers_store(&record_activity, have.number, to);
    to->varies = sum.of.varies;
    memcpy(to->shape, sum.of.shape, sizeof to->shape);
}

/* The first samples: they are read only if these are all. `have`: those before this run. */
static int add_samples(struct merge *m, struct merge_map *map, struct arena_activity *to,
                       const struct snapshot_activity *a, uint64_t have) {
    const struct snapshot *s = &map->run->snapshot;
    int has_sizes = a->byte_histogram != 0;
    const uint64_t before = offsetof(struct arena_sizes, histogram);
    uint64_t known = has_sizes ? before : sizeof(struct arena_samples);
    const struct arena_sizes *from = snapshot_at(s, a->samples, known);
    if (!from || a->taken_count || (have && !to->samples)) {
        to->samples = 0; /* not all are known */
        return 0;
    }
    struct arena_sizes *sizes = merge_file_need(
        &m->file, &to->samples, has_sizes ? before + sizeof(struct arena_pairs) : known);
    if (!sizes) {
        return -1;
    }
    for (uint64_t i = 0; i < a->count && have + i < ARENA_SAMPLES; ++i) {
        sizes->times.ns[have + i] = from->times.ns[i];
        if (has_sizes) {
            sizes->bytes[have + i] = from->bytes[i];
        }
    }
    uint32_t histogram = to->samples + (uint32_t)before / STINT_IMPL_UNIT;
    struct merge_samples bytes = {SNAPSHOT_NONE, a->byte_histogram, 0, 1};
    return has_sizes ? merge_histogram_add(m, map, &histogram, &bytes) : 0;
}

static int add_activity(struct merge *m, struct merge_map *map, const struct snapshot_activity *a,
                        uint64_t later) {
    struct activity_key key = {.of = {.kind = a->kind,
                                      .detail = a->detail,
                                      .node = merge_node_at(map, a->node),
                                      .device = merge_device_at(map, a->device),
                                      .context = a->context,
                                      .stream = a->stream},
                               .number = a->number};
    if (a->name_length) {
        key.of.name = merge_names_text(m, a->name, a->name_length);
        if (!key.of.name) {
            return -1;
        }
    }
    uint64_t h = hash_number((uint64_t)key.of.kind << 32 | key.of.detail);
    h = hash_add(h, (uint64_t)key.of.name << 32 | key.of.node);
    h = hash_add(h, (uint64_t)key.of.device << 32 | key.of.context);
    h = hash_add(h, key.of.stream);
    uint32_t unit = merge_find_or_make(m, MERGE_ACTIVITIES, h, is_activity, make_activity, &key);
    if (!unit) {
        return -1;
    }
    struct arena_activity *to = merge_file_at(&m->file, unit);
    struct merge_samples times = {SNAPSHOT_NONE, a->histogram, 0, 1};
    if (a->taken_count) {
        times.taken = a->taken_histogram;
    }
    if (merge_histogram_add(m, map, &to->histogram, &times) ||
        add_samples(m, map, to, a, to->seq / 2)) {
        return -1;
    }
    add_to_row(to, a, later);
    hash_map_set(&map->activity, a->unit, unit); /* there is room */
    return 0;
}

/* Samples that were taken back are copied as their row, which is subtracted again. */
static void restore_taken(struct snapshot_activity *a) {
    a->count += a->taken_count;
    a->total += a->taken_total;
    a->squares += a->taken_squares;
    a->taken_count = 0;
}

int merge_activities(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t later =
        merge_ns_between(m, m->clock.start.ticks, merge_tick(map, map->from->start.ticks));
    for (uint32_t i = 0; i < s->activity_count; ++i) { /* oldest first, as they were made */
        struct snapshot_activity a = s->activities[i];
        int is_row = a.kind != ACTIVITY_TAKEN_BACK && a.count;
        if (m->keep == MERGE_KEEP_THREADS) {
            restore_taken(&a);
            is_row = 1;
        }
        if (is_row && add_activity(m, map, &a, later)) {
            return -1;
        }
    }
    return 0;
}

void merge_activities_finish(struct merge *m) {
    uint64_t later = merge_ns_between(m, m->start.ticks, m->clock.start.ticks);
    uint32_t unit = merge_file_header(&m->file)->first_activity;
    while (unit) {
        struct arena_activity *a = merge_file_at(&m->file, unit);
        a->first_at += later;
        a->last_at += later;
        unit = a->next;
    }
}
