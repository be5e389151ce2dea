/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between trace.c, trace_event.c and trace_order.c: the rings of a trace, their events, and the
 * order of these.
 */
#ifndef STINT_TRACE_RINGS_H
#define STINT_TRACE_RINGS_H

#include "trace.h"

#define TRACE_PIECE 1024u /* events that are read at once */
#define TRACE_SPLITS 16u  /* lanes one thread or stream may need for what overlaps */
#define TRACE_DEPTH 1024u
/* An entry of `sorted`: its lane in the upper bits, its place in the others. A ring has fewer than
 * 2^28 places, as a run file has at most 8 GiB. */
#define TRACE_PLACE_BITS 28
#define TRACE_PLACE (((uint32_t)1 << TRACE_PLACE_BITS) - 1)

#define TRACE_NODES 256u

/* A ring on its way to lanes. Its kept events are numbered from the oldest one: places. */
struct trace_source {
    struct trace_lane lane; /* name and owner for what comes of it */
    struct snapshot_ring ring;
    int has_ring;
    const struct stint_impl_event *copy; /* of its events; NULL: they are read in pieces */
    uint32_t kept;                       /* places */
    /* The events that nest as the ring has them, in order; NULL: there are none. */
    const uint32_t *nested;
    const unsigned char *depth;
    uint32_t nested_count;
    /* The others, in order, and by place when they start. */
    uint32_t *sorted;
    uint32_t sorted_count;
    uint64_t *start_ns;
    uint64_t count[TRACE_SPLITS]; /* of `sorted`, by lane */
    uint64_t lost;                /* overwritten, or nothing that can be told or drawn */
};

/* Events in a row, after the one before them. */
struct trace_piece {
    const struct trace_source *from;
    uint32_t first;
    uint32_t count;
    struct stint_impl_event event[1 + TRACE_PIECE];
};

struct trace_open {
    uint64_t end;
    uint32_t inexact; /* ns, of an activity */
    uint32_t place;
};

/* The open spans of a lane. */
struct trace_split {
    struct trace_open open[TRACE_DEPTH];
    uint32_t depth;
};

/* A node that spans name by its unit. */
struct trace_node {
    uint32_t unit;
    uint32_t node; /* SNAPSHOT_NONE: there is none */
    uint32_t site;
    uint16_t set;
    uint8_t is_scope;
    uint8_t is_interval;
};

struct trace_rings {
    struct snapshot *s;
    struct trace_node node[TRACE_NODES]; /* those that were looked up last */
    struct trace_source *source;
    uint32_t count;
    uint64_t budget;            /* places that may still be read */
    struct hash_map activities; /* to their index */
    struct hash_map threads;
    struct trace_split *splits; /* TRACE_SPLITS */
    struct trace_nesting *nesting;
    uint64_t start_ticks;
    double ns_per_tick;
    double start_ns;
    double half_ns; /* for rounding to the nearest one */
    /* Ticks after the start that are in the order of their nanoseconds, also with a length added
     * that is in the event itself. 0: the times are of no clock. */
    uint64_t exact_ticks;
    /* The pieces that were read last, and what was missed since: an event that is far from them is
     * read alone. */
    struct trace_piece piece[2];
    uint32_t newest; /* of them */
    uint32_t missed_piece;
    uint32_t missed;
    struct stint_impl_event lone[2];
};

/* ---- trace_event.c */

/* The event at a place; the one before it precedes it in memory, which may be its payload. Valid
 * until the next call. */
const struct stint_impl_event *trace_ring_miss(struct trace_rings *r,
                                               const struct trace_source *from, uint32_t place);
static inline const struct stint_impl_event *
trace_ring_at(struct trace_rings *r, const struct trace_source *from, uint32_t place) {
    if (from->copy) {
        return from->copy + 1 + place;
    }
    for (int i = 0; i < 2; ++i) {
        const struct trace_piece *p = &r->piece[i];
        if (place - p->first < p->count && p->from == from) {
            return p->event + 1 + (place - p->first);
        }
    }
    return trace_ring_miss(r, from, place);
}
/* Events that are in memory until the next call of these: all, or those of the newest piece. */
static inline const struct stint_impl_event *trace_ring_row_of(const struct trace_rings *r,
                                                               const struct trace_source *from,
                                                               uint32_t *first, uint32_t *count) {
    const struct trace_piece *p = &r->piece[r->newest];
    if (from->copy) {
        *first = 0;
        *count = from->kept;
        return from->copy + 1;
    }
    *first = p->first;
    *count = p->from == from ? p->count : 0;
    return p->event + 1;
}
/* The first of so many events in a row, at most TRACE_PIECE, for a pass over the ring. */
const struct stint_impl_event *trace_ring_row(struct trace_rings *r,
                                              const struct trace_source *from, uint32_t first,
                                              uint32_t count);

#define TRACE_TICKS (((uint64_t)1 << STINT_IMPL_EVENT_KIND) - 1)
static inline uint32_t trace_event_kind(const struct stint_impl_event *e) {
    return (uint32_t)(e->at >> STINT_IMPL_EVENT_KIND);
}
/* The ticks or nanoseconds of a span: its own, or if they are too long for it those of its payload.
 */
uint64_t trace_span_long(const struct stint_impl_event *e);
static inline uint64_t trace_span_length(const struct stint_impl_event *e) {
    uint64_t length = e->what & STINT_IMPL_SPAN_LONG;
    return length < STINT_IMPL_SPAN_LONG ? length : trace_span_long(e);
}
static inline uint64_t trace_ns_of(const struct trace_rings *r, uint64_t ticks) {
    double since = (double)(int64_t)(ticks - r->start_ticks) * r->ns_per_tick + r->start_ns;
    if (since > 0 && since < 9e18) {
        return (uint64_t)(int64_t)(since + r->half_ns);
    }
    return 0;
}
/* The same of ticks after the start below exact_ticks. */
static inline uint64_t trace_ns_after(const struct trace_rings *r, uint64_t ticks) {
    double since = (double)(int64_t)ticks * r->ns_per_tick + r->start_ns;
    return (uint64_t)(int64_t)(since + r->half_ns);
}
const struct trace_node *trace_node_read(struct trace_rings *r, const struct stint_impl_event *e);
static inline const struct trace_node *trace_node_place(const struct trace_rings *r,
                                                        const struct stint_impl_event *e) {
    uint32_t unit = (uint32_t)(e->what >> STINT_IMPL_SPAN_BITS);
    return &r->node[unit % TRACE_NODES]; /* a node has an odd number of units */
}
/* Whether an event with a start below exact_ticks is a span whose node is known to be a scope. */
static inline int trace_is_scope(const struct trace_rings *r, const struct stint_impl_event *e) {
    const struct trace_node *node = trace_node_place(r, e);
    return node->unit == e->what >> STINT_IMPL_SPAN_BITS && node->is_scope;
}
/* The node of a span. */
static inline const struct trace_node *trace_node_of(struct trace_rings *r,
                                                     const struct stint_impl_event *e) {
    const struct trace_node *node = trace_node_place(r, e);
    uint32_t unit = (uint32_t)(e->what >> STINT_IMPL_SPAN_BITS);
    return node->unit == unit ? node : trace_node_read(r, e);
}
/* 0 if the event is one of the lane. Sets all but the times, which are not needed for a count. */
int trace_event_decode(struct trace_rings *r, const struct trace_source *from,
                       const struct stint_impl_event *e, struct trace_event *out);
/* Sets the times of an event that trace_event_decode has accepted. */
void trace_event_set_times(const struct trace_rings *r, const struct stint_impl_event *e,
                           struct trace_event *out);

/* ---- trace_order.c */

/* Fills `nested` or `sorted`. 0, or -1 without memory. */
int trace_order(struct trace_rings *r, struct trace_source *from);
static inline int trace_span_is_over(const struct trace_open *o, const struct trace_event *e,
                                     uint32_t place) {
    return o->end < e->start_ns || (o->end == e->start_ns && (e->duration_ns || o->place < place));
}
/* Opens a span in a lane, to which they come in order. Returns the spans around it. */
static inline uint32_t trace_split_enter(struct trace_split *split, const struct trace_event *e,
                                         uint32_t place) {
    while (split->depth && trace_span_is_over(&split->open[split->depth - 1], e, place)) {
        --split->depth;
    }
    uint32_t depth = split->depth;
    if (depth < TRACE_DEPTH) {
        split->open[depth].end = e->start_ns + e->duration_ns;
        split->open[depth].place = place;
        ++split->depth;
    }
    return depth;
}
/* The same for an event of `sorted` that came to a lane after this one. */
void trace_split_pass(struct trace_rings *r, const struct trace_source *from, uint32_t place,
                      uint32_t split);

#endif
