/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes lanes of the rings of a snapshot, and walks over their events: called by exports, by merge,
 * which aligns clocks, and by `stint info`, which counts.
 *
 * Implementation notes
 * - Honest rings share no byte: all of them together are no larger than the arena, and what goes
 *   beyond is not read. So a file cannot make us read one ring a million times.
 * - What is read again must be the same: a ring that threads may be writing is copied first, 16
 *   bytes for each place. That of a file at rest is read in pieces, for its order and at each walk.
 */
#include "trace.h"

#include <stdio.h>
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "snapshot_parts.h"
#include "trace_rings.h"

#define LANES_MOST 65536u /* of streams */
/* Up to here, of ticks and of nanoseconds, sums of doubles are exact to one. */
#define EXACT_TICKS 4e15
#define EXACT_NS 4e15
/* The ticks of a clock, with room to spare. */
#define TICK_MIN_NS 1e-3
#define TICK_MAX_NS 1e6

/* ---- Rings. */

static void find_ring(struct trace_rings *r, struct trace_source *from, uint32_t unit) {
    from->has_ring = !snapshot_ring_find(r->s, unit, &from->ring) && from->ring.places <= r->budget;
    if (from->has_ring) {
        r->budget -= from->ring.places;
        from->kept = (uint32_t)(from->ring.head - from->ring.first);
    }
}

static int map_units(struct trace_rings *r) {
    struct snapshot *s = r->s;
    if (hash_map_start(&r->activities, &s->memory, s->activity_count) ||
        hash_map_start(&r->threads, &s->memory, s->thread_count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        hash_map_set(&r->activities, s->activities[i].unit, i);
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        hash_map_set(&r->threads, s->threads[i].unit, i);
    }
    return 0;
}

static void rings_set_clock(struct trace_rings *r, const struct arena_header *h) {
    const struct snapshot *s = r->s;
    r->start_ticks = h->start.ticks;
    r->start_ns = (double)(int64_t)(h->start.monotonic_ns - s->start_ns);
    r->ns_per_tick = s->ns_per_tick;
    r->half_ns = s->is_format_4 ? 0 : 0.5;
    int is_clock = r->ns_per_tick > TICK_MIN_NS && r->ns_per_tick < TICK_MAX_NS &&
                   r->start_ns >= 0 && r->start_ns < EXACT_NS && r->start_ticks < TRACE_TICKS / 2;
    double ticks = is_clock ? (EXACT_NS - r->start_ns) / r->ns_per_tick : 0;
    if (ticks > STINT_IMPL_SPAN_LONG) {
        r->exact_ticks = (uint64_t)double_min(ticks, EXACT_TICKS) - STINT_IMPL_SPAN_LONG;
    }
}

/* Threads, then streams as they were numbered: each has a place, also without a ring. NULL without
 * memory. Where rings share bytes, the newest stream's is read. */
static struct trace_rings *rings_list(struct snapshot *s) {
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    const struct arena_lane *l;
    struct snapshot_list streams =
        SNAPSHOT_LIST(s, SNAPSHOT_ACQUIRE(&h->first_lane), struct arena_lane, LANES_MOST);
    struct trace_rings *r = scratch_get(&s->memory, sizeof *r);
    uint32_t count = s->thread_count + snapshot_list_count(streams);
    struct trace_source *source = scratch_array(&s->memory, (size_t)count + 1, sizeof *source);
    if (scratch_failed(&s->memory)) {
        return NULL;
    }
    r->s = s;
    r->source = source;
    r->count = count;
    r->budget = s->size / sizeof(struct stint_impl_event);
    rings_set_clock(r, h);
    for (uint32_t i = 0; i < TRACE_NODES; ++i) {
        r->node[i].node = SNAPSHOT_NONE; /* no node is at unit 0 */
    }
    if (map_units(r)) {
        return NULL;
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        source[i].lane.thread = i;
        trace_name_thread(&source[i].lane, &s->threads[i]);
        find_ring(r, &source[i], s->threads[i].ring);
    }
    for (uint32_t i = count; i > s->thread_count && (l = snapshot_list_next(&streams));) {
        trace_name_stream(&source[--i].lane, l, s);
        find_ring(r, &source[i], l->ring);
    }
    return r;
}

static void count_ring(struct trace_count *out, struct trace_rings *r,
                       const struct trace_source *from) {
    struct trace_event event;
    for (uint32_t first = 0, count; first < from->kept; first += count) {
        count = (uint32_t)u64_min(from->kept - first, TRACE_PIECE);
        const struct stint_impl_event *e = trace_ring_row(r, from, first, count);
        for (const struct stint_impl_event *end = e + count; e < end; ++e) {
            if (trace_event_kind(e) == STINT_IMPL_EVENT_PAYLOAD) {
                continue;
            }
            if (trace_event_decode(r, from, e, &event)) {
                ++out->overwritten;
            } else {
                ++out->kinds[event.kind];
            }
        }
    }
}

int trace_count(struct trace_count *out, struct snapshot *s) {
    struct trace_rings *r = rings_list(s);
    memset(out, 0, sizeof *out);
    if (!r) {
        return -1;
    }
    for (uint32_t i = 0; i < r->count; ++i) {
        const struct trace_source *from = &r->source[i];
        if (from->has_ring && from->kept) {
            ++out->rings;
            out->overwritten += from->ring.first;
            count_ring(out, r, from);
        }
    }
    return 0;
}

/* ---- Lanes. */

static void lanes_add(struct trace *t, uint32_t source, const struct trace_source *from) {
    for (uint32_t at = 0; at < TRACE_SPLITS; ++at) {
        uint64_t count = from->count[at] + (at ? 0 : from->nested_count);
        if (!count && (at || !from->lost)) {
            continue;
        }
        struct trace_lane *lane = &t->lanes[t->lane_count++];
        *lane = from->lane;
        lane->source = source;
        lane->split = at;
        lane->count = count;
        t->event_count += count;
        if (at) {
            snprintf(lane->name, sizeof lane->name, "%.90s (%s %u)", from->lane.name,
                     from->lane.thread == SNAPSHOT_NONE ? "overlapping" : "intervals", at);
        } else {
            lane->overwritten = from->lost;
        }
    }
}

/* A copy of what threads may be writing. */
static int copy_written_ring(struct snapshot *s, struct trace_source *from) {
    struct stint_impl_event *copy = scratch_array(&s->memory, (size_t)from->kept + 1, sizeof *copy);
    if (!copy) {
        return -1;
    }
    snapshot_ring_read(s, &from->ring, from->ring.first, from->kept, copy + 1);
    from->copy = copy;
    return 0;
}

int trace_read(struct trace *out, struct snapshot *s) {
    struct trace_rings *r = rings_list(s);
    size_t rings = 0;
    memset(out, 0, sizeof *out);
    out->until_ns = UINT64_MAX;
    out->rings = r;
    if (!r) {
        return -1;
    }
    for (uint32_t i = 0; i < r->count; ++i) {
        struct trace_source *from = &r->source[i];
        rings += from->has_ring != 0;
        if (from->has_ring && (!s->pull || s->is_written) && copy_written_ring(s, from)) {
            return -1;
        }
    }
    r->splits = scratch_array(&s->memory, TRACE_SPLITS, sizeof *r->splits);
    out->lanes = scratch_array(&s->memory, rings * TRACE_SPLITS + 1, sizeof *out->lanes);
    int failed = scratch_failed(&s->memory);
    for (uint32_t i = 0; i < r->count && !failed; ++i) {
        struct trace_source *from = &r->source[i];
        if (from->has_ring) {
            failed = trace_order(r, from);
            lanes_add(out, i, from);
        }
    }
    return failed ? -1 : 0;
}

/* ---- Walks. */

void trace_walk_start(struct trace_walk *w, struct trace *t, uint32_t lane) {
    w->trace = t;
    w->rings = t->rings;
    w->from_ns = t->from_ns;
    w->until_ns = t->until_ns;
    w->lane = &t->lanes[lane];
    w->from = &t->rings->source[w->lane->source];
    w->next = w->row_count = 0;
    w->nested_count = w->lane->split ? 0 : w->from->nested_count;
    w->nested = w->from->nested;
    w->depth = w->from->depth;
    w->event = (struct trace_event){
        .node = SNAPSHOT_NONE, .activity = SNAPSHOT_NONE, .launch_thread = SNAPSHOT_NONE};
    t->rings->splits[0].depth = 0;
}

/* The place of the next event; -1 after the last one. Those of the lanes that follow did not fit
 * here: they have ended what was over. */
static inline int walk_place(struct trace_walk *w, const struct trace_source *from,
                             uint32_t *place) {
    struct trace_rings *r = w->rings;
    uint32_t split = w->lane->split;
    if (w->nested_count) {
        if (w->next == w->nested_count) {
            return -1;
        }
        *place = w->nested[w->next++];
        return 0;
    }
    while (w->next < from->sorted_count) {
        uint32_t entry = from->sorted[w->next++];
        *place = entry & TRACE_PLACE;
        if (entry >> TRACE_PLACE_BITS == split) {
            return 0;
        }
        if (entry >> TRACE_PLACE_BITS > split) {
            trace_split_pass(r, from, *place, split);
        }
    }
    return -1;
}

/* The event at a place, mostly of the row that the last one was in. */
static inline const struct stint_impl_event *walk_at(struct trace_walk *w, uint32_t place) {
    if (place - w->row_first < w->row_count) {
        return w->row + (place - w->row_first);
    }
    const struct stint_impl_event *e = trace_ring_at(w->rings, w->from, place);
    w->row = trace_ring_row_of(w->rings, w->from, &w->row_first, &w->row_count);
    return e;
}

static int walk_event(const struct trace_walk *w, const struct trace_source *from,
                      const struct stint_impl_event *e, struct trace_event *out, uint32_t place) {
    struct trace_rings *r = w->rings;
    if (trace_event_decode(r, from, e, out)) {
        return -1;
    }
    trace_event_set_times(r, e, out);
    if (!w->nested_count) {
        out->start_ns = from->start_ns[place];
    }
    if (out->kind == TRACE_SPAN && w->nested_count) {
        out->depth = w->depth[w->next - 1];
    } else if (out->kind == TRACE_SPAN) {
        out->depth = trace_split_enter(&r->splits[0], out, place);
    }
    return 0;
}

static const struct trace_event *walk_next(struct trace_walk *w) {
    struct trace_event *out = &w->event;
    uint32_t place;
    while (!walk_place(w, w->from, &place)) {
        if (walk_event(w, w->from, walk_at(w, place), out, place)) {
            ++w->trace->vanished;
        } else if (out->start_ns < w->until_ns && out->start_ns + out->duration_ns >= w->from_ns) {
            return out;
        }
    }
    return NULL;
}

/* Most events are scopes of a thread. Sets what is not the same in all of these: trace_event_decode
 * sets the rest. */
const struct trace_event *trace_walk_next(struct trace_walk *w) {
    const struct trace_rings *r = w->rings;
    struct trace_event *out = &w->event;
    if (w->next >= w->nested_count) {
        return walk_next(w);
    }
    uint32_t place = w->nested[w->next];
    if (place - w->row_first >= w->row_count) {
        return walk_next(w);
    }
    const struct stint_impl_event *e = w->row + (place - w->row_first);
    uint64_t start = e->at - r->start_ticks, length = e->what & STINT_IMPL_SPAN_LONG;
    if (start >= r->exact_ticks || length == STINT_IMPL_SPAN_LONG || !trace_is_scope(r, e)) {
        return walk_next(w);
    }
    const struct trace_node *node = trace_node_place(r, e);
    out->kind = TRACE_SPAN;
    out->node = node->node;
    out->site = node->site;
    out->set = node->set;
    out->start_ns = trace_ns_after(r, start);
    uint64_t end_ns = trace_ns_after(r, start + length);
    out->duration_ns = end_ns - out->start_ns;
    out->depth = w->depth[w->next++];
    if (out->start_ns < w->until_ns && end_ns >= w->from_ns) {
        return out;
    }
    return walk_next(w);
}
