/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_private.h"

#include <string.h>

#include "activity.h"
#include "base/arithmetic.h"
#include "gpu/event_lane.h"
#include "record/ring.h"
#include "system/config.h"

#define LANES 64 /* streams with a lane; the others share the last */

struct lane {
    uint32_t gpu; /* index */
    uint32_t context;
    uint32_t stream;
    struct stint_impl_ring *ring;
};

static struct stint_impl_ring *memory_rings[ACTIVITY_DEVICES]; /* by the index of a device */
static int has_memory_ring[ACTIVITY_DEVICES];                  /* or there was no memory for it */
static struct lane lanes[LANES];
static unsigned lane_count;
static struct lane *latest; /* successive records are often of one lane */

static int activity_lane_is_of(const struct lane *l, const struct activity_record *r,
                               const struct activity_gpu *gpu) {
    return l->stream == r->stream && l->context == r->context && l->gpu == gpu->index;
}

static struct lane *activity_lane_get(const struct activity_record *r,
                                      const struct activity_gpu *gpu) {
    if (latest && activity_lane_is_of(latest, r, gpu)) {
        return latest;
    }
    for (unsigned i = 0; i < lane_count; ++i) {
        if (activity_lane_is_of(&lanes[i], r, gpu)) {
            return &lanes[i];
        }
    }
    if (lane_count == LANES) {
        return &lanes[LANES - 1];
    }
    struct lane *l = &lanes[lane_count++];
    *l = (struct lane){.gpu = gpu->index, .context = r->context, .stream = r->stream};
    struct arena_lane published = {
        .device = gpu->unit, .context = r->context, .kind = ARENA_LANE_ACTIVITIES};
    if (lane_count < LANES) { /* the last lane has several streams */
        published.stream = r->stream;
    }
    l->ring = event_lane_publish(&published);
    return l;
}

/* The launch as a lane's payload has it (arena.h); 0 ticks for one that seems to be later than what
 * it launched. */
static uint64_t activity_lane_get_launch(const struct activity_record *r,
                                         const struct activity_origin *from, uint64_t start) {
    struct activity_call call;
    uint64_t launched = from->ticks, before = STINT_IMPL_SPAN_LONG;
    if (!launched && !activity_call_find(r->correlation, &call)) {
        launched = activity_ticks_of(call.start + (uint64_t)r->shift);
    }
    if (launched) {
        before = saturating_subtract(start, launched);
    }
    return (uint64_t)from->thread << STINT_IMPL_SPAN_BITS | u64_min(before, STINT_IMPL_SPAN_LONG);
}

void activity_lane_add(const struct activity_record *r, uint32_t row,
                       const struct activity_gpu *gpu, const struct activity_origin *from) {
    uint64_t ns = r->end - r->start;
    if (!config.trace.bytes || ns < config.trace_min_ns) {
        return;
    }
    latest = activity_lane_get(r, gpu);
    if (latest->ring) {
        uint64_t start = activity_ticks_of(r->start + (uint64_t)r->shift);
        ring_add_pair(latest->ring, start, stint_impl_span(row, ns),
                      activity_lane_get_launch(r, from, start));
    }
}

void activity_lane_set_memory(const struct activity_gpu *gpu, uint32_t row, uint64_t bytes,
                              uint64_t at) {
    uint64_t kind = (uint64_t)STINT_IMPL_EVENT_VALUE << STINT_IMPL_EVENT_KIND;
    double value = (double)bytes;
    uint64_t bits;
    if (!config.trace.bytes) {
        return;
    }
    if (!has_memory_ring[gpu->index]) {
        struct arena_lane published = {.device = gpu->unit, .kind = ARENA_LANE_MEMORY};
        memory_rings[gpu->index] = event_lane_publish(&published);
        has_memory_ring[gpu->index] = 1;
    }
    if (memory_rings[gpu->index]) {
        memcpy(&bits, &value, sizeof bits);
        ring_add_pair(memory_rings[gpu->index], kind | activity_ticks_of(at), row, bits);
    }
}

void activity_lane_forget(void) {
    memset(memory_rings, 0, sizeof memory_rings);
    memset(has_memory_ring, 0, sizeof has_memory_ring);
    lane_count = 0;
    latest = NULL;
}
