/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spans of a lane as begins and ends, for formats that have no other: a stack of what is open.
 *
 *     while (nest_over(&n, e)) end(nest_pop(&n));     before each event
 *     if (nest_push(&n, e, label)) begin(e);          for a span
 *     while (n.height) end(nest_pop(&n));             after the lane
 */
#ifndef STINT_EXPORT_NEST_H
#define STINT_EXPORT_NEST_H

#include "base/arithmetic.h"
#include "read/trace.h"

/* Twice what recorders nest; spans deeper than that, in a damaged file, are left out. */
#define NEST_DEPTH (2u * STINT_IMPL_DEPTH)

struct nest_span {
    uint64_t end_ns;
    uint32_t label; /* see export_labels.h */
};

struct nest {
    uint32_t height;
    struct nest_span span[NEST_DEPTH];
};

/* The innermost span is over when `e` starts. Of spans without a length only the depth says whether
 * they are side by side or one in the other. */
static inline int nest_over(const struct nest *n, const struct trace_event *e) {
    const struct nest_span *top = n->height ? &n->span[n->height - 1] : NULL;
    return top && (top->end_ns < e->start_ns ||
                   (top->end_ns == e->start_ns && e->kind == TRACE_SPAN && n->height > e->depth));
}

static inline const struct nest_span *nest_pop(struct nest *n) {
    return &n->span[--n->height];
}

/* The end of a span, not past the one around it: rounding to nanoseconds can put it one over.
 * 0 if it is too deep. */
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
