/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the activities of GPUs of one run after the other. Rows are not added up, as threads are
 * not: the readers do that. Their times count from the start of a run, and which run began first is
 * known at the end: until then they count from the start of the merged clock, modulo 2^64.
 */
#include "merge.h"

#include <string.h>

uint64_t merge_ns_between(const struct merge *m, uint64_t from, uint64_t to) {
    if ((int64_t)(to - from) < 0) {
        return 0 - snapshot_whole((double)(from - to) * m->clock.ns_per_tick);
    }
    return snapshot_whole((double)(to - from) * m->clock.ns_per_tick);
}

void merge_activity_store(struct arena_activity *to, const struct snapshot_activity *a) {
    numbers_store(&record_activity, a->number, to);
    to->varies = a->varies;
    memcpy(to->grid, a->grid, sizeof to->grid);
    memcpy(to->block, a->block, sizeof to->block);
    to->registers = a->registers;
    to->shared_static = a->shared_static;
    to->shared_dynamic = a->shared_dynamic;
}

/* Samples that were taken back are copied as their row, which is subtracted again. */
static void copy_activity_sums(const struct merge *m, const struct merge_map *map,
                               struct arena_activity *to, const struct snapshot_activity *a) {
    uint64_t later =
        merge_ns_between(m, m->clock.start.ticks, merge_tick(map, map->from->start.ticks));
    struct snapshot_activity whole = *a;
    whole.count += a->taken_count;
    whole.total += a->taken_total;
    whole.squares += a->taken_squares;
    whole.first_at += later;
    whole.last_at += later;
    if (!a->count) {
        whole.min = UINT64_MAX;
    }
    merge_activity_store(to, &whole);
}

/* Their unit in the merged file, 0: the run has none. */
static int merge_samples(struct merge *m, const struct merge_map *map,
                         const struct snapshot_activity *a, uint32_t *out) {
    size_t bytes = sizeof(struct arena_samples);
    if (a->byte_histogram) {
        bytes = sizeof(struct arena_sizes);
    }
    const void *from = snapshot_at(&map->run->snapshot, a->samples, sizeof(struct arena_samples));
    *out = 0;
    if (!from) {
        return 0;
    }
    *out = merge_file_get(&m->file, bytes);
    if (!*out) {
        return -1;
    }
    struct arena_sizes *to = merge_file_at(&m->file, *out);
    memcpy(to, from, a->byte_histogram ? offsetof(struct arena_sizes, histogram) : bytes);
    if (a->byte_histogram) {
        merge_read_buckets(map, SNAPSHOT_NONE, a->byte_histogram, &to->histogram);
    }
    return 0;
}

static int merge_activity(struct merge *m, struct merge_map *map,
                          const struct snapshot_activity *a) {
    uint32_t unit = merge_file_get(&m->file, sizeof(struct arena_activity)), histogram, name = 0;
    uint32_t samples;
    if (!unit || merge_histogram(m, map, SNAPSHOT_NONE, a->histogram, 1, &histogram) ||
        merge_samples(m, map, a, &samples)) {
        return -1;
    }
    if (a->name_length) {
        name = merge_names_text(&m->names, a->name, a->name_length);
        if (!name) {
            return -1;
        }
    }
    struct arena_header *h = merge_file_header(&m->file);
    struct arena_activity *to = merge_file_at(&m->file, unit);
    copy_activity_sums(m, map, to, a);
    to->kind = a->kind;
    to->detail = a->detail;
    to->name = name;
    to->node = merge_node_at(map, a->node);
    to->device = merge_device_at(map, a->device);
    to->context = a->context;
    to->stream = a->stream;
    to->histogram = histogram;
    to->samples = samples;
    to->next = h->first_activity;
    h->first_activity = unit;
    hash_map_set(&map->activity, a->unit, unit);
    return 0;
}

int merge_activities(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    if (hash_map_start(&map->activity, &m->memory, s->activity_count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) { /* oldest first, as they were made */
        if (merge_activity(m, map, &s->activities[i])) {
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
