/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the windows of steps and calls of one rank (struct arena_windows), cut to those in use.
 * merge_ranks.c calls.
 */
#include "arena/windows.h"
#include "base/arithmetic.h"
#include "merge.h"
#include "read/rank_windows.h"

/* An even number, as each record has. */
static uint32_t used_windows(const struct arena_windows *w) {
    uint64_t used = u64_min(w->steps / w->width + (w->steps % w->width != 0), w->room);
    return (uint32_t)u64_max(2, used + used % 2);
}

/* 0 without memory. */
static uint32_t copy_windows(struct merge *m, const struct merge_map *map,
                             const struct arena_windows *from, uint32_t next) {
    uint32_t room = used_windows(from);
    uint32_t unit = merge_file_get(&m->file, windows_bytes(room));
    if (!unit) {
        return 0;
    }
    struct arena_windows *to = merge_file_at(&m->file, unit);
    to->next = next;
    to->site = map->site[from->site];
    to->set = map->set[from->set];
    to->width = from->width;
    to->steps = from->steps;
    to->room = room;
    to->lacks = from->lacks;
    to->by_calls = from->by_calls;
    for (uint32_t i = 0; i < room && i < from->room; ++i) {
        to->window[i].ticks = merge_length(map, from->window[i].ticks);
        to->window[i].calls = from->window[i].calls;
    }
    return unit;
}

int merge_windows_add(struct merge *m, const struct merge_map *map, uint32_t from, uint32_t *out) {
    const struct snapshot *s = &map->run->snapshot;
    *out = 0;
    if (from && m->keep == MERGE_KEEP_NAMES) {
        ++m->ranks.windows_left_out;
        return 0;
    }
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
