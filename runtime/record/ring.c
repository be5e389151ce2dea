/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include <stddef.h>

#include "arena/arena.h"
#include "system/config.h"

#define RING_MIN_BYTES 4096u  /* bytes of events */
#define RING_PAGE_BYTES 4096u /* no page is smaller */
#define TICKS (((uint64_t)1 << STINT_IMPL_EVENT_KIND) - 1)

uint64_t ring_room(uint64_t bytes) {
    return bytes + bytes / RING_MIN_BYTES * sizeof(struct stint_impl_ring);
}

/* Each page is there before the first call needs it. No event is in the ring yet. */
static void ring_touch(struct stint_impl_ring *r, uint64_t events) {
    uint64_t step = RING_PAGE_BYTES / sizeof(struct stint_impl_event);
    for (uint64_t i = 0; i < events; i += step) {
        STINT_IMPL_STORE(&stint_impl_ring_event(r, i)->at, 0);
    }
    STINT_IMPL_STORE(&stint_impl_ring_event(r, events - 1)->at, 0);
}

uint32_t ring_new(void) {
    if (!config.trace.bytes) {
        return 0;
    }
    uint64_t bytes = RING_MIN_BYTES, share = arena_trace_share();
    uint32_t unit = 0;
    while (bytes * 2 <= share) {
        bytes *= 2;
    }
    /* Smaller where the run file's disk has no room for it. */
    for (; !unit && bytes >= RING_MIN_BYTES; bytes /= 2) {
        unit = arena_get(sizeof(struct stint_impl_ring) + bytes, ARENA_TRACE);
        if (unit) {
            ring_at(unit)->mask = bytes / sizeof(struct stint_impl_event) - 1;
        }
    }
    if (!unit) {
        arena_lose(STINT_STATUS_NO_TRACE, 1);
    } else if (config.trace.touch) {
        ring_touch(ring_at(unit), ring_at(unit)->mask + 1);
    }
    return unit;
}

struct stint_impl_ring *ring_at(uint32_t unit) {
    if (!unit) {
        return NULL;
    }
    return arena_at(unit);
}

uint64_t ring_min(void) {
    if (!config.trace.bytes) {
        return UINT64_MAX;
    }
    return clock_ticks_of_ns(config.trace_min_ns);
}

void ring_add_pair(struct stint_impl_ring *r, uint64_t at, uint64_t what, uint64_t payload) {
    uint64_t number = stint_impl_ring_take(r, 2);
    uint64_t kind = (uint64_t)STINT_IMPL_EVENT_PAYLOAD << STINT_IMPL_EVENT_KIND;
    stint_impl_ring_put(r, number, kind | (at & TICKS), payload);
    stint_impl_ring_put(r, number + 1, at, what);
}

void ring_add_span(struct stint_impl_ring *r, uint32_t node, uint64_t start, uint64_t ticks) {
    if (start > TICKS) { /* an added sample longer than the clock runs */
        ticks += start - 1;
        start = 1;
    }
    uint64_t what = stint_impl_span(node, ticks);
    if (ticks < STINT_IMPL_SPAN_LONG) {
        stint_impl_ring_add(r, start, what);
    } else {
        ring_add_pair(r, start, what, ticks);
    }
}
