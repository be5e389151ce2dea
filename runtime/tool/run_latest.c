/* SPDX-License-Identifier: Apache-2.0 */
#include "run_latest.h"

#define LIMIT ((uint64_t)1 << 62) /* ticks beyond it are of no clock */
#define LANES 65536u              /* also ends a list that is a circle */

static void later(uint64_t *now, uint64_t ticks, uint64_t length) {
    if (ticks < LIMIT && length < LIMIT && ticks + length > *now) {
        *now = ticks + length;
    }
}

static void of_nodes(uint64_t *now, const struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->count) {
            later(now, n->max_at, n->max);
            later(now, n->first_at, n->first);
        }
    }
}

/* Of a span too long for its event they are in the payload before it. */
static uint64_t ticks_of(const struct stint_impl_event *e, const struct stint_impl_event *before) {
    uint64_t ticks = e->what & STINT_IMPL_SPAN_LONG;
    int told = before->at == ((uint64_t)STINT_IMPL_EVENT_PAYLOAD << STINT_IMPL_EVENT_KIND | e->at);
    return ticks == STINT_IMPL_SPAN_LONG && told && before->what > ticks ? before->what : ticks;
}

/* A ring's newest events: GPU spans end in no order. */
static void of_ring(uint64_t *now, const struct snapshot *s, uint32_t unit, uint32_t kind) {
    const struct stint_impl_ring *r = snapshot_at(s, unit, sizeof *r);
    uint64_t mask = r ? r->mask : 0;
    if (!r || mask & (mask + 1) || mask > s->size / sizeof(struct stint_impl_event) ||
        !snapshot_at(s, unit, sizeof *r + (mask + 1) * sizeof(struct stint_impl_event))) {
        return;
    }
    const struct stint_impl_event *events = (const struct stint_impl_event *)(const void *)(r + 1);
    static const struct stint_impl_event none; /* an activity's payload is no length */
    for (uint64_t i = 0; i < 64 && i < r->head; ++i) {
        const struct stint_impl_event *e = &events[(r->head - 1 - i) & mask];
        const struct stint_impl_event *before = &events[(r->head - 2 - i) & mask];
        uint64_t ticks = e->at & (((uint64_t)1 << STINT_IMPL_EVENT_KIND) - 1);
        int span = e->at >> STINT_IMPL_EVENT_KIND == STINT_IMPL_EVENT_SPAN;
        later(now, ticks, span ? ticks_of(e, kind == ARENA_LANE_EVENTS ? before : &none) : 0);
    }
}

static void of_threads(uint64_t *now, const struct snapshot *s, const struct arena_header *h) {
    uint32_t unit = h->first_thread;
    const struct arena_thread *t;
    for (uint32_t i = 0; i < s->thread_count && (t = snapshot_at(s, unit, sizeof *t)); ++i) {
        later(now, t->start_ticks, 0);
        later(now, t->end_ticks, 0);
        of_ring(now, s, t->ring, ARENA_LANE_EVENTS);
        unit = t->next;
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        const struct stint_impl_frame *f = s->threads[i].frames;
        for (uint32_t k = 1; f && k < STINT_IMPL_FRAMES && f[k].guard; ++k) {
            later(now, f[k].start, 0);
        }
    }
}

/* Their moments are nanoseconds since the arena began. */
static void of_activities(uint64_t *now, const struct snapshot *s, const struct arena_header *h) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        last = a->last_at > last && a->last_at < LIMIT ? a->last_at : last;
    }
    later(now, h->start.ticks, snapshot_whole((double)last / s->ns_per_tick));
}

uint64_t run_latest(const struct snapshot *s, const struct arena_header *h) {
    uint64_t now = h->start.ticks < LIMIT ? h->start.ticks : 0;
    const struct arena_lane *l;
    of_nodes(&now, s);
    of_threads(&now, s, h);
    of_activities(&now, s, h);
    uint32_t unit = h->first_lane;
    for (uint32_t i = 0; i < LANES && (l = snapshot_at(s, unit, sizeof *l)); ++i) {
        of_ring(&now, s, l->ring, l->kind);
        unit = l->next;
    }
    return now > h->start.ticks ? now : h->start.ticks;
}
