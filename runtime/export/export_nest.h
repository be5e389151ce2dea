/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of a lane as begins and ends, for formats without durations: a stack of the open spans.
 *
 *     while (nest_over(&n, e)) end(nest_pop(&n));     before each event
 *     if (nest_push(&n, e, label)) begin(e);          for a span
 *     while (n.height) end(nest_pop(&n));             after the lane
 */
#ifndef STINT_EXPORT_NEST_H
#define STINT_EXPORT_NEST_H

#include "base/arithmetic.h"
#include "model/trace.h"

/* Twice the depth of recorders; deeper spans, of a damaged file, are left out. */
#define NEST_DEPTH (2u * STINT_IMPL_DEPTH)

struct nest_span {
    uint64_t end_ns;
    uint32_t label; /* see export_labels.h */
};

struct nest {
    uint32_t height;
    struct nest_span span[NEST_DEPTH];
};

/* Whether the innermost span has ended when `e` starts. For spans without a length the depth
 * decides whether one is inside the other. */
static inline int nest_over(const struct nest *n, const struct trace_event *e) {
    if (!n->height) {
        return 0;
    }
    uint64_t end_ns = n->span[n->height - 1].end_ns;
    return end_ns < e->start_ns ||
           (end_ns == e->start_ns && e->kind == TRACE_SPAN && n->height > e->depth);
}

static inline const struct nest_span *nest_pop(struct nest *n) {
    return &n->span[--n->height];
}

/* The end of a span, not after that of the enclosing one: rounding to nanoseconds could make it
 * later by one. NULL if the span is too deep. */
static inline const struct nest_span *nest_push(struct nest *n, const struct trace_event *e,
                                                uint32_t label) {
    uint64_t end = saturating_add(e->start_ns, e->duration_ns);
    if (n->height == NEST_DEPTH) {
        return NULL;
    }
    if (n->height && end > n->span[n->height - 1].end_ns) {
        end = n->span[n->height - 1].end_ns;
    }
    struct nest_span *to = &n->span[n->height++];
    to->end_ns = end;
    to->label = label;
    return to;
}

#endif
