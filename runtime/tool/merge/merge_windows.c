/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the windows of steps and calls of one rank (struct arena_windows), cut to those in use and
 * added up where the ranks are not kept.
 * merge_ranks.c calls.
 */
#include "arena/windows.h"
#include "base/arithmetic.h"
#include "merge.h"
#include "ranks/rank_windows.h"

/* Windows of a name and rank in a file that does not keep the ranks: enough to tell whether a rank
 * is late more often than by chance. */
#define WINDOWS_OF_NAMES 32u

/* An even number, as each record has. */
static uint32_t used_windows(const struct arena_windows *w, uint32_t each) {
    uint64_t used = u64_min(w->steps / w->width + (w->steps % w->width != 0), w->room);
    used = (used + each - 1) / each;
    return (uint32_t)u64_max(2, used + used % 2);
}

/* Windows that become one. */
static uint32_t joined_windows(const struct merge *m, const struct arena_windows *w) {
    uint32_t each = 1;
    while (m->keep == MERGE_KEEP_NAMES && used_windows(w, each) > WINDOWS_OF_NAMES) {
        each *= 2;
    }
    return each;
}

/* 0 without memory. */
static uint32_t copy_windows(struct merge *m, const struct merge_map *map,
                             const struct arena_windows *from, uint32_t next) {
    uint32_t each = joined_windows(m, from), room = used_windows(from, each);
    uint32_t unit = merge_file_get(&m->file, windows_bytes(room));
    if (!unit) {
        return 0;
    }
    struct arena_windows *to = merge_file_at(&m->file, unit);
    to->next = next;
    to->site = map->site[from->site];
    to->set = map->set[from->set];
    to->width = saturating_multiply(from->width, each);
    to->steps = from->steps;
    to->room = room;
    to->lacks = from->lacks;
    to->by_calls = from->by_calls;
    for (uint32_t i = 0; i < from->room && i / each < room; ++i) {
        struct arena_window *sum = &to->window[i / each];
        sum->ticks = saturating_add(sum->ticks, merge_length(map, from->window[i].ticks));
        sum->calls = saturating_add(sum->calls, from->window[i].calls);
    }
    return unit;
}

int merge_windows_add(struct merge *m, const struct merge_map *map, uint32_t from, uint32_t *out) {
    const struct snapshot *s = &map->run->snapshot;
    *out = 0;
    for (uint32_t i = 0; i < ARENA_WINDOW_RECORDS; ++i) {
        const struct arena_windows *w = rank_windows_at(s, from);
        if (!w) {
            return 0;
        }
        *out = copy_windows(m, map, w, *out);
        if (!*out) {
            return -1;
        }
        from = w->next;
    }
    return 0;
}
