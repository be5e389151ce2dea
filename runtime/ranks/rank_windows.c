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

static int is_record_of(const struct snapshot *s, const struct arena_windows *w, uint32_t site,
                        uint32_t set, int by_calls) {
    const struct snapshot_site *a = &s->sites[w->site];
    const struct snapshot_site *b = &s->sites[site];
    return (w->by_calls != 0) == by_calls && w->set == set && a->length == b->length &&
           !memcmp(a->name, b->name, a->length);
}

/* The record of a name among those from `unit` on; NULL: there is none that is whole. */
static const struct arena_windows *find_record(const struct snapshot *s, uint32_t unit,
                                               uint32_t site, uint32_t set, int by_calls) {
    const struct arena_windows *w = rank_windows_at(s, unit);
    for (uint32_t i = 0; i < ARENA_WINDOW_RECORDS && w; ++i) {
        if (is_record_of(s, w, site, set, by_calls)) {
            return w->lacks ? NULL : w;
        }
        w = rank_windows_at(s, w->next);
    }
    return NULL;
}

/* Whether the record has so many calls, but for a tenth. */
static int holds_calls(const struct arena_windows *w, uint64_t calls) {
    uint64_t held = 0;
    for (uint32_t i = 0; i < w->room; ++i) {
        held = saturating_add(held, w->window[i].calls);
    }
    return (double)held >= 0.9 * (double)calls && 0.9 * (double)held <= (double)calls;
}

/* Steps of the record, whose steps are `parts` calls each. */
static uint64_t record_steps(const struct arena_windows *w, uint32_t parts) {
    uint64_t steps = u64_min(w->steps, saturating_multiply(w->width, w->room));
    return w->by_calls ? (steps + parts - 1) / parts : steps;
}

/* The narrowest window of whole steps, of `parts` calls each, to which the record can be added
 * up. */
static uint64_t record_width(const struct arena_windows *w, uint32_t parts) {
    uint64_t width = w->width;
    for (uint32_t left = parts; w->by_calls && width > 1 && left % 2 == 0; left /= 2) {
        width /= 2;
    }
    return width;
}

static void sum_window(const struct arena_windows *w, uint64_t width, uint32_t parts,
                       uint32_t window, double ns_per_tick, uint64_t *calls, uint64_t *ns) {
    uint64_t ticks = 0, each = width / w->width;
    if (w->by_calls) {
        each = saturating_multiply(width, parts) / w->width;
    }
    uint64_t first = saturating_multiply(window, each), end = saturating_add(first, each);
    *calls = 0;
    for (uint64_t i = first; i < end && i < w->room; ++i) {
        *calls = saturating_add(*calls, w->window[i].calls);
        ticks = saturating_add(ticks, w->window[i].ticks);
    }
    *ns = snapshot_whole((double)ticks * ns_per_tick + 0.5);
}

/* The number of windows of such a width, which is widened until there is room for them. */
static uint32_t count_windows(uint64_t steps, uint64_t *width) {
    while (steps / *width + (steps % *width != 0) > ARENA_WINDOWS) {
        *width = saturating_add(*width, *width);
    }
    return (uint32_t)(steps / *width + (steps % *width != 0));
}

/* Whether all ranks in the room have a record of that kind that holds their calls. */
static int find_records(struct rank_windows *out, const struct ranks_room *room, uint32_t name,
                        int by_calls) {
    const struct ranks *r = out->ranks;
    int all = 1;
    out->by_calls = by_calls;
    out->with = 0;
    for (uint32_t i = 0; i < room->count; ++i) {
        uint32_t rank = room->of[i];
        const struct arena_windows *w = find_record(
            r->snapshot, r->rank[rank].windows, r->name[name].site, r->name[name].set, by_calls);
        out->record[rank] = w;
        out->with += w != NULL;
        all &= w && holds_calls(w, room->calls[i]);
    }
    out->without = room->count - out->with;
    return all;
}

/* The calls of a step of each rank. */
static void find_parts(struct rank_windows *out, const struct ranks_room *room) {
    uint64_t steps = ranks_steps_of(room->calls, room->count);
    out->calls_differ = out->by_calls && !steps;
    for (uint32_t i = 0; i < room->count; ++i) {
        out->parts[room->of[i]] = 1;
        if (steps > 0 && room->calls[i] / steps <= RANK_PARTS_MOST) {
            out->parts[room->of[i]] = (uint32_t)u64_max(room->calls[i] / steps, 1);
        }
    }
}

int rank_windows_read(struct rank_windows *out, const struct ranks *r, uint32_t name,
                      struct ranks_room *room, struct scratch *memory) {
    memset(out, 0, sizeof *out);
    out->ranks = r;
    out->width = 1;
    out->record = scratch_array(memory, (size_t)r->count + 1, sizeof *out->record);
    out->parts = scratch_array(memory, (size_t)r->count + 1, sizeof *out->parts);
    if (scratch_failed(memory)) {
        return -1;
    }
    ranks_collect(room, r, name);
    ranks_room_set_role(room, r, name);
    if (!find_records(out, room, name, 0)) {
        find_records(out, room, name, 1);
        if (out->without) {
            find_records(out, room, name, 0);
        }
    }
    find_parts(out, room);
    for (uint32_t i = 0; i < r->count && !out->calls_differ; ++i) {
        const struct arena_windows *w = out->record[i];
        if (w) {
            out->width = u64_max(out->width, record_width(w, out->parts[i]));
            out->steps = u64_max(out->steps, record_steps(w, out->parts[i]));
        }
    }
    out->count = count_windows(out->steps, &out->width);
    return 0;
}

/* Whether each rank has its calls of the same steps in the window. */
static int have_parts(const struct rank_windows *w, const struct ranks_room *room) {
    for (uint32_t i = 0; i < room->count; ++i) {
        uint64_t own = saturating_multiply(room->calls[i], w->parts[room->of[0]]);
        if (own != saturating_multiply(room->calls[0], w->parts[room->of[i]])) {
            return 0;
        }
    }
    return 1;
}

void rank_windows_wait(struct rank_wait *out, const struct rank_windows *w, uint32_t window,
                       struct ranks_room *room) {
    ranks_room_empty(room);
    for (uint32_t i = 0; i < w->ranks->count; ++i) {
        uint64_t calls = 0, ns = 0;
        if (w->record[i]) {
            sum_window(w->record[i], w->width, w->parts[i], window, w->ranks->snapshot->ns_per_tick,
                       &calls, &ns);
        }
        if (calls) {
            ranks_room_put(room, i, calls, ns);
        }
    }
    ranks_wait_of(out, room);
    if (out->calls_differ) {
        out->calls_differ = !have_parts(w, room);
    }
}

static int is_last_more(const void *what, uint32_t a, uint32_t b) {
    const struct rank_last *of = what;
    if (of[a].cost_ns != of[b].cost_ns) {
        return of[a].cost_ns > of[b].cost_ns;
    }
    return of[a].windows > of[b].windows;
}

static void tally_window(struct rank_tally *out, const struct rank_wait *wait) {
    if (wait->calls_differ) {
        ++out->differ;
        return;
    }
    if (!wait->cost_ns || wait->late == RANK_NONE) {
        return;
    }
    struct rank_last *last = &out->of[wait->late];
    double alone_ns = (double)wait->cost_ns * wait->covered_ppm / 1e6;
    ++out->windows;
    out->cost_ns += wait->cost_ns;
    ++last->windows;
    last->alone += (uint32_t)ranks_wait_is_alone(wait);
    last->cost_ns += wait->cost_ns;
    last->alone_ns += snapshot_sum_whole(alone_ns);
}

int rank_windows_tally(struct rank_tally *out, const struct rank_windows *w, uint32_t first,
                       uint32_t end, struct ranks_room *room, struct scratch *memory) {
    struct rank_wait wait;
    uint32_t count = w->ranks->count;
    memset(out, 0, sizeof *out);
    out->of = scratch_array(memory, (size_t)count + 1, sizeof *out->of);
    if (scratch_failed(memory)) {
        return -1;
    }
    for (uint32_t i = first; i < end && i < w->count; ++i) {
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
