/* SPDX-License-Identifier: Apache-2.0 */
#include "event_lane.h"

#include <pthread.h>
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "event_pair.h"
#include "record/ring.h"
#include "system/config.h"

#define LANES 64 /* streams with a lane; the others share the last */
#define ENDS 8   /* spans that may nest and still follow each other rightly */

struct event_lane {
    void *stream;
    const struct event_context *home;
    uint32_t device;  /* of the context that had its home when it was made */
    pthread_t thread; /* of a per-thread stream */
    uint64_t moment;
    struct stint_impl_ring *ring;
    struct {
        uint64_t moment;
        uint64_t ticks;
    } ends[ENDS]; /* of the newest spans */
    unsigned next_end;
};

static struct event_lane event_lanes[LANES];
static unsigned event_lane_count;

static int event_lane_is_of(const struct event_lane *l, const struct event_pair *p) {
    return l->stream == p->stream && l->home == p->home && l->device == p->home->device &&
           (p->stream != GPU_STREAM_PER_THREAD || pthread_equal(l->thread, pthread_self()));
}

struct stint_impl_ring *event_lane_publish(const struct arena_lane *lane) {
    uint32_t ring = 0;
    uint32_t unit = arena_get(sizeof *lane, ARENA_RECORD);
    if (unit) {
        ring = ring_new();
    }
    if (!ring) {
        return NULL;
    }
    struct arena_header *h = arena_header();
    struct arena_lane *out = arena_at(unit);
    *out = *lane;
    out->ring = ring;
    out->number = __atomic_add_fetch(&h->lane_count, 1, __ATOMIC_RELAXED);
    out->next = __atomic_load_n(&h->first_lane, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&h->first_lane, &out->next, unit, 1, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
    }
    return ring_at(ring);
}

static struct event_lane *event_lane_get(const struct event_pair *p) {
    for (unsigned i = 0; i < event_lane_count; ++i) {
        if (event_lane_is_of(&event_lanes[i], p)) {
            return &event_lanes[i];
        }
    }
    if (event_lane_count == LANES) {
        return &event_lanes[LANES - 1];
    }
    struct event_lane *l = &event_lanes[event_lane_count++];
    l->stream = p->stream;
    l->home = p->home;
    l->device = p->home->device;
    l->thread = pthread_self();
    struct arena_lane published = {.device = l->device};
    if (event_lane_count < LANES) { /* the last lane has several streams */
        published.stream = (uint64_t)(uintptr_t)p->stream;
    }
    l->ring = event_lane_publish(&published);
    return l;
}

void event_lane_note_start(struct event_pair *p) {
    p->host_ticks = 0;
    if (config.trace.bytes) {
        p->host_ticks = clock_ticks();
    }
}

void event_lane_open(struct event_pair *p) {
    p->lane = 0;
    if (config.trace.bytes && arena.base) {
        struct event_lane *l = event_lane_get(p);
        p->lane = (uint32_t)(l - event_lanes) + 1;
        p->opened = ++l->moment;
    }
}

void event_lane_close(struct event_pair *p) {
    if (p->lane) {
        p->closed = ++event_lanes[p->lane - 1].moment;
    }
}

/* The end of the spans that were closed later than that moment; 0 = there were none. */
static uint64_t event_lane_get_end_after(const struct event_lane *l, uint64_t moment) {
    uint64_t ticks = 0;
    for (unsigned i = 0; i < ENDS; ++i) {
        if (l->ends[i].moment > moment && l->ends[i].ticks > ticks) {
            ticks = l->ends[i].ticks;
        }
    }
    return ticks;
}

/* When the span closed last before that moment ended; 0 = there was none. */
static uint64_t event_lane_get_end_before(const struct event_lane *l, uint64_t moment) {
    uint64_t newest = 0, ticks = 0;
    for (unsigned i = 0; i < ENDS; ++i) {
        if (l->ends[i].moment < moment && l->ends[i].moment > newest) {
            newest = l->ends[i].moment;
            ticks = l->ends[i].ticks;
        }
    }
    return ticks;
}

void event_lane_add(const struct event_pair *p, uint64_t ns) {
    if (!p->lane) {
        return;
    }
    struct event_lane *l = &event_lanes[p->lane - 1];
    uint64_t ticks = clock_ticks_of_ns(ns);
    uint64_t start = u64_max(p->host_ticks, event_lane_get_end_before(l, p->opened));
    uint64_t end = u64_max(start + ticks, event_lane_get_end_after(l, p->opened));
    l->ends[l->next_end % ENDS].moment = p->closed;
    l->ends[l->next_end++ % ENDS].ticks = end;
    if (l->ring && ns >= config.trace_min_ns) {
        ring_add_span(l->ring, p->node, start, end - start);
    }
}

void event_lane_forget_all(void) {
    memset(event_lanes, 0, sizeof event_lanes);
    event_lane_count = 0;
}
