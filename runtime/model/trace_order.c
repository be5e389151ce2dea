/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a ring's events by start, and the lanes on which they nest; trace.c calls this for
 * each ring.
 *
 * Implementation notes
 * - A ring is in the order of ends. A span's scopes ended, and so were recorded, before it. Of two
 *   that began together the one recorded later is around the other, also when their times are equal
 *   to the nanosecond.
 * - The scopes of a thread nest. Read backward, such a ring has each span before those inside it,
 *   so a stack of the open ones gives the place of each in the order of starts: after all events
 *   that were recorded before its own first one, and after the spans around it. 5 bytes an event,
 *   and no event is read twice.
 * - This is done in ticks. Where rounding to nanoseconds may make a difference to the order, and
 *   where events do not nest as recorded (a damaged file, a stream), all events of the ring are
 *   sorted. Intervals of a thread always are: they have lanes of their own.
 */
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/order.h"
#include "trace_rings.h"

/* Positions of activities come from two clocks, which may run apart by 500 ppm. */
#define INEXACT_PER 2000u
#define ROUNDED_NS 2u
#define APART_NS 4.0 /* rounded, as any two times that are further apart, they differ */

/* ---- Lanes. */

static void split_leave(struct trace_split *split, const struct trace_event *e, uint32_t place) {
    while (split->depth && trace_span_is_over(&split->open[split->depth - 1], e, place)) {
        --split->depth;
    }
}

/* Intervals have no parent: they are never on a thread's first lane. */
static uint32_t find_first_split(const struct trace_rings *r, const struct trace_source *from,
                                 const struct trace_event *e) {
    return from->lane.thread != SNAPSHOT_NONE &&
           r->s->nodes[e->node].kind == STINT_IMPL_INTERVAL_NODE;
}

void trace_split_pass(struct trace_rings *r, const struct trace_source *from, uint32_t place,
                      uint32_t split) {
    struct trace_split *lane = &r->splits[0];
    uint64_t start_ns = from->start_ns[place];
    struct trace_event event;
    while (lane->depth && lane->open[lane->depth - 1].end < start_ns) {
        --lane->depth;
    }
    if (!lane->depth || lane->open[lane->depth - 1].end > start_ns) {
        return;
    }
    const struct stint_impl_event *e = trace_ring_at(r, from, place);
    if (!trace_event_decode(r, from, e, &event) && find_first_split(r, from, &event) <= split) {
        trace_event_set_times(r, e, &event);
        event.start_ns = start_ns;
        split_leave(lane, &event, place);
    }
}

/* When an activity began is known less exactly than how long it took: one that seems to overlap
 * with the end of another one by so little began when that ended. */
static void span_join(const struct trace_split *split, struct trace_event *e) {
    const struct trace_open *last = &split->open[split->depth - 1];
    uint64_t overlap = saturating_subtract(last->end, e->start_ns);
    if (overlap && overlap <= last->inexact) {
        e->start_ns = last->end;
    }
}

/* Whether the span nests there; then it is open there. Activities do not nest. */
static int span_fits(struct trace_split *split, struct trace_event *e, uint32_t place, int flat) {
    if (flat && split->depth) {
        span_join(split, e);
    }
    split_leave(split, e, place);
    if (split->depth &&
        (flat || e->start_ns + e->duration_ns > split->open[split->depth - 1].end)) {
        return 0;
    }
    uint32_t at = trace_split_enter(split, e, place);
    if (at < TRACE_DEPTH) {
        uint64_t inexact = ROUNDED_NS + e->duration_ns / INEXACT_PER;
        split->open[at].inexact = (uint32_t)u64_min(inexact, UINT32_MAX);
    }
    return 1;
}

/* Finds the lane of each event of `sorted`. */
static void sorted_place(struct trace_rings *r, struct trace_source *from) {
    uint32_t kept = 0;
    struct trace_event event;
    for (uint32_t i = 0; i < TRACE_SPLITS; ++i) {
        r->splits[i].depth = 0;
    }
    for (uint32_t i = 0; i < from->sorted_count; ++i) {
        uint32_t place = from->sorted[i], at = 0;
        const struct stint_impl_event *e = trace_ring_at(r, from, place);
        if (trace_event_decode(r, from, e, &event)) {
            ++from->lost; /* the file was cut meanwhile */
            continue;
        }
        if (event.kind == TRACE_SPAN) {
            trace_event_set_times(r, e, &event);
            event.start_ns = from->start_ns[place];
            at = find_first_split(r, from, &event);
            while (at < TRACE_SPLITS &&
                   !span_fits(&r->splits[at], &event, place, from->lane.activities)) {
                ++at;
            }
            from->start_ns[place] = event.start_ns;
        }
        if (at == TRACE_SPLITS) {
            ++from->lost; /* no lane is left for it */
            continue;
        }
        ++from->count[at];
        from->sorted[kept++] = at << TRACE_PLACE_BITS | place;
    }
    from->sorted_count = kept;
}

/* ---- Sorting. */

/* Places by start, the newer one first. */
static int is_place_before(const void *what, uint32_t left, uint32_t right) {
    const uint64_t *start_ns = what;
    if (start_ns[left] != start_ns[right]) {
        return start_ns[left] < start_ns[right];
    }
    return left > right;
}

static int is_longer(const void *what, uint32_t left, uint32_t right) {
    const uint64_t *duration_ns = what;
    return duration_ns[left] > duration_ns[right];
}

/* Puts events that start together in order: the longer first. */
static int run_sort(struct trace_rings *r, const struct trace_source *from, uint32_t *run,
                    uint32_t count) {
    struct scratch *memory = &r->s->memory;
    struct scratch_mark mark = scratch_mark(memory);
    uint64_t *duration_ns = scratch_array(memory, count, sizeof *duration_ns);
    uint32_t *places = scratch_array(memory, count, sizeof *places);
    const uint32_t *order = NULL;
    if (!scratch_failed(memory)) {
        for (uint32_t i = 0; i < count; ++i) {
            struct trace_event event;
            const struct stint_impl_event *e = trace_ring_at(r, from, run[i]);
            places[i] = run[i];
            if (!trace_event_decode(r, from, e, &event)) {
                trace_event_set_times(r, e, &event);
                duration_ns[i] = event.duration_ns;
            }
        }
        order = order_by(memory, count, is_longer, duration_ns);
    }
    for (uint32_t i = 0; order && i < count; ++i) {
        run[i] = places[order[i]];
    }
    scratch_release(memory, mark);
    return order ? 0 : -1;
}

/* Puts `sorted` in order, by way of memory of the same size. */
static int sorted_order(struct trace_rings *r, struct trace_source *from, uint32_t *spare) {
    uint32_t *sorted =
        order_these(from->sorted, spare, from->sorted_count, is_place_before, from->start_ns);
    from->sorted = sorted;
    for (uint32_t i = 0, end; i < from->sorted_count; i = end) {
        for (end = i + 1; end < from->sorted_count &&
                          from->start_ns[sorted[end]] == from->start_ns[sorted[i]];) {
            ++end;
        }
        if (end - i > 1 && run_sort(r, from, sorted + i, end - i)) {
            return -1;
        }
    }
    return 0;
}

static void sorted_collect_event(struct trace_rings *r, struct trace_source *from,
                                 const struct stint_impl_event *e, uint32_t place) {
    struct trace_event event;
    if (trace_event_kind(e) == STINT_IMPL_EVENT_PAYLOAD) {
        return;
    }
    if (trace_event_decode(r, from, e, &event)) {
        ++from->lost;
        return;
    }
    from->start_ns[place] = trace_ns_of(r, e->at & TRACE_TICKS);
    from->sorted[from->sorted_count++] = place;
}

/* All events of a ring. */
static void sorted_collect(struct trace_rings *r, struct trace_source *from) {
    from->lost = from->ring.first;
    from->sorted_count = 0;
    for (uint32_t first = 0, count; first < from->kept; first += count) {
        count = (uint32_t)u64_min(from->kept - first, TRACE_PIECE);
        const struct stint_impl_event *e = trace_ring_row(r, from, first, count);
        for (uint32_t i = 0; i < count; ++i) {
            sorted_collect_event(r, from, e + i, first + i);
        }
    }
}

/* ---- Nesting. */

#define NEST_MOST STINT_IMPL_DEPTH /* recorders time no deeper ones */

struct nest_span {
    uint64_t start;
    uint64_t place;
};

/* Apart from the rest, so that a pass over a row of events has it in registers. */
struct nest_state {
    uint64_t nested; /* events so far */
    uint64_t right;  /* the start of what comes next; UINT64_MAX: nothing does */
    uint64_t limit;  /* the end of the innermost span, or the start of what comes next in it */
    uint64_t depth;
};

/* Times are ticks after the start. */
struct trace_nesting {
    struct trace_rings *r;
    struct trace_source *from;
    uint32_t *order; /* filled from its end, as is: */
    unsigned char *depths;
    uint64_t room;  /* of them */
    uint64_t apart; /* times that differ so much differ in nanoseconds */
    struct nest_state state;
    struct nest_span open[1 + NEST_MOST]; /* the first one is around all */
};

static void nesting_start(struct trace_nesting *n, struct trace_rings *r,
                          struct trace_source *from) {
    memset(n, 0, offsetof(struct trace_nesting, open) + sizeof n->open[0]);
    n->r = r;
    n->from = from;
    n->room = from->kept;
    n->state.right = n->state.limit = UINT64_MAX;
    n->apart = (uint64_t)(APART_NS / r->ns_per_tick) + 1;
    from->lost = from->ring.first;
}

/* The place in the order of an event inside which all is known. */
static inline void nesting_put(struct trace_nesting *n, const struct nest_state *s,
                               uint64_t place) {
    uint64_t at = n->room - s->nested + s->depth;
    n->order[at] = (uint32_t)place;
    n->depths[at] = (unsigned char)s->depth;
}

/* All that is inside the innermost span is known: its place in the order, too. */
static inline void nesting_close(struct trace_nesting *n, struct nest_state *s) {
    const struct nest_span *span = &n->open[s->depth--];
    s->right = s->limit = span->start;
    nesting_put(n, s, span->place);
}

/* Takes the next event, which was recorded before all so far. 0, or -1 if it is not known to nest.
 */
static inline int nesting_add(struct trace_nesting *n, struct nest_state *s, uint64_t start,
                              uint64_t length) {
    while (start < n->open[s->depth].start) {
        nesting_close(n, s);
    }
    if (start + length > s->limit || (length < n->apart && s->right - start - length < n->apart)) {
        return -1;
    }
    ++s->nested;
    return 0;
}

static inline int nesting_add_scope(struct trace_nesting *n, struct nest_state *s, uint64_t start,
                                    uint64_t length, uint64_t place) {
    if (nesting_add(n, s, start, length) || s->depth == NEST_MOST) {
        return -1;
    }
    s->limit = start + length;
    n->open[++s->depth] = (struct nest_span){start, place};
    return 0;
}

/* Any event but a scope with its length in itself. */
static int nesting_add_other(struct trace_nesting *n, const struct stint_impl_event *e,
                             uint32_t place) {
    struct trace_source *from = n->from;
    struct trace_event event;
    uint64_t start = (e->at & TRACE_TICKS) - n->r->start_ticks;
    if (trace_event_kind(e) == STINT_IMPL_EVENT_PAYLOAD) {
        return 0;
    }
    if (trace_event_decode(n->r, from, e, &event)) {
        ++from->lost;
        return 0;
    }
    if (event.kind == TRACE_SPAN && trace_node_of(n->r, e)->is_interval) {
        from->start_ns[place] = trace_ns_of(n->r, e->at);
        from->sorted[from->sorted_count++] = place;
        return 0;
    }
    if (start >= n->r->exact_ticks) {
        return -1;
    }
    if (event.kind == TRACE_SPAN) {
        uint64_t length = trace_span_length(e);
        if (length >= n->r->exact_ticks - start) {
            return -1;
        }
        return nesting_add_scope(n, &n->state, start, length, place);
    }
    if (nesting_add(n, &n->state, start, 0)) {
        return -1;
    }
    n->state.right = n->state.limit = start;
    nesting_put(n, &n->state, place);
    return 0;
}

/* Reads a row of events backward. 0 if they nest. */
static int nesting_read_row(struct trace_nesting *n, const struct stint_impl_event *row,
                            uint32_t first, uint32_t count) {
    const struct trace_rings *r = n->r;
    struct nest_state s = n->state;
    uint32_t place = first + count;
    for (const struct stint_impl_event *e = row + count; e-- > row;) {
        uint64_t start = e->at - r->start_ticks, length = e->what & STINT_IMPL_SPAN_LONG;
        --place;
        if (start < r->exact_ticks && length < STINT_IMPL_SPAN_LONG && trace_is_scope(r, e)) {
            if (nesting_add_scope(n, &s, start, length, place)) {
                return -1;
            }
            continue;
        }
        n->state = s;
        if (nesting_add_other(n, e, place)) {
            return -1;
        }
        s = n->state;
    }
    n->state = s;
    return 0;
}

/* Reads the ring backward. 0 if its events nest. */
static int nesting_read(struct trace_nesting *n) {
    struct trace_source *from = n->from;
    for (uint32_t end = from->kept, first; end; end = first) {
        first = end - (uint32_t)u64_min(end, TRACE_PIECE);
        const struct stint_impl_event *e = trace_ring_row(n->r, from, first, end - first);
        if (nesting_read_row(n, e, first, end - first)) {
            return -1;
        }
    }
    while (n->state.depth) {
        nesting_close(n, &n->state);
    }
    return 0;
}

/* ---- A ring. */

/* The events that nest, and the intervals beside them. */
static int take_nested(struct trace_nesting *n) {
    struct trace_source *from = n->from;
    struct scratch *memory = &n->r->s->memory;
    struct scratch_mark mark = scratch_mark(memory);
    uint32_t *spare = scratch_array(memory, from->sorted_count, sizeof *spare);
    uint32_t *sorted = from->sorted;
    from->nested = n->order + (from->kept - n->state.nested);
    from->depth = n->depths + (from->kept - n->state.nested);
    from->nested_count = (uint32_t)n->state.nested;
    int failed = scratch_failed(memory) || sorted_order(n->r, from, spare);
    if (!failed && from->sorted == spare) {
        memcpy(sorted, spare, from->sorted_count * sizeof *spare);
    }
    from->sorted = sorted;
    scratch_release(memory, mark);
    return failed ? -1 : 0;
}

static int take_sorted(struct trace_rings *r, struct trace_source *from, uint32_t *order) {
    uint32_t *spare = from->sorted;
    from->sorted = order;
    sorted_collect(r, from);
    return sorted_order(r, from, spare);
}

int trace_order(struct trace_rings *r, struct trace_source *from) {
    struct scratch *memory = &r->s->memory;
    /* Where there are no intervals, the memory of two of them is never touched. */
    uint32_t *order = scratch_array(memory, from->kept, sizeof *order);
    from->sorted = scratch_array(memory, from->kept, sizeof *from->sorted);
    from->start_ns = scratch_array(memory, from->kept, sizeof *from->start_ns);
    unsigned char *depths = scratch_array(memory, from->kept, 1);
    if (!r->nesting) {
        r->nesting = scratch_get(memory, sizeof *r->nesting);
    }
    if (scratch_failed(memory)) {
        return -1;
    }
    nesting_start(r->nesting, r, from);
    r->nesting->order = order;
    r->nesting->depths = depths;
    int nests = from->lane.thread != SNAPSHOT_NONE && r->exact_ticks && !nesting_read(r->nesting);
    if (nests ? take_nested(r->nesting) : take_sorted(r, from, order)) {
        return -1;
    }
    sorted_place(r, from);
    return 0;
}
