/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of a lane as begins and ends, for formats without durations: a stack of the open spans.
 *
 *     while (nest_over(&n, e)) end(nest_pop(&n));     before each event
 *     if (nest_push(&n, e)) begin(e);                 for a span
 *     while (n.height) end(nest_pop(&n));             after the lane
 */
#ifndef STINT_EXPORT_NEST_H
#define STINT_EXPORT_NEST_H

#include "base/arithmetic.h"
#include "model/trace.h"

/* Twice the depth of recorders; deeper spans, of a damaged file, are left out. */
#define NEST_DEPTH (2u * STINT_IMPL_DEPTH)

struct nest {
    uint32_t height;
    uint64_t end_ns[NEST_DEPTH];
};

/* Whether the innermost span has ended when `e` starts. For spans without a length the depth
 * decides whether one is inside the other. */
static inline int nest_over(const struct nest *n, const struct trace_event *e) {
    if (!n->height) {
        return 0;
    }
    uint64_t end_ns = n->end_ns[n->height - 1];
    return end_ns < e->start_ns ||
           (end_ns == e->start_ns && e->kind == TRACE_SPAN && n->height > e->depth);
}

static inline uint64_t nest_pop(struct nest *n) {
    return n->end_ns[--n->height];
}

/* The end of a span, not after that of the enclosing one: rounding to nanoseconds could make it
 * later by one. NULL if the span is too deep. */
static inline const uint64_t *nest_push(struct nest *n, const struct trace_event *e) {
    uint64_t end = saturating_add(e->start_ns, e->duration_ns);
    if (n->height == NEST_DEPTH) {
        return NULL;
    }
    if (n->height) {
        end = u64_min(end, n->end_ns[n->height - 1]);
    }
    n->end_ns[n->height] = end;
    return &n->end_ns[n->height++];
}

#endif
