/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges runs into one run file: merge_add takes one run at a time, of which only the snapshot and
 * the maps to the merged file are in memory. Runs are added up (merge_sum.c) or, with their
 * threads, copied: this file. The snapshot is checked when it is read; what is read
 * here besides it is checked here. Nodes are copied one by one, parents first, and then linked from
 * the last to the first, so that children keep their order. cmd_merge.c calls; names, ranks,
 * properties, activities and traces are in the other merge_*.c files.
 */
#include "merge.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "arena/measures.h"
#include "base/arithmetic.h"
#include "base/histogram.h"
#include "base/log.h"
#include "base/text.h"

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
    if (merge_names_start(&m->names, &m->file) || merge_ranks_start(&m->ranks) ||
        merge_sum_start(&m->sum)) {
        return fail_without_memory(m);
    }
    struct arena_header *h = merge_file_header(&m->file);
    memcpy(h->magic, ARENA_MAGIC, sizeof h->magic);
    h->abi = ARENA_FORMAT;
    h->header_bytes = sizeof *h;
    return 0;
}

void merge_end(struct merge *m) {
    merge_names_end(&m->names);
    merge_ranks_end(&m->ranks);
    merge_sum_end(&m->sum);
    scratch_free(&m->memory);
    merge_file_close(&m->file);
}

/* ---- Names and devices. */

static int map_names(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    map->site = scratch_array(&m->memory, (size_t)s->site_count + 1, sizeof *map->site);
    map->set = scratch_array(&m->memory, (size_t)s->set_count + 1, sizeof *map->set);
    if (!map->site || !map->set) {
        return fail_without_memory(m);
    }
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        map->site[id] = merge_names_site(&m->names, s, id);
        if (!map->site[id]) {
            return fail_without_memory(m);
        }
    }
    for (uint32_t id = 0; id < s->set_count; ++id) {
        int failed;
        map->set[id] = merge_names_set(&m->names, s->sets[id], &failed);
        if (failed) {
            return fail_without_memory(m);
        }
    }
    return 0;
}

static int is_same_device(const struct arena_device *a, const struct arena_device *b) {
    return !memcmp(&a->number, &b->number, sizeof *a - offsetof(struct arena_device, number));
}

/* words: the text in the merged file. */
static uint32_t device_find_or_add(struct merge *m, const struct arena_device *d, uint32_t words) {
    struct arena_header *h = merge_file_header(&m->file);
    struct arena_device copy = *d;
    const struct arena_device *from = &copy;
    uint32_t unit = h->first_device;
    copy.words = words;
    while (unit) {
        const struct arena_device *have = merge_file_at(&m->file, unit);
        if (is_same_device(have, from)) {
            return unit;
        }
        unit = have->next;
    }
    unit = merge_file_get(&m->file, sizeof *from);
    if (unit) {
        struct arena_device *to = merge_file_at(&m->file, unit);
        *to = *from;
        to->next = h->first_device;
        h->first_device = unit;
    }
    return unit;
}

static int map_devices(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    map->device = scratch_array(&m->memory, (size_t)s->device_count + 1, sizeof *map->device);
    if (!map->device) {
        return fail_without_memory(m);
    }
    for (uint32_t i = s->device_count; i-- > 0;) {
        const struct arena_device *d = snapshot_at(s, s->devices[i].unit, sizeof *d);
        uint32_t length = 0, words = 0;
        const char *joined = d ? snapshot_text(s, d->words, &length) : NULL;
        if (joined) {
            words = merge_names_text(&m->names, joined, length);
        }
        if (d) {
            map->device[i] = device_find_or_add(m, d, words);
        }
        if (!map->device[i]) {
            return fail_without_memory(m);
        }
    }
    return 0;
}

/* ---- Nodes. */

static int copy_gpu_times(struct merge *m, struct merge_map *map, const struct snapshot_node *n,
                          uint32_t unit, uint32_t *out) {
    const struct arena_gpu *from = snapshot_at(&map->run->snapshot, unit, sizeof *from);
    uint32_t histogram;
    *out = 0;
    if (!from) {
        return 0;
    }
    *out = merge_file_get(&m->file, sizeof *from);
    if (!*out || merge_histogram(m, map, SNAPSHOT_NONE, n->extra->gpu.histogram, 1, &histogram)) {
        return -1;
    }
    struct arena_gpu *to = merge_file_at(&m->file, *out);
    to->seq = 2 * n->measures->gpu_calls;
    to->total = n->measures->gpu_total_ns;
    to->min = n->measures->gpu_min_ns;
    to->max = n->measures->gpu_max_ns;
    to->first = from->first;
    to->histogram = histogram;
    to->device = merge_device_at(map, n->extra->gpu.device);
    return 0;
}

static void copy_node_times(const struct merge_map *map, struct stint_impl_node *to,
                            const struct snapshot_node *n) {
    to->seq = 2 * n->count;
    to->total = merge_time(map, n, n->total);
    to->nested = merge_time(map, n, n->nested);
    to->min = UINT64_MAX;
    to->max = merge_time(map, n, n->max);
    if (n->count) {
        to->min = merge_time(map, n, n->min);
    }
    to->first = merge_time(map, n, n->first);
    to->first_at = merge_tick_or_none(map, n->first_at);
    to->max_at = merge_tick_or_none(map, n->max_at);
    to->recursions = n->recursions;
    to->bytes = n->measures->bytes;
    to->flops = n->measures->flops;
    memcpy(to->info, n->extra->info, sizeof to->info);
}

static int copy_measures(struct merge *m, const struct merge_map *map, const struct measures *from,
                         uint32_t *out) {
    *out = 0;
    for (uint32_t group = 0; group < MEASURE_GROUP_COUNT; ++group) {
        struct measure_list list = measure_list_of(group);
        if (!(from->groups & 1u << group) || list.place != MEASURES_IN_BLOCK) {
            continue;
        }
        struct arena_measures *to;
        uint32_t unit = merge_file_get(&m->file, sizeof *to + list.count * sizeof(uint64_t));
        if (!unit) {
            return -1;
        }
        to = merge_file_at(&m->file, unit);
        to->range = measure_range_of(group);
        to->next = *out;
        for (uint32_t i = 0; i < list.count; ++i) {
            to->value[i] = merge_measure(map, list.number[i], from->measure[list.number[i]]);
        }
        *out = unit;
    }
    return 0;
}

/* Samples that the node keeps; those that grow too long, and all where it has a histogram, are put
 * into that. */
static int copy_kept(struct merge *m, const struct merge_map *map, struct stint_impl_node *to,
                     const struct snapshot_node *n) {
    struct merge_kept kept;
    merge_kept_read(&kept, map, n);
    if (!kept.fit && !to->histogram) {
        to->histogram = merge_file_get(&m->file, sizeof(struct stint_impl_histogram));
        if (!to->histogram) {
            return -1;
        }
    }
    merge_kept_store(m, to, 0, &kept);
    return 0;
}

/* Copies the data of the field with two uses. Returns -1 without memory. */
static int copy_gpu_or_untimed(struct merge *m, struct merge_map *map,
                               const struct snapshot_node *n, const struct stint_impl_node *from,
                               uint32_t *out) {
    if (!(from->kind & ARENA_PARTIAL)) {
        return copy_gpu_times(m, map, n, from->gpu, out);
    }
    *out = 0;
    return merge_untimed_add(m, out, n->extra->untimed);
}

static int copy_scope_node(struct merge *m, struct merge_map *map, uint32_t index) {
    const struct snapshot *s = &map->run->snapshot;
    const struct snapshot_node *n = &s->nodes[index];
    const struct stint_impl_node *from = snapshot_at(s, n->unit, sizeof *from);
    uint32_t unit = 0, histogram, gpu, measures;
    size_t bytes = sizeof *from;
    if (n->sender != SNAPSHOT_NONE) {
        bytes += sizeof(struct stint_impl_sent);
    }
    if (from) {
        unit = merge_file_get(&m->file, bytes);
    }
    if (!unit ||
        merge_histogram(m, map, n->thread, n->histogram, n->in_ns ? 1 : map->rate, &histogram) ||
        copy_gpu_or_untimed(m, map, n, from, &gpu) ||
        copy_measures(m, map, n->measures, &measures)) {
        return fail_without_memory(m);
    }
    struct stint_impl_node *to = merge_file_at(&m->file, unit);
    copy_node_times(map, to, n);
    to->site = map->site[n->site]; /* 0 = none in both */
    to->set = (uint16_t)map->set[n->set];
    to->kind = (uint16_t)(merge_kind(n) | (from->kind & ARENA_PARTIAL));
    to->measures = measures;
    to->histogram = histogram;
    to->gpu = gpu;
    map->node[index] = unit;
    if (copy_kept(m, map, to, n)) {
        return fail_without_memory(m);
    }
    return 0;
}

/* The place for it follows the node (copy_scope_node). */
static void link_sender(struct merge *m, const struct merge_map *map, uint32_t index) {
    uint32_t sender = map->run->snapshot.nodes[index].sender;
    if (sender == SNAPSHOT_NONE) {
        return;
    }
    struct stint_impl_node *node = merge_file_at(&m->file, map->node[index]);
    struct stint_impl_sent *sent = (struct stint_impl_sent *)(void *)(node + 1);
    node->kind = STINT_IMPL_SCOPE_NODE | STINT_IMPL_SENT;
    sent->sender = map->node[sender];
}

static int map_nodes(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t histograms = 2 * (uint64_t)s->node_count + s->activity_count;
    map->node = scratch_array(&m->memory, (size_t)s->node_count + 1, sizeof *map->node);
    if (!map->node || hash_map_start(&map->histogram, &m->memory, histograms)) {
        return fail_without_memory(m);
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (copy_scope_node(m, map, i)) {
            return -1;
        }
    }
    for (uint32_t i = s->node_count; i-- > 0;) {
        if (s->nodes[i].parent != SNAPSHOT_NONE) {
            uint32_t above = map->node[s->nodes[i].parent];
            struct stint_impl_node *parent = merge_file_at(&m->file, above);
            struct stint_impl_node *child = merge_file_at(&m->file, map->node[i]);
            child->parent = above;
            child->sibling = parent->child;
            parent->child = map->node[i];
        }
        link_sender(m, map, i);
    }
    return 0;
}

/* ---- Threads. */

static int copy_frames(struct merge *m, const struct merge_map *map,
                       const struct snapshot_thread *t, uint32_t *out) {
    *out = 0;
    if (!t->open_count || !t->frames) {
        return 0;
    }
    *out = merge_file_get(&m->file, STINT_IMPL_FRAMES * sizeof *t->frames);
    if (!*out) {
        return -1;
    }
    struct stint_impl_frame *to = merge_file_at(&m->file, *out);
    for (uint32_t i = 1; i < STINT_IMPL_FRAMES && t->frames[i].guard; ++i) {
        const struct stint_impl_frame *f = &t->frames[i];
        to[i].guard = f->guard;
        uint64_t start = STINT_IMPL_LOAD(&f->start);
        if (start & ARENA_UNTIMED_START) {
            to[i].start = ARENA_UNTIMED_START;
        } else {
            to[i].start = merge_tick(map, start);
        }
        to[i].node = merge_node(map, f->node);
        to[i].recursive = merge_node(map, f->recursive); /* 0 = none */
        to[i].nested = merge_length(map, f->nested);
    }
    return 0;
}

/* "rRANK NAME" of a rank that a launcher gave, "PLACE/PID NAME" or "NAME", cut to the size of the
 * field. */
static void name_thread(const struct merge *m, const struct merge_map *map, struct arena_thread *to,
                        const char *name) {
    char text[64];
    if (merge_is_marked(m, map) && map->from->about.rank) {
        snprintf(text, sizeof text, "r%u %.15s", map->from->about.rank - 1, name);
    } else if (merge_is_marked(m, map)) {
        snprintf(text, sizeof text, "%u/%u %.15s", m->runs, map->from->pid, name);
    } else {
        snprintf(text, sizeof text, "%.15s", name);
    }
    memcpy(to->name, text, strnlen(text, sizeof to->name - 1));
}

/* When a thread that had not ended was last seen: the end of its process, as others may have ended
 * later. Of a single run the header has that; closed frames are not copied, so it is kept here. */
static uint64_t merge_thread_end(const struct merge *m, const struct merge_map *map,
                                 const struct snapshot_thread *t) {
    uint64_t seen = t->until;
    if (m->expected == 1 && map->from->pid) {
        seen = t->last_begin;
    }
    return merge_tick_or_none(map, u64_min(seen, INT64_MAX / 4));
}

static int copy_thread(struct merge *m, struct merge_map *map, uint32_t index,
                       const struct arena_thread *from) {
    struct arena_header *h = merge_file_header(&m->file);
    const struct snapshot_thread *t = &map->run->snapshot.threads[index];
    uint32_t unit = merge_file_get(&m->file, sizeof *from), frames, ring;
    if (!unit || copy_frames(m, map, t, &frames) || merge_ring(m, map, t->ring, &ring)) {
        return fail_without_memory(m);
    }
    struct arena_thread *to = merge_file_at(&m->file, unit);
    to->tid = t->tid;
    to->ordinal = h->thread_count++;
    to->alive = t->alive;
    to->uses = t->uses;
    to->root = merge_node(map, t->root);
    to->frames = frames;
    to->ring = ring;
    to->start_ticks = merge_tick_or_none(map, from->start_ticks);
    to->end_ticks = merge_tick_or_none(map, from->end_ticks);
    if (t->alive) {
        to->end_ticks = u64_max(to->end_ticks, merge_thread_end(m, map, t));
    }
    memcpy(to->lost, from->lost, sizeof to->lost);
    name_thread(m, map, to, t->name);
    to->next = h->first_thread;
    h->first_thread = unit;
    hash_map_set(&map->thread, t->unit, unit);
    return 0;
}

static int copy_threads(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    const struct arena_thread **from =
        scratch_array(&m->memory, (size_t)s->thread_count + 1, sizeof *from);
    if (!from || hash_map_start(&map->thread, &m->memory, s->thread_count)) {
        return fail_without_memory(m);
    }
    uint32_t unit = map->from->first_thread;
    for (uint32_t i = s->thread_count; i-- > 0; unit = from[i]->next) {
        from[i] = snapshot_at(s, unit, sizeof **from);
        if (!from[i]) {
            return fail_without_memory(m);
        }
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        if (copy_thread(m, map, i, from[i])) {
            return -1;
        }
    }
    return 0;
}

/* Copies nodes, threads and what belongs to them. */
static int copy_run(struct merge *m, struct merge_map *map) {
    if (map_nodes(m, map) || copy_threads(m, map)) {
        return -1;
    }
    if (merge_ranks_add(m, map) || merge_activities(m, map) || merge_lines(m, map)) {
        return fail_without_memory(m);
    }
    return merge_lanes(m, map);
}

/* Adds them to those of the runs before. */
static int sum_run(struct merge *m, struct merge_map *map) {
    if (merge_sum_run(m, map) || merge_ranks_add(m, map) || merge_sum_activities(m, map) ||
        merge_sum_lines(m, map)) {
        return fail_without_memory(m);
    }
    return 0;
}

static int take_run(struct merge *m, struct merge_map *map) {
    if (map_names(m, map) || map_devices(m, map)) {
        return -1;
    }
    if (m->keep == MERGE_KEEP_THREADS) {
        return copy_run(m, map);
    }
    return sum_run(m, map);
}

int merge_add(struct merge *m, const struct run *r) {
    struct arena_header *h = merge_file_header(&m->file);
    struct merge_map map = {.run = r,
                            .from = (const struct arena_header *)(const void *)r->snapshot.base};
    merge_map_clock(m, &map);
    int failed = take_run(m, &map);
    scratch_free(&m->memory);
    if (failed) {
        return -1;
    }
    for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
        h->lost[k] = saturating_add(h->lost[k], map.from->lost[k]);
    }
    measures_add(&m->outside.groups, m->outside.measure, r->snapshot.outside, 0);
    h->steps += r->snapshot.steps;
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
    if (m->sum.traces) {
        log_note("merge: traces of %u run%s are not kept; --keep threads keeps them", m->sum.traces,
                 text_plural(m->sum.traces));
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
    if (merge_ranks_fold(m) || merge_ranks_check(m) || merge_ranks_finish(m)) {
        return fail_without_memory(m);
    }
    uint32_t outside;
    if (copy_measures(m, NULL, &m->outside, &outside)) {
        return fail_without_memory(m);
    }
    merge_file_header(&m->file)->outside = outside;
    return merge_file_publish(&m->file);
}
