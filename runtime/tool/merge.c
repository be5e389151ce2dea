/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: one run is in memory at a time, and of it the snapshot, which is checked;
 * what comes from beside it is checked here. Nodes are copied one by one, parents first, and then
 * linked from the last to the first, so that children keep their order.
 */
#include "merge.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/histogram.h"
#include "base/log.h"

static int no_memory(struct merge *m) {
    if (!m->file.failed) {
        log_line("merge: not enough memory");
        m->file.failed = 1;
    }
    return -1;
}

int merge_start(struct merge *m, const char *path, uint32_t expected, uint64_t bytes,
                const struct run *first) {
    const struct arena_header *from =
        (const struct arena_header *)(const void *)first->snapshot.base;
    memset(m, 0, sizeof *m);
    m->expected = expected;
    m->clock.start = from->start;
    m->clock.ns_per_tick = first->snapshot.ns_per_tick;
    m->clock.ticks_per_us = from->ticks_per_us;
    m->clock.kind = from->clock_kind;
    memcpy(m->clock.boot_id, from->boot_id, sizeof m->clock.boot_id);
    if (merge_file_open(&m->file, path, bytes)) {
        return -1;
    }
    if (merge_names_start(&m->names, &m->file)) {
        return no_memory(m);
    }
    struct arena_header *h = merge_file_header(&m->file);
    memcpy(h->magic, ARENA_MAGIC, sizeof h->magic);
    h->abi = STINT_ABI;
    h->header_bytes = sizeof *h;
    return 0;
}

void merge_end(struct merge *m) {
    merge_names_end(&m->names);
    scratch_free(&m->memory);
    merge_file_close(&m->file);
}

/* ---- Names and devices. */

static int map_names(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    map->site = scratch_array(&m->memory, (size_t)s->site_count + 1, sizeof *map->site);
    map->set = scratch_array(&m->memory, (size_t)s->set_count + 1, sizeof *map->set);
    if (!map->site || !map->set) {
        return no_memory(m);
    }
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        map->site[id] = merge_names_site(&m->names, s, id);
        if (!map->site[id]) {
            return no_memory(m);
        }
    }
    for (uint32_t id = 0; id < s->set_count; ++id) {
        int failed;
        map->set[id] = merge_names_set(&m->names, s->sets[id], &failed);
        if (failed) {
            return no_memory(m);
        }
    }
    return 0;
}

static int same_device(const struct arena_device *a, const struct arena_device *b) {
    return !memcmp(&a->number, &b->number, sizeof *a - offsetof(struct arena_device, number));
}

static uint32_t device_place(struct merge *m, const struct arena_device *from) {
    struct arena_header *h = merge_file_header(&m->file);
    uint32_t unit = h->first_device;
    while (unit) {
        const struct arena_device *have = merge_file_at(&m->file, unit);
        if (same_device(have, from)) {
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
    for (uint32_t i = s->device_count; map->device && i-- > 0;) {
        const struct arena_device *d = snapshot_at(s, s->devices[i].unit, sizeof *d);
        map->device[i] = d ? device_place(m, d) : 0;
        if (!map->device[i]) {
            return no_memory(m);
        }
    }
    return map->device ? 0 : no_memory(m);
}

/* ---- Nodes. */

/* Each bucket's samples to the buckets that it covers in the other clock, by their shares; what
 * rounding leaves goes along to the next. */
static void rescale(uint32_t *to, const uint32_t *from, double rate) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (!from[i]) {
            continue;
        }
        double low = (double)histogram_low(i) * rate, high = (double)histogram_low(i + 1) * rate;
        uint64_t left = from[i];
        double owed = 0;
        for (uint32_t k = stint_impl_bucket((uint64_t)low); left && k < STINT_IMPL_BUCKETS; ++k) {
            double end = (double)histogram_low(k + 1);
            int last = end >= high || k + 1 == STINT_IMPL_BUCKETS;
            double start = low > (double)histogram_low(k) ? low : (double)histogram_low(k);
            owed += (double)from[i] * (end - start) / (high - low);
            uint64_t n = last || owed >= (double)left ? left : (uint64_t)owed;
            owed -= (double)n;
            left -= n;
            uint64_t sum = (uint64_t)to[k] + n;
            to[k] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
        }
    }
}

int merge_histogram(struct merge *m, struct merge_map *map, uint32_t unit, double rate,
                    uint32_t *out) {
    const struct stint_impl_histogram *from = snapshot_at(&map->run->snapshot, unit, sizeof *from);
    *out = 0;
    if (!from) {
        return 0;
    }
    uint32_t copied = hash_map_get(&map->histogram, unit);
    if (copied != HASH_MAP_NONE) {
        *out = copied;
        return 0;
    }
    *out = merge_file_get(&m->file, sizeof *from);
    if (!*out || hash_map_add(&map->histogram, unit, *out)) {
        return -1;
    }
    struct stint_impl_histogram *to = merge_file_at(&m->file, *out);
    if (rate > 0.999 && rate < 1.001) { /* a sixtieth of a bucket */
        *to = *from;
    } else {
        rescale(to->bucket, from->bucket, rate);
    }
    return 0;
}

static int copy_gpu(struct merge *m, struct merge_map *map, const struct snapshot_node *n,
                    uint32_t unit, uint32_t *out) {
    const struct arena_gpu *from = snapshot_at(&map->run->snapshot, unit, sizeof *from);
    *out = from ? merge_file_get(&m->file, sizeof *from) : 0;
    if (!from) {
        return 0;
    }
    uint32_t histogram;
    if (!*out || merge_histogram(m, map, n->gpu.histogram, 1, &histogram)) {
        return -1;
    }
    struct arena_gpu *to = merge_file_at(&m->file, *out);
    to->seq = 2 * n->gpu.count;
    to->total = n->gpu.total;
    to->min = n->gpu.min;
    to->max = n->gpu.max;
    to->first = from->first;
    to->histogram = histogram;
    to->device = n->gpu.device == SNAPSHOT_NONE ? 0 : map->device[n->gpu.device];
    return 0;
}

static void copy_times(const struct merge_map *map, struct stint_impl_node *to,
                       const struct snapshot_node *n) {
    to->seq = 2 * n->count;
    to->total = merge_length(map, n->total);
    to->nested = merge_length(map, n->nested);
    to->min = n->count ? merge_length(map, n->min) : UINT64_MAX;
    to->max = merge_length(map, n->max);
    to->limit = n->count ? to->max + 1 : 0;
    to->first = merge_length(map, n->first);
    to->first_at = n->first_at ? merge_tick(map, n->first_at) : 0;
    to->max_at = n->max_at ? merge_tick(map, n->max_at) : 0;
    to->recursions = n->recursions;
    to->bytes = n->bytes;
    to->flops = n->flops;
    memcpy(to->info, n->info, sizeof to->info);
}

static int copy_node(struct merge *m, struct merge_map *map, uint32_t index) {
    const struct snapshot *s = &map->run->snapshot;
    const struct snapshot_node *n = &s->nodes[index];
    const struct stint_impl_node *from = snapshot_at(s, n->unit, sizeof *from);
    uint32_t unit = from ? merge_file_get(&m->file, sizeof *from) : 0;
    uint32_t histogram, gpu;
    if (!unit || merge_histogram(m, map, n->histogram, map->rate, &histogram) ||
        copy_gpu(m, map, n, from->gpu, &gpu)) {
        return no_memory(m);
    }
    struct stint_impl_node *to = merge_file_at(&m->file, unit);
    copy_times(map, to, n);
    to->site = n->site ? map->site[n->site] : 0;
    to->set = map->set[n->set];
    to->kind = n->kind;
    to->histogram = histogram;
    to->gpu = gpu;
    map->node[index] = unit;
    return 0;
}

static int map_nodes(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t histograms = 2 * (uint64_t)s->node_count + s->activity_count;
    map->node = scratch_array(&m->memory, (size_t)s->node_count + 1, sizeof *map->node);
    if (!map->node || hash_map_start(&map->histogram, &m->memory, histograms)) {
        return no_memory(m);
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (copy_node(m, map, i)) {
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
    }
    return 0;
}

uint32_t merge_node(const struct merge_map *map, uint32_t unit) {
    uint32_t node = snapshot_node_of(&map->run->snapshot, unit);
    return node == SNAPSHOT_NONE ? 0 : map->node[node];
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
        to[i].start = merge_tick(map, f->start);
        to[i].node = merge_node(map, f->node);
        to[i].recursive = f->recursive ? merge_node(map, f->recursive) : 0;
        to[i].nested = merge_length(map, f->nested);
    }
    return 0;
}

/* For as much as sixteen bytes hold. */
static void name_thread(const struct merge *m, const struct merge_map *map, struct arena_thread *to,
                        const char *name) {
    char text[64];
    if (merge_marks(m, map)) {
        snprintf(text, sizeof text, "%u/%u %.15s", m->runs, map->from->pid, name);
    } else {
        snprintf(text, sizeof text, "%.15s", name);
    }
    memcpy(to->name, text, strnlen(text, sizeof to->name - 1));
}

static int copy_thread(struct merge *m, struct merge_map *map, uint32_t index,
                       const struct arena_thread *from) {
    struct arena_header *h = merge_file_header(&m->file);
    const struct snapshot_thread *t = &map->run->snapshot.threads[index];
    uint32_t unit = merge_file_get(&m->file, sizeof *from), frames, ring;
    if (!unit || copy_frames(m, map, t, &frames) || merge_ring(m, map, t->ring, &ring)) {
        return no_memory(m);
    }
    struct arena_thread *to = merge_file_at(&m->file, unit);
    to->tid = t->tid;
    to->ordinal = h->thread_count++;
    to->alive = t->alive;
    to->uses = t->uses;
    to->root = merge_node(map, t->root);
    to->frames = frames;
    to->ring = ring;
    to->start_ticks = from->start_ticks ? merge_tick(map, from->start_ticks) : 0;
    to->end_ticks = from->end_ticks ? merge_tick(map, from->end_ticks) : 0;
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
    from = hash_map_start(&map->thread, &m->memory, s->thread_count) ? NULL : from;
    uint32_t unit = map->from->first_thread;
    for (uint32_t i = s->thread_count; from && i-- > 0; unit = from[i]->next) {
        from[i] = snapshot_at(s, unit, sizeof **from);
        if (!from[i]) {
            return no_memory(m);
        }
    }
    for (uint32_t i = 0; from && i < s->thread_count; ++i) {
        if (copy_thread(m, map, i, from[i])) {
            return -1;
        }
    }
    return from ? 0 : no_memory(m);
}

int merge_add(struct merge *m, const struct run *r) {
    struct arena_header *h = merge_file_header(&m->file);
    struct merge_map map = {.run = r,
                            .from = (const struct arena_header *)(const void *)r->snapshot.base};
    merge_map_clock(m, &map);
    int failed =
        map_names(m, &map) || map_devices(m, &map) || map_nodes(m, &map) || copy_threads(m, &map);
    if (!failed && merge_activities(m, &map)) {
        failed = no_memory(m);
    }
    failed = failed || merge_lanes(m, &map);
    scratch_free(&m->memory);
    if (failed) {
        return -1;
    }
    for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
        h->lost[k] += map.from->lost[k];
    }
    h->steps += r->snapshot.steps;
    h->gpu_in_flight += r->snapshot.gpu_in_flight;
    if (r->snapshot.tracer_requested) {
        h->tracer_requested = 1;
    }
    merge_about_add(m, &map);
    ++m->runs;
    return 0;
}

int merge_finish(struct merge *m) {
    if (m->cut) {
        log_line(
            "merge: %llu spans left out of traces: there are more scopes than a trace can name",
            (unsigned long long)m->cut);
    }
    merge_activities_finish(m);
    return merge_about_finish(m) || merge_file_publish(&m->file) ? -1 : 0;
}
