/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of a lane as begins and ends, for formats without durations: a stack of the open spans.
 *
 *     nest_start(&n);
 *     for (around = nest_around(&n, e); n.height > around;) end(nest_pop(&n));  before each event
 *     if (nest_push(&n, e)) begin(e);                                           for a span
 *     while (n.height) end(nest_pop(&n));                                       after the lane
 */
#ifndef STINT_EXPORT_NEST_H
#define STINT_EXPORT_NEST_H

#include "base/arithmetic.h"
#include "model/trace.h"

/* Twice the depth of recorders; deeper spans, of a damaged file, are left out. */
#define NEST_DEPTH (2u * STINT_IMPL_DEPTH)

struct nest {
    uint32_t height;
    uint64_t end_ns[1 + NEST_DEPTH]; /* the first one is around all */
};

static inline void nest_start(struct nest *n) {
    n->height = 0;
    n->end_ns[0] = UINT64_MAX;
}

/* The open spans that have not ended when `e` starts. A span knows how many are around it. */
static inline uint32_t nest_around(const struct nest *n, const struct trace_event *e) {
    uint32_t around = n->height;
    if (e->kind == TRACE_SPAN) {
        return e->depth;
    }
    while (n->end_ns[around] < e->start_ns) {
        --around;
    }
    return around;
}

static inline uint64_t nest_pop(struct nest *n) {
    return n->end_ns[n->height--];
}

/* The end of a span, not after that of the enclosing one: rounding to nanoseconds could make it
 * later by one. NULL if the span is too deep. */
static inline const uint64_t *nest_push(struct nest *n, const struct trace_event *e) {
    uint64_t *around = &n->end_ns[n->height];
    if (n->height == NEST_DEPTH) {
        return NULL;
    }
    ++n->height;
    around[1] = u64_min(saturating_add(e->start_ns, e->duration_ns), *around);
    return &around[1];
}

#endif
