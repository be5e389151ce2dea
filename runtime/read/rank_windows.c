/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the windows of steps of a waiting scope, rank by rank (struct arena_windows), and computes
 * for each window what ranks_wait computes for a run. Called by the report and the exports. A cell
 * is read from the record each time it is asked for: thousands of ranks have a million of them.
 */
#include "rank_windows.h"

#include <string.h>

#include "arena/windows.h"
#include "base/arithmetic.h"
#include "base/order.h"

const struct arena_windows *rank_windows_at(const struct snapshot *s, uint32_t unit) {
    const struct arena_windows *w = snapshot_at(s, unit, sizeof *w);
    if (!w || !w->room || w->room > ARENA_WINDOWS ||
        !snapshot_at(s, unit, windows_bytes(w->room))) {
        return NULL;
    }
    if (w->seq % 2 || w->window[w->room].ticks != w->seq) {
        return NULL;
    }
    if (!w->width || w->width & (w->width - 1) || !w->site || w->site > s->site_count ||
        w->set >= s->set_count) {
        return NULL;
    }
    return w;
}

static uint64_t record_steps(const struct arena_windows *w) {
    return u64_min(w->steps, saturating_multiply(w->width, w->room));
}

static int is_record_of(const struct ranks *r, const struct arena_windows *w, uint32_t name) {
    const struct snapshot_site *a = &r->snapshot->sites[w->site];
    const struct snapshot_site *b = &r->snapshot->sites[r->name[name].site];
    return w->set == r->name[name].set && a->length == b->length &&
           !memcmp(a->name, b->name, a->length);
}

/* NULL: none, or one that is not whole. */
static const struct arena_windows *find_record(const struct ranks *r, uint32_t rank,
                                               uint32_t name) {
    uint32_t unit = r->rank[rank].windows;
    for (uint32_t i = 0; i < ARENA_WINDOW_RECORDS; ++i) {
        const struct arena_windows *w = rank_windows_at(r->snapshot, unit);
        if (!w) {
            return NULL;
        }
        if (is_record_of(r, w, name)) {
            return w->lacks ? NULL : w;
        }
        unit = w->next;
    }
    return NULL;
}

static void count_windows(struct rank_windows *w) {
    w->count = (uint32_t)(w->steps / w->width + (w->steps % w->width != 0));
}

int rank_windows_read(struct rank_windows *out, const struct ranks *r, uint32_t name,
                      struct scratch *memory) {
    memset(out, 0, sizeof *out);
    out->ranks = r;
    out->width = 1;
    out->record = scratch_array(memory, (size_t)r->count + 1, sizeof *out->record);
    if (!out->record) {
        return -1;
    }
    for (uint32_t i = 0; i < r->count; ++i) {
        const struct arena_windows *w = find_record(r, i, name);
        out->record[i] = w;
        if (w) {
            ++out->with;
            out->width = u64_max(out->width, w->width);
            out->steps = u64_max(out->steps, record_steps(w));
        } else if (ranks_cell(r, i, name).calls) {
            ++out->without;
        }
    }
    count_windows(out);
    return 0;
}

void rank_windows_widen(struct rank_windows *w, uint32_t most) {
    while (w->count > most) {
        w->width = saturating_add(w->width, w->width);
        count_windows(w);
    }
}

/* The calls and nanoseconds of a rank in a window. */
static void rank_windows_cell(const struct rank_windows *w, uint32_t rank, uint32_t window,
                              uint64_t *calls, uint64_t *ns) {
    const struct arena_windows *from = w->record[rank];
    uint64_t ticks = 0;
    *calls = 0;
    *ns = 0;
    if (!from) {
        return;
    }
    uint64_t each = w->width / from->width, first = saturating_multiply(window, each);
    for (uint64_t i = first; i < first + each && i < from->room; ++i) {
        *calls = saturating_add(*calls, from->window[i].calls);
        ticks = saturating_add(ticks, from->window[i].ticks);
    }
    *ns = snapshot_whole((double)ticks * w->ranks->snapshot->ns_per_tick + 0.5);
}

void rank_windows_wait(struct rank_wait *out, const struct rank_windows *w, uint32_t window,
                       struct ranks_room *room) {
    ranks_room_empty(room);
    for (uint32_t i = 0; i < w->ranks->count; ++i) {
        uint64_t calls, ns;
        rank_windows_cell(w, i, window, &calls, &ns);
        ranks_room_put(room, i, calls, ns);
    }
    ranks_wait_of(out, room);
}

static int is_last_more(const void *what, uint32_t a, uint32_t b) {
    const struct rank_last *of = what;
    if (of[a].windows != of[b].windows) {
        return of[a].windows > of[b].windows;
    }
    return of[a].cost_ns > of[b].cost_ns;
}

static void tally_window(struct rank_tally *out, const struct rank_wait *wait) {
    if (wait->calls_differ) {
        ++out->differ;
        return;
    }
    if (!wait->cost_ns) {
        return;
    }
    struct rank_last *last = &out->of[wait->late];
    ++out->windows;
    out->cost_ns = saturating_add(out->cost_ns, wait->cost_ns);
    ++last->windows;
    last->alone += (uint32_t)ranks_wait_has_cause(wait);
    last->cost_ns = saturating_add(last->cost_ns, wait->cost_ns);
}

int rank_windows_tally(struct rank_tally *out, const struct rank_windows *w,
                       struct ranks_room *room, struct scratch *memory) {
    struct rank_wait wait;
    uint32_t count = w->ranks->count;
    memset(out, 0, sizeof *out);
    out->of = scratch_array(memory, (size_t)count + 1, sizeof *out->of);
    if (!out->of) {
        return -1;
    }
    for (uint32_t i = 0; i < w->count; ++i) {
        rank_windows_wait(&wait, w, i, room);
        tally_window(out, &wait);
    }
    out->order = order_by(memory, count, is_last_more, out->of);
    if (!out->order) {
        return -1;
    }
    while (out->ranks < count && out->of[out->order[out->ranks]].windows) {
        ++out->ranks;
    }
    return 0;
}
