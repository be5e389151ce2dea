/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last time that a run file without an end shows: the latest of all ticks in it. Ticks and
 * lists of a damaged file may have any value.
 */
#include "run_parts.h"

#include "base/arithmetic.h"

#define TICKS_MAX ((uint64_t)1 << 62) /* no clock counts further */
#define LANES_MAX 65536u
#define NEWEST 64u /* events of a ring: GPU spans do not end in order */

static void move_later(uint64_t *now, uint64_t ticks, uint64_t length) {
    if (ticks < TICKS_MAX && length < TICKS_MAX && ticks + length > *now) {
        *now = ticks + length;
    }
}

static void move_past_nodes(uint64_t *now, const struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->count) {
            move_later(now, n->max_at, snapshot_node_ticks(s, n, n->max));
            move_later(now, snapshot_first_begin(n), snapshot_node_ticks(s, n, n->first));
        }
    }
}

static int is_event(const struct stint_impl_event *e, uint64_t kind) {
    return e->at >> STINT_IMPL_EVENT_KIND == kind;
}

/* The length of a span. If it is too long for its event, it is in the payload before it. An
 * activity's payload is not a length. */
static uint64_t span_length(const struct stint_impl_event *e, const struct stint_impl_event *before,
                            uint32_t kind) {
    uint64_t ticks = e->what & STINT_IMPL_SPAN_LONG;
    if (ticks < STINT_IMPL_SPAN_LONG || kind != ARENA_LANE_EVENTS) {
        return ticks;
    }
    if (!before ||
        before->at != ((uint64_t)STINT_IMPL_EVENT_PAYLOAD << STINT_IMPL_EVENT_KIND | e->at)) {
        return ticks;
    }
    return u64_max(ticks, before->what);
}

static void move_past_ring(uint64_t *now, const struct snapshot *s, uint32_t unit, uint32_t kind) {
    struct snapshot_ring ring;
    struct stint_impl_event events[NEWEST + 1];
    if (snapshot_ring_find(s, unit, &ring)) {
        return;
    }
    uint64_t count = u64_min(ring.head - ring.first, NEWEST + 1);
    snapshot_ring_read(s, &ring, ring.head - count, count, events);
    for (uint64_t i = count > NEWEST; i < count; ++i) {
        const struct stint_impl_event *e = &events[i];
        uint64_t ticks = e->at & (((uint64_t)1 << STINT_IMPL_EVENT_KIND) - 1);
        uint64_t length = 0;
        if (is_event(e, STINT_IMPL_EVENT_SPAN)) {
            length = span_length(e, i ? e - 1 : NULL, kind);
        }
        move_later(now, ticks, length);
    }
}

static void move_past_threads(uint64_t *now, const struct snapshot *s,
                              const struct arena_header *h) {
    struct snapshot_list list =
        SNAPSHOT_LIST(s, h->first_thread, struct arena_thread, s->thread_count);
    const struct arena_thread *t;
    while ((t = snapshot_list_next(&list))) {
        move_later(now, t->start_ticks, 0);
        move_later(now, t->end_ticks, 0);
        move_past_ring(now, s, t->ring, ARENA_LANE_EVENTS);
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        move_later(now, s->threads[i].last_begin, 0);
    }
}

/* Their times are nanoseconds since the start of the arena. */
static void move_past_activities(uint64_t *now, const struct snapshot *s,
                                 const struct arena_header *h) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->last_at < TICKS_MAX) {
            last = u64_max(last, a->last_at);
        }
    }
    move_later(now, h->start.ticks, snapshot_whole((double)last / s->ns_per_tick));
}

uint64_t run_latest(const struct snapshot *s, const struct arena_header *h) {
    uint64_t now = 0;
    const struct arena_lane *l;
    move_past_nodes(&now, s);
    move_past_threads(&now, s, h);
    move_past_activities(&now, s, h);
    struct snapshot_list lanes = SNAPSHOT_LIST(s, h->first_lane, struct arena_lane, LANES_MAX);
    while ((l = snapshot_list_next(&lanes))) {
        move_past_ring(&now, s, l->ring, l->kind);
    }
    return u64_max(now, h->start.ticks);
}
