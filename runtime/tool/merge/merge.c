/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges runs into one run file: merge_add takes one run at a time, of which only the snapshot and
 * the maps to the merged file are in memory. Each part of a run is added by a merge_*.c file to a
 * part of the merged file (merge_known.c).
 * cmd_merge.c calls.
 */
#include "merge.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/text.h"
#include "system/log.h"

#define NS_PER_US UINT64_C(1000)
#define TICKS_PER_US_ONE UINT64_C(256) /* fixed point of the header's field */

static int fail_without_memory(struct merge *m) {
    if (!m->file.failed) {
        log_error("merge: not enough memory");
        m->file.failed = 1;
    }
    return -1;
}

/* A tick is a nanosecond: histograms are on one grid, and each run is rounded by itself. */
static void count_in_ns(struct merge_clock *clock) {
    clock->start.ticks = clock->start.monotonic_ns;
    clock->ns_per_tick = 1;
    clock->ticks_per_us = NS_PER_US * TICKS_PER_US_ONE;
    clock->kind = CLOCK_KIND_MONOTONIC;
}

int merge_start(struct merge *m, const char *path, uint32_t expected, uint64_t bytes,
                const struct run *first, enum merge_keep keep) {
    const struct arena_header *from =
        (const struct arena_header *)(const void *)first->snapshot.base;
    memset(m, 0, sizeof *m);
    m->expected = expected;
    m->clock.start = from->start;
    m->clock.ns_per_tick = first->snapshot.ns_per_tick;
    m->clock.ticks_per_us = from->ticks_per_us;
    m->clock.kind = from->clock_kind;
    memcpy(m->clock.boot_id, from->boot_id, sizeof m->clock.boot_id);
    m->keep = keep;
    if (keep != MERGE_KEEP_THREADS) {
        count_in_ns(&m->clock);
    }
    if (merge_file_open(&m->file, path, bytes)) {
        return -1;
    }
    if (merge_known_start(m)) {
        return fail_without_memory(m);
    }
    struct arena_header *h = merge_file_header(&m->file);
    memcpy(h->magic, ARENA_MAGIC, sizeof h->magic);
    h->abi = ARENA_FORMAT;
    h->header_bytes = sizeof *h;
    return 0;
}

void merge_end(struct merge *m) {
    scratch_free(&m->lasting);
    scratch_free(&m->memory);
    merge_file_close(&m->file);
}

/* ---- A run. */

static int start_map(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t histograms = 2 * ((uint64_t)s->node_count + s->activity_count);
    map->site = scratch_array(&m->memory, (size_t)s->site_count + 1, sizeof *map->site);
    map->set = scratch_array(&m->memory, (size_t)s->set_count + 1, sizeof *map->set);
    map->device = scratch_array(&m->memory, (size_t)s->device_count + 1, sizeof *map->device);
    map->node = scratch_array(&m->memory, (size_t)s->node_count + 1, sizeof *map->node);
    hash_map_start(&map->thread, &m->memory, s->thread_count);
    hash_map_start(&map->activity, &m->memory, s->activity_count);
    hash_map_start(&map->histogram, &m->memory, histograms);
    merge_map_clock(m, map);
    return m->memory.failed ? -1 : 0;
}

static int map_names(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        map->site[id] = merge_names_site(m, s, id);
        if (!map->site[id]) {
            return -1;
        }
    }
    for (uint32_t id = 0; id < s->set_count; ++id) {
        uint32_t place = merge_names_set(m, s->sets[id]);
        map->set[id] = place - 1;
        if (!place) {
            return -1;
        }
    }
    for (uint32_t i = s->device_count; i-- > 0;) {
        map->device[i] = merge_names_device(m, s, s->devices[i].unit);
        if (!map->device[i]) {
            return -1;
        }
    }
    return 0;
}

static int take_run(struct merge *m, struct merge_map *map) {
    if (start_map(m, map) || map_names(m, map) || merge_threads(m, map) || merge_nodes(m, map) ||
        merge_ranks_add(m, map) || merge_activities(m, map) || merge_lines(m, map)) {
        return -1;
    }
    if (m->keep != MERGE_KEEP_THREADS) {
        return 0;
    }
    return merge_open_scopes(m, map) || merge_lanes(m, map);
}

int merge_add(struct merge *m, const struct run *r) {
    struct arena_header *h = merge_file_header(&m->file);
    struct merge_map map = {.run = r,
                            .from = (const struct arena_header *)(const void *)r->snapshot.base};
    int failed = take_run(m, &map);
    scratch_free(&m->memory);
    if (failed) {
        return fail_without_memory(m);
    }
    for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
        h->lost[k] = saturating_add(h->lost[k], map.from->lost[k]);
    }
    if (!map.from->lost[STINT_STATUS_FULL_BUCKET]) { /* the reader counts them */
        uint64_t *lost = &h->lost[STINT_STATUS_FULL_BUCKET];
        *lost = saturating_add(*lost, r->snapshot.lost[STINT_STATUS_FULL_BUCKET]);
    }
    measures_add(&m->outside.groups, m->outside.measure, r->snapshot.outside, 0);
    h->steps = saturating_add(h->steps, r->snapshot.steps);
    h->gpu_in_flight += r->snapshot.gpu_in_flight;
    if (r->snapshot.tracer_requested) {
        h->tracer_requested = 1;
    }
    merge_about_add(m, &map);
    if (m->keep == MERGE_KEEP_THREADS && *r->clocks) {
        snprintf(m->clocks, sizeof m->clocks, "%s", r->clocks);
    }
    ++m->runs;
    return 0;
}

int merge_finish(struct merge *m) {
    if (m->traces) {
        log_note("merge: traces of %u run%s are not kept; --keep threads keeps them", m->traces,
                 text_plural(m->traces));
    }
    if (m->align && *m->align->text) {
        memcpy(m->clocks, m->align->text, sizeof m->clocks);
        log_note("merge: clocks of %s", m->align->text);
    }
    if (m->cut) {
        log_warning("merge: %llu span%s left out of traces: more scopes than a trace can name",
                    (unsigned long long)m->cut, text_plural(m->cut));
    }
    merge_activities_finish(m);
    if (merge_about_finish(m)) {
        return -1;
    }
    if (merge_buckets_finish(m)) {
        return fail_without_memory(m);
    }
    if (merge_ranks_fold(m) || merge_ranks_check(m) || merge_ranks_finish(m)) {
        return fail_without_memory(m);
    }
    struct stint_impl_node outside = {0}; /* threads without a record have no node */
    struct measures sum;
    measures_narrow(&sum, &m->outside);
    if (merge_measures_add(m, &outside, &sum)) {
        return fail_without_memory(m);
    }
    merge_file_header(&m->file)->outside = outside.measures;
    return merge_file_publish(&m->file);
}
