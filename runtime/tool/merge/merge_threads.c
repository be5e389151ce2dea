/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of the merged file: a copy of each thread of a run, or a call tree for all runs or
 * for each rank, which its threads are added to. A copy has the open scopes and the trace, too.
 * merge.c calls merge_threads before the nodes of a run are added, and merge_open_scopes after.
 */
#include <stdio.h>
#include <string.h>

#include "base/api.h"
#include "base/arithmetic.h"
#include "merge.h"

/* A thread with nothing but a root. 0 without memory. */
static uint32_t add_tree(struct merge *m, const char *name) {
    struct arena_header *h = merge_file_header(&m->file);
    uint32_t unit = merge_file_get(&m->file, sizeof(struct arena_thread));
    uint32_t root = merge_file_get(&m->file, sizeof(struct stint_impl_node));
    if (!unit || !root) {
        return 0;
    }
    struct arena_thread *t = merge_file_at(&m->file, unit);
    merge_record_clear(&record_scope, merge_file_at(&m->file, root));
    t->ordinal = h->thread_count++;
    t->root = root;
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    t->next = h->first_thread;
    h->first_thread = unit;
    return unit;
}

/* "rRANK NAME" of a rank that a launcher gave, "PLACE/PID NAME" or "NAME", cut to the size of the
 * field. */
static uint32_t add_copy(struct merge *m, const struct merge_map *map,
                         const struct snapshot_thread *t) {
    char name[64] = "";
    if (merge_is_marked(m, map) && map->from->about.rank) {
        snprintf(name, sizeof name, "r%u ", map->from->about.rank - 1);
    } else if (merge_is_marked(m, map)) {
        snprintf(name, sizeof name, "%u/%u ", m->runs, map->from->pid);
    }
    size_t length = strlen(name);
    snprintf(name + length, sizeof name - length, "%.15s", t->name);
    uint32_t unit = add_tree(m, name);
    if (unit) {
        struct arena_thread *to = merge_file_at(&m->file, unit);
        to->tid = t->tid;
        to->alive = t->alive;
    }
    return unit;
}

/* The thread that a run's thread is added to; 0 without memory. The threads of a run that was
 * merged are ranks or more than that. */
static uint32_t find_thread(struct merge *m, const struct merge_map *map, uint32_t index) {
    const struct snapshot_thread *t = map->run->snapshot.threads;
    char name[RANKS_LABEL];
    if (m->keep == MERGE_KEEP_THREADS) {
        return add_copy(m, map, &t[index]);
    }
    if (m->keep == MERGE_KEEP_NAMES) {
        if (!m->tree) {
            m->tree = add_tree(m, "all");
        }
        return m->tree;
    }
    if (!map->from->pid) {
        return add_tree(m, t[index].name);
    }
    if (index) {
        return hash_map_get(&map->thread, t->unit);
    }
    if (map->run->rank) {
        snprintf(name, sizeof name, "rank %u", map->run->rank - 1);
    } else {
        snprintf(name, sizeof name, "pid %u", map->from->pid);
    }
    return add_tree(m, name);
}

/* When a thread that had not ended was last seen. A copy's is the end of its process, as others may
 * have ended later; of a single run the header has that. Else open scopes, as closed frames of all,
 * are not kept: it is when its last scope began. */
static uint64_t last_seen(const struct merge *m, const struct merge_map *map,
                          const struct snapshot_thread *t) {
    uint64_t seen = t->last_begin;
    if (m->keep == MERGE_KEEP_THREADS && !(m->expected == 1 && map->from->pid)) {
        seen = t->until;
    }
    return merge_tick_or_none(map, u64_min(seen, INT64_MAX / 4));
}

static void add_thread(const struct merge *m, const struct merge_map *map, struct arena_thread *to,
                       const struct snapshot_thread *t, const struct arena_thread *from) {
    uint64_t start = merge_tick_or_none(map, from->start_ticks);
    uint64_t end = merge_tick_or_none(map, from->end_ticks);
    if (t->alive) {
        end = u64_max(end, last_seen(m, map, t));
    }
    if (start && (!to->start_ticks || start < to->start_ticks)) {
        to->start_ticks = start;
    }
    to->end_ticks = u64_max(to->end_ticks, end);
    to->uses = (uint32_t)u64_min((uint64_t)to->uses + t->uses, UINT32_MAX);
    for (uint32_t k = 0; k < ARENA_LOSSES; ++k) {
        to->lost[k] = saturating_add(to->lost[k], from->lost[k]);
    }
}

int merge_threads(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint32_t traced = map->from->first_lane != 0;
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        const struct snapshot_thread *t = &s->threads[i];
        const struct arena_thread *from = snapshot_at(s, t->unit, sizeof *from);
        uint32_t unit = find_thread(m, map, i);
        if (!from || !unit) {
            return -1;
        }
        hash_map_set(&map->thread, t->unit, unit);
        add_thread(m, map, merge_file_at(&m->file, unit), t, from);
        traced |= t->ring != 0;
    }
    m->traces += traced && m->keep != MERGE_KEEP_THREADS;
    return 0;
}

/* ---- Open scopes and traces. */

static int copy_frames(struct merge *m, const struct merge_map *map,
                       const struct snapshot_thread *t, uint32_t *out) {
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
        uint64_t start = STINT_IMPL_LOAD(&f->start);
        to[i].guard = f->guard;
        to[i].start = ARENA_UNTIMED_START;
        if (!(start & ARENA_UNTIMED_START)) {
            to[i].start = merge_tick(map, start);
        }
        to[i].node = merge_node(map, f->node);
        to[i].recursive = merge_node(map, f->recursive); /* 0 = none */
        to[i].nested = merge_length(map, f->nested);
    }
    return 0;
}

int merge_open_scopes(struct merge *m, const struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        const struct snapshot_thread *t = &s->threads[i];
        struct arena_thread *to = merge_file_at(&m->file, hash_map_get(&map->thread, t->unit));
        if (copy_frames(m, map, t, &to->frames) || merge_ring(m, map, t->ring, &to->ring)) {
            return -1;
        }
    }
    return 0;
}
