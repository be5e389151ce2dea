/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds up the activities of GPUs and the source lines of runs, where merge_activity.c and
 * merge_lines.c copy them: one row for what a scope of the merged file did on a device and stream,
 * and one table for a source file. Samples that a run took back are subtracted here.
 */
#include <string.h>

#include "arena/activity_kind.h"
#include "base/api.h"
#include "base/arithmetic.h"
#include "merge.h"
#include "read/activity_table.h"
#include "read/line_rows.h"
#include "stint/lines.h"

#define MOMENT_ZERO ((uint64_t)1 << 63)

/* ---- Activities. */

static int is_activity(const struct arena_activity *a, const struct arena_activity *key) {
    return a->kind == key->kind && a->detail == key->detail && a->name == key->name &&
           a->node == key->node && a->device == key->device && a->context == key->context &&
           a->stream == key->stream;
}

/* The merged row of that key; 0 without memory. */
static uint32_t find_or_add_activity(struct merge *m, const struct arena_activity *key) {
    uint64_t h = hash_number((uint64_t)key->kind << 32 | key->detail);
    h = hash_add(h, (uint64_t)key->name << 32 | key->node);
    h = hash_add(h, (uint64_t)key->device << 32 | key->context);
    h = hash_add(h, key->stream);
    struct hash_map_walk walk;
    uint32_t unit = hash_map_first(&m->sum.activities, (uint32_t)h, &walk);
    while (unit != HASH_MAP_NONE && !is_activity(merge_file_at(&m->file, unit), key)) {
        unit = hash_map_next(&m->sum.activities, &walk);
    }
    if (unit != HASH_MAP_NONE) {
        return unit;
    }
    struct arena_header *h0 = merge_file_header(&m->file);
    uint64_t nothing[ACTIVITY_NUMBERS];
    numbers_clear(&record_activity, nothing);
    unit = merge_file_get(&m->file, sizeof *key);
    if (!unit || hash_map_add(&m->sum.activities, (uint32_t)h, unit)) {
        return 0;
    }
    struct arena_activity *to = merge_file_at(&m->file, unit);
    *to = *key;
    numbers_store(&record_activity, nothing, to);
    to->next = h0->first_activity;
    h0->first_activity = unit;
    return unit;
}

/* Adds one that began so many nanoseconds later than counted. Moments are modulo 2^64 until
 * merge_activities_finish: they are compared from half of that on. */
static void add_to_row(struct arena_activity *to, const struct snapshot_activity *a,
                       uint64_t later) {
    struct snapshot_activity sum = {.count = 0}, more = *a;
    snapshot_activity_load(&sum, to);
    if (!sum.count) {
        sum.first_at = UINT64_MAX - MOMENT_ZERO;
        sum.last_at = 0 - MOMENT_ZERO;
    }
    sum.first_at += MOMENT_ZERO;
    sum.last_at += MOMENT_ZERO;
    more.first_at += later + MOMENT_ZERO;
    more.last_at += later + MOMENT_ZERO;
    activity_row_add(&sum, &more);
    sum.count = u64_min(sum.count, UINT64_MAX / 2);
    sum.first_at -= MOMENT_ZERO;
    sum.last_at -= MOMENT_ZERO;
    merge_activity_store(to, &sum);
}

/* The histogram of times, without the samples that were taken back. */
static int add_activity_histogram(struct merge *m, const struct merge_map *map,
                                  struct arena_activity *to, const struct snapshot_activity *a) {
    struct stint_impl_histogram *from = &m->sum.read, *taken = &m->sum.taken;
    const struct snapshot *s = &map->run->snapshot;
    if (!a->histogram || merge_read_buckets(map, SNAPSHOT_NONE, a->histogram, from)) {
        return 0;
    }
    if (!to->histogram) {
        to->histogram = merge_file_get(&m->file, sizeof(struct stint_impl_histogram));
    }
    if (!to->histogram) {
        return -1;
    }
    if (a->taken_count && !snapshot_read_buckets(s, SNAPSHOT_NONE, a->taken_histogram, taken)) {
        for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
            from->bucket[i] -= (uint32_t)u64_min(from->bucket[i], taken->bucket[i]);
        }
    }
    struct stint_impl_histogram *h = merge_file_at(&m->file, to->histogram);
    merge_sum_buckets(&m->sum, h, from, 1);
    return 0;
}

/* The first samples: they are read only if these are all. `have`: those before this run. */
static int add_samples(struct merge *m, const struct merge_map *map, struct arena_activity *to,
                       const struct snapshot_activity *a, uint64_t have) {
    const struct snapshot *s = &map->run->snapshot;
    size_t bytes = sizeof(struct arena_samples), known = bytes;
    if (a->byte_histogram) {
        bytes = sizeof(struct arena_sizes);
        known = snapshot_sizes_bytes(s);
    }
    const struct arena_sizes *from = snapshot_at(s, a->samples, known);
    if (!from || a->taken_count || (have && !to->samples)) {
        to->samples = 0; /* not all are known */
        return 0;
    }
    if (!to->samples) {
        to->samples = merge_file_get(&m->file, bytes);
    }
    if (!to->samples) {
        return -1;
    }
    struct arena_sizes *sizes = merge_file_at(&m->file, to->samples);
    for (uint64_t i = 0; i < a->count && i < ARENA_SAMPLES && have + i < ARENA_SAMPLES; ++i) {
        sizes->times.ns[have + i] = from->times.ns[i];
        if (a->byte_histogram) {
            sizes->bytes[have + i] = from->bytes[i];
        }
    }
    if (a->byte_histogram &&
        !merge_read_buckets(map, SNAPSHOT_NONE, a->byte_histogram, &m->sum.read)) {
        merge_sum_buckets(&m->sum, &sizes->histogram, &m->sum.read, 1);
    }
    return 0;
}

static int sum_activity(struct merge *m, struct merge_map *map, const struct snapshot_activity *a,
                        uint64_t later) {
    struct arena_activity key = {.kind = a->kind,
                                 .detail = a->detail,
                                 .node = merge_node_at(map, a->node),
                                 .device = merge_device_at(map, a->device),
                                 .context = a->context,
                                 .stream = a->stream};
    if (a->name_length) {
        key.name = merge_names_text(&m->names, a->name, a->name_length);
        if (!key.name) {
            return -1;
        }
    }
    uint32_t unit = find_or_add_activity(m, &key);
    if (!unit) {
        return -1;
    }
    struct arena_activity *to = merge_file_at(&m->file, unit);
    uint64_t have = to->seq / 2;
    if (add_activity_histogram(m, map, to, a) || add_samples(m, map, to, a, have)) {
        return -1;
    }
    add_to_row(to, a, later);
    return 0;
}

int merge_sum_activities(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t later =
        merge_ns_between(m, m->clock.start.ticks, merge_tick(map, map->from->start.ticks));
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind != ACTIVITY_TAKEN_BACK && a->count && sum_activity(m, map, a, later)) {
            return -1;
        }
    }
    return 0;
}

/* ---- Source lines. */

static struct stint_impl_line_cell *cells_of(struct arena_lines *lines) {
    return (void *)((char *)lines + arena_lines_cells_at(lines->count));
}

static int is_table(const struct arena_lines *have, const struct arena_lines *key,
                    const uint32_t *numbers) {
    return have->thread == key->thread && have->file == key->file &&
           have->content == key->content && have->count == key->count &&
           !memcmp(have + 1, numbers, key->count * sizeof *numbers);
}

/* The merged table of that key; 0 without memory. */
static uint32_t find_or_add_lines(struct merge *m, const struct arena_lines *key,
                                  const uint32_t *numbers) {
    struct arena_header *header = merge_file_header(&m->file);
    uint64_t h = hash_number((uint64_t)key->file << 32 | key->content);
    uint32_t hash = (uint32_t)hash_add(h, (uint64_t)key->thread << 32 | key->count);
    struct hash_map_walk walk;
    uint32_t unit = hash_map_first(&m->sum.lines, hash, &walk);
    while (unit != HASH_MAP_NONE && !is_table(merge_file_at(&m->file, unit), key, numbers)) {
        unit = hash_map_next(&m->sum.lines, &walk);
    }
    if (unit != HASH_MAP_NONE) {
        return unit;
    }
    uint64_t cells = (uint64_t)key->count * sizeof(struct stint_impl_line_cell);
    unit = merge_file_get(&m->file, arena_lines_cells_at(key->count) + cells);
    if (!unit || hash_map_add(&m->sum.lines, hash, unit)) {
        return 0;
    }
    struct arena_lines *to = merge_file_at(&m->file, unit);
    *to = *key;
    memcpy(to + 1, numbers, key->count * sizeof *numbers);
    to->next = header->first_lines;
    header->first_lines = unit;
    return unit;
}

static int sum_lines(struct merge *m, const struct merge_map *map, const struct line_table *from) {
    struct arena_lines key = {.count = from->count};
    uint32_t thread = hash_map_get(&map->thread, from->thread);
    if (thread != HASH_MAP_NONE) {
        key.thread = thread;
    }
    key.file = merge_names_text(&m->names, from->name, from->length);
    if (from->content) {
        key.content = merge_names_text(&m->names, from->content, from->content_length);
    }
    if (!key.file || (from->content && !key.content)) {
        return -1;
    }
    uint32_t unit = find_or_add_lines(m, &key, from->numbers);
    if (!unit) {
        return -1;
    }
    struct stint_impl_line_cell *to = cells_of(merge_file_at(&m->file, unit));
    for (uint32_t i = 0; i < from->count; ++i) {
        const struct stint_impl_line_cell *c = &from->cells[i];
        uint64_t self = merge_length(map, STINT_IMPL_LOAD(&c->self));
        uint64_t nested = merge_length(map, STINT_IMPL_LOAD(&c->nested));
        to[i].hits = saturating_add(to[i].hits, STINT_IMPL_LOAD(&c->hits));
        to[i].self = saturating_add(to[i].self, self);
        to[i].nested = saturating_add(to[i].nested, nested);
    }
    return 0;
}

int merge_sum_lines(struct merge *m, const struct merge_map *map) {
    struct line_tables all;
    struct line_table table;
    line_tables_start(&all, &map->run->snapshot);
    while (line_tables_next(&all, &table)) {
        if (table.name && sum_lines(m, map, &table)) {
            return -1;
        }
    }
    return 0;
}
