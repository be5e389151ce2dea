/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A ring may be written while it is read: an event counts if it is whole and the same before and
 *   after it was copied, and its place was not taken again; what was not is as good as overwritten.
 * - What is inside a span ended, and so was recorded, before it. Of two that began together the one
 *   recorded later is around the other, also when their times are equal to the nanosecond.
 * - Honest rings share no byte: all of them together are no larger than the arena, and what goes
 *   beyond is not read. So a file cannot make us read one ring a million times.
 * - One ring at a time is taken apart, in memory that goes back at once.
 */
#include "trace.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/order.h"

#define ACQUIRE(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define LANES_MOST 65536u /* of streams */
#define SPLITS 16u        /* lanes one thread or stream may need for what overlaps */
#define DEPTH_MOST 1024u
/* Positions of activities come from two clocks, which may run apart by 500 ppm. */
#define INEXACT_PER 2000u
#define ROUNDED_NS 2u
#define TICKS (((uint64_t)1 << STINT_IMPL_EVENT_KIND) - 1)

struct item {
    struct trace_event event;
    uint64_t order; /* in its ring */
    uint32_t split;
};

/* One ring on its way to lanes. */
struct source {
    struct trace_lane lane; /* name and owner for what comes of it */
    const struct stint_impl_ring *ring;
    uint64_t size; /* places */
    uint64_t head;
    uint64_t kept;
};

/* The items of one of them. */
struct pile {
    struct scratch memory;
    struct item *items;
    const uint32_t *sorted; /* numbers of items, by start */
    uint64_t count;
    uint64_t lost; /* overwritten, or nothing that can be told */
};

struct open_span {
    uint64_t end;
    uint64_t inexact; /* ns, of an activity */
    uint64_t order;
};

struct split {
    struct open_span open[DEPTH_MOST];
    uint32_t depth;
    uint64_t count;
};

struct reading {
    struct snapshot *s;
    struct trace *out;
    struct split *splits;
    struct hash_map activities; /* to their index */
    struct hash_map threads;
    uint64_t budget; /* places that may still be read */
};

static uint64_t ns_of(const struct snapshot *s, uint64_t ticks) {
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    double since = (double)(int64_t)(ticks - h->start.ticks) * s->ns_per_tick +
                   (double)(int64_t)(h->start.monotonic_ns - s->start_ns);
    if (since > 0 && since < 9e18) {
        return (uint64_t)(since + (s->is_format_4 ? 0 : 0.5));
    }
    return 0;
}

/* ---- Rings. */

static void find_ring(struct reading *r, struct source *from, uint32_t unit) {
    uint64_t size;
    const struct stint_impl_ring *ring = snapshot_ring(r->s, unit, &size);
    if (ring && size <= r->budget) {
        r->budget -= size;
        from->ring = ring;
        from->size = size;
        from->head = ACQUIRE(&from->ring->head);
        from->kept = u64_min(from->head, size);
    }
}

/* 0 when it is being written or was overwritten meanwhile. */
static int copy_event(const struct source *from, uint64_t number, struct stint_impl_event *to) {
    const struct stint_impl_event *e =
        (const struct stint_impl_event *)(const void *)(from->ring + 1) +
        (number & (from->size - 1));
    to->at = ACQUIRE(&e->at);
    to->what = ACQUIRE(&e->what);
    return to->at && ACQUIRE(&e->at) == to->at &&
           STINT_IMPL_LOAD(&from->ring->head) - number <= from->size;
}

/* The payload that belongs to the event, or NULL. */
static const uint64_t *payload_of(const struct stint_impl_event *before,
                                  const struct stint_impl_event *e) {
    int is_payload = before->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_PAYLOAD;
    if (is_payload && (before->at & TICKS) == (e->at & TICKS)) {
        return &before->what;
    }
    return NULL;
}

static int decode_span(const struct snapshot *s, const struct stint_impl_event *e,
                       struct trace_event *out) {
    out->kind = TRACE_SPAN;
    out->node = snapshot_node_of(s, (uint32_t)(e->what >> STINT_IMPL_SPAN_BITS));
    if (out->node != SNAPSHOT_NONE) {
        out->site = s->nodes[out->node].site;
    }
    return out->node == SNAPSHOT_NONE ? -1 : 0;
}

static int decode_activity(const struct reading *r, const struct stint_impl_event *e,
                           struct trace_event *out) {
    out->kind = TRACE_SPAN;
    out->activity = hash_map_get(&r->activities, (uint32_t)(e->what >> STINT_IMPL_SPAN_BITS));
    return out->activity == SNAPSHOT_NONE ? -1 : 0;
}

/* Bytes that are allocated on a device from then on. */
static int decode_memory(const struct reading *r, const struct stint_impl_event *e,
                         const uint64_t *payload, struct trace_event *out) {
    int is_value = e->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_VALUE;
    if (!is_value || !payload || e->what > UINT32_MAX) {
        return -1;
    }
    out->kind = TRACE_VALUE;
    memcpy(&out->value, payload, sizeof out->value);
    out->activity = hash_map_get(&r->activities, (uint32_t)e->what);
    return out->activity == SNAPSHOT_NONE || !isfinite(out->value) ? -1 : 0;
}

/* 0 if the event is one of the lane. Sets all but the times, which are not needed for a count. */
static int event_decode(const struct reading *r, const struct source *from,
                        const struct stint_impl_event *e, const uint64_t *payload,
                        struct trace_event *out) {
    const struct snapshot *s = r->s;
    memset(out, 0, sizeof *out);
    out->node = out->activity = out->launch_thread = SNAPSHOT_NONE;
    if (from->lane.memory) {
        return decode_memory(r, e, payload, out);
    }
    if (from->lane.activities) {
        if (e->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_SPAN) {
            return decode_activity(r, e, out);
        }
        return -1;
    }
    if (e->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_SPAN) {
        return decode_span(s, e, out);
    }
    out->kind = TRACE_MARK;
    if (e->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_VALUE) {
        out->kind = TRACE_VALUE;
        if (!payload) {
            return -1;
        }
        memcpy(&out->value, payload, sizeof out->value);
    }
    out->site = e->what <= s->site_count ? (uint32_t)e->what : 0;
    return out->site && isfinite(out->value) ? 0 : -1;
}

static uint64_t span_read_length(const struct stint_impl_event *e, const uint64_t *payload) {
    uint64_t length = e->what & STINT_IMPL_SPAN_LONG;
    if (length == STINT_IMPL_SPAN_LONG && payload && *payload > length) {
        return *payload;
    }
    return length;
}

static uint64_t span_duration(const struct snapshot *s, const struct stint_impl_event *e,
                              const uint64_t *payload, uint64_t start_ns) {
    uint64_t ticks = span_read_length(e, payload);
    return saturating_subtract(ns_of(s, (e->at & TICKS) + ticks), start_ns);
}

/* A launch so long before that its time does not fit into the payload is unknown. */
static void activity_set_times(const struct reading *r, const struct stint_impl_event *e,
                               const uint64_t *payload, struct trace_event *out) {
    uint64_t before = STINT_IMPL_SPAN_LONG;
    if (payload) {
        before = *payload & STINT_IMPL_SPAN_LONG;
    }
    out->duration_ns = e->what & STINT_IMPL_SPAN_LONG;
    if (before != STINT_IMPL_SPAN_LONG && before <= (e->at & TICKS)) {
        out->launch_thread =
            hash_map_get(&r->threads, (uint32_t)(*payload >> STINT_IMPL_SPAN_BITS));
        out->launch_ns = ns_of(r->s, (e->at & TICKS) - before);
    }
}

/* Sets the times of an event that event_decode has accepted. */
static void event_set_times(const struct reading *r, const struct stint_impl_event *e,
                            const uint64_t *payload, struct trace_event *out) {
    out->start_ns = ns_of(r->s, e->at & TICKS);
    if (out->kind != TRACE_SPAN) {
        return;
    }
    if (out->activity != SNAPSHOT_NONE) {
        activity_set_times(r, e, payload, out);
    } else if (r->s->nodes[out->node].in_ns) {
        out->duration_ns = span_read_length(e, payload);
    } else {
        out->duration_ns = span_duration(r->s, e, payload, out->start_ns);
    }
}

/* A walk over the events of a ring, from the oldest. */
struct ring_walk {
    uint64_t next;
    uint64_t lost; /* overwritten, or nothing that can be told */
    struct stint_impl_event event;
    struct stint_impl_event before; /* the one recorded before it, which may be its payload */
};

static void ring_walk_start(struct ring_walk *walk, const struct source *from) {
    memset(walk, 0, sizeof *walk);
    walk->next = from->head - from->kept;
    walk->lost = walk->next;
}

/* The next event that can be told, without its times. 0 after the last one. */
static int ring_walk_event(struct ring_walk *walk, const struct reading *r,
                           const struct source *from, struct trace_event *out) {
    while (walk->next < from->head) {
        struct stint_impl_event *e = &walk->event;
        walk->before = *e;
        int copied = copy_event(from, walk->next++, e);
        if (!copied) {
            e->at = 0;
        }
        if (copied && e->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_PAYLOAD) {
            continue;
        }
        if (copied && !event_decode(r, from, e, payload_of(&walk->before, e), out)) {
            return 1;
        }
        ++walk->lost;
    }
    return 0;
}

/* 0, or -1 without memory. */
static int read_ring(const struct reading *r, const struct source *from, struct pile *out) {
    struct ring_walk walk;
    memset(out, 0, sizeof *out);
    out->items = scratch_array(&out->memory, from->kept + 1, sizeof *out->items);
    if (scratch_failed(&out->memory)) {
        return -1;
    }
    ring_walk_start(&walk, from);
    while (ring_walk_event(&walk, r, from, &out->items[out->count].event)) {
        struct item *item = &out->items[out->count++];
        event_set_times(r, &walk.event, payload_of(&walk.before, &walk.event), &item->event);
        item->order = walk.next - 1;
    }
    out->lost = walk.lost;
    return 0;
}

/* ---- Lanes. */

/* By start, what is around first. */
static int is_event_before(const void *what, uint32_t left, uint32_t right) {
    const struct item *items = what, *a = &items[left], *b = &items[right];
    if (a->event.start_ns != b->event.start_ns) {
        return a->event.start_ns < b->event.start_ns;
    }
    if (a->event.duration_ns != b->event.duration_ns) {
        return a->event.duration_ns > b->event.duration_ns;
    }
    return a->order > b->order;
}

static int span_is_over(const struct open_span *o, const struct item *item) {
    const struct trace_event *e = &item->event;
    return o->end < e->start_ns ||
           (o->end == e->start_ns && (e->duration_ns || o->order < item->order));
}

/* When an activity began is known less exactly than how long it took: one that seems to overlap
 * with the end of another one by so little began when that ended. */
static void span_join(const struct split *lane, struct item *item) {
    const struct open_span *last = &lane->open[lane->depth - 1];
    uint64_t overlap = saturating_subtract(last->end, item->event.start_ns);
    if (overlap && overlap <= last->inexact) {
        item->event.start_ns = last->end;
    }
}

/* Whether the span nests there; then it is open there. Activities do not nest. */
static int span_fits(struct split *lane, struct item *item, int flat) {
    if (flat && lane->depth) {
        span_join(lane, item);
    }
    uint64_t end = item->event.start_ns + item->event.duration_ns;
    while (lane->depth && span_is_over(&lane->open[lane->depth - 1], item)) {
        --lane->depth;
    }
    if (lane->depth && (flat || end > lane->open[lane->depth - 1].end)) {
        return 0;
    }
    item->event.depth = lane->depth;
    if (lane->depth < DEPTH_MOST) {
        lane->open[lane->depth].end = end;
        lane->open[lane->depth].inexact = ROUNDED_NS + item->event.duration_ns / INEXACT_PER;
        lane->open[lane->depth++].order = item->order;
    }
    return 1;
}

/* Spans to lanes on which they nest. Intervals have no parent: never on a thread's first lane. */
static void spans_place(const struct reading *r, const struct source *from, struct pile *pile) {
    uint64_t kept = pile->count;
    for (uint32_t i = 0; i < SPLITS; ++i) {
        r->splits[i].depth = 0;
        r->splits[i].count = 0;
    }
    for (uint64_t i = 0; i < kept; ++i) {
        struct item *item = &pile->items[pile->sorted[i]];
        uint32_t at = 0;
        if (item->event.kind == TRACE_SPAN) {
            at = from->lane.thread != SNAPSHOT_NONE &&
                 r->s->nodes[item->event.node].kind == STINT_IMPL_INTERVAL_NODE;
            while (at < SPLITS && !span_fits(&r->splits[at], item, from->lane.activities)) {
                ++at;
            }
        }
        item->split = at;
        if (at < SPLITS) {
            ++r->splits[at].count;
        } else {
            ++pile->lost; /* no lane is left for it */
        }
    }
}

static void lanes_emit(const struct reading *r, const struct source *from,
                       const struct pile *pile) {
    struct trace *t = r->out;
    for (uint32_t at = 0; at < SPLITS; ++at) {
        if (!r->splits[at].count && (at || !pile->lost)) {
            continue;
        }
        struct trace_lane *lane = &t->lanes[t->lane_count++];
        *lane = from->lane;
        lane->first = t->event_count;
        lane->overwritten = at ? 0 : pile->lost;
        if (at) {
            snprintf(lane->name, sizeof lane->name, "%.90s (%s %u)", from->lane.name,
                     from->lane.thread == SNAPSHOT_NONE ? "overlapping" : "intervals", at);
        }
        for (uint64_t i = 0; i < pile->count; ++i) {
            const struct item *item = &pile->items[pile->sorted[i]];
            if (item->split == at) {
                t->events[t->event_count++] = item->event;
            }
        }
        lane->count = t->event_count - lane->first;
    }
}

static int add_source(const struct reading *r, const struct source *from) {
    struct pile pile;
    int failed = read_ring(r, from, &pile);
    if (!failed) {
        pile.sorted = order_by(&pile.memory, (uint32_t)pile.count, is_event_before, pile.items);
        failed = scratch_failed(&pile.memory) ? -1 : 0;
    }
    if (!failed) {
        spans_place(r, from, &pile);
        lanes_emit(r, from, &pile);
    }
    scratch_free(&pile.memory);
    return failed;
}

/* ---- What there is to read. */

static int map_units(struct reading *r) {
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

/* Threads, then streams as they were numbered: each has a place, also without a ring. */
struct source_list {
    struct source *from;
    uint32_t count;
};

/* 0, or -1 without memory. Where rings share bytes, the newest stream's is read. */
static int list_sources(struct reading *r, struct source_list *out) {
    struct snapshot *s = r->s;
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    const struct arena_lane *l;
    struct snapshot_list streams =
        SNAPSHOT_LIST(s, ACQUIRE(&h->first_lane), struct arena_lane, LANES_MOST);
    r->budget = s->size / sizeof(struct stint_impl_event);
    out->count = s->thread_count + snapshot_list_count(streams);
    out->from = scratch_array(&s->memory, (size_t)out->count + 1, sizeof *out->from);
    if (scratch_failed(&s->memory) || map_units(r)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        out->from[i].lane.thread = i;
        trace_name_thread(&out->from[i].lane, &s->threads[i]);
        find_ring(r, &out->from[i], s->threads[i].ring);
    }
    for (uint32_t i = out->count; i > s->thread_count && (l = snapshot_list_next(&streams));) {
        trace_name_stream(&out->from[--i].lane, l, s);
        find_ring(r, &out->from[i], l->ring);
    }
    return 0;
}

int trace_count(struct trace_count *out, struct snapshot *s) {
    struct reading r = {.s = s};
    struct source_list list;
    memset(out, 0, sizeof *out);
    if (list_sources(&r, &list)) {
        return -1;
    }
    for (uint32_t i = 0; i < list.count; ++i) {
        const struct source *from = &list.from[i];
        struct ring_walk walk;
        struct trace_event event;
        if (!from->ring || !from->head) {
            continue;
        }
        ++out->rings;
        ring_walk_start(&walk, from);
        while (ring_walk_event(&walk, &r, from, &event)) {
            ++out->kinds[event.kind];
        }
        out->overwritten += walk.lost;
    }
    return 0;
}

int trace_read(struct trace *out, struct snapshot *s) {
    struct reading r = {.s = s, .out = out};
    struct source_list list;
    size_t events = 0, rings = 0;
    memset(out, 0, sizeof *out);
    if (list_sources(&r, &list)) {
        return -1;
    }
    for (uint32_t i = 0; i < list.count; ++i) {
        events += list.from[i].kept;
        rings += list.from[i].ring != NULL;
    }
    r.splits = scratch_array(&s->memory, SPLITS, sizeof *r.splits);
    out->lanes = scratch_array(&s->memory, rings * SPLITS + 1, sizeof *out->lanes);
    out->events = scratch_array(&s->memory, events + 1, sizeof *out->events);
    int failed = scratch_failed(&s->memory);
    for (uint32_t i = 0; i < list.count && !failed; ++i) {
        failed = list.from[i].ring && add_source(&r, &list.from[i]);
    }
    return failed ? -1 : 0;
}
