/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The times in which lanes ran nothing ("holes"): all that is kept of work that was swept and
 * removed, so that work that is reported later is given its place. Pure, like the sweep that uses
 * it (activity_sweep.h).
 *
 * A lane is a device, or one kind of its work. Its holes are in order of time and do not overlap;
 * between two of them it was busy. Memory is bounded: when the list is full, the shortest holes are
 * dropped, among equal ones the oldest. Their time is not given to late work any more, and the lane
 * knows where they were: work that meets such a place is known to be incomplete.
 */
#ifndef STINT_ACTIVITY_HOLES_H
#define STINT_ACTIVITY_HOLES_H

#include <stddef.h>
#include <stdint.h>

#define HOLE_LANES 192u /* three for each of 64 devices */

enum hole_flags {
    HOLE_BEGINS = 1,   /* work of the lane ended at its start */
    HOLE_ENDS = 2,     /* work began at its end; with both it is a gap */
    HOLE_HIDES = 4,    /* holes between the one before and this one were dropped */
    HOLE_COPIES = 8,   /* its call copies and waits */
    HOLE_FUNCTION = 16 /* its call is a function that a stream ran */
};

struct hole {
    uint64_t start;
    uint64_t end;
    /* The launch of the work that ended a gap, and the call of the host that it is due to, if any:
     * for the causes of the parts that late work leaves of it. */
    uint64_t launched; /* 0 = unknown */
    uint64_t call_start;
    uint64_t call_end; /* 0 = no call */
    uint32_t node;
    uint32_t thread;
    uint32_t call_thread;
    uint16_t lane;
    uint8_t cause; /* enum activity_gap */
    uint8_t flags; /* enum hole_flags */
};

struct holes {
    struct hole *list; /* those of one lane are in order */
    uint32_t capacity;
    uint32_t count;
    uint8_t hides[HOLE_LANES]; /* holes after the last one that is kept were dropped */
};

/* Late work. */
struct hole_span {
    uint64_t start;
    uint64_t end;
    uint32_t item; /* the caller's number */
    uint32_t cut;  /* it covers a time in which holes were dropped */
};

struct hole_ops {
    /* That time is not idle any more. */
    void (*filled)(void *data, uint64_t start, uint64_t end);
    /* That hole is about to change. */
    void (*undo)(void *data, const struct hole *h);
    /* A part of one that has changed. by: of the work that ends it now, NULL = as before. Sets
     * what depends on that. */
    void (*redo)(void *data, struct hole *part, const struct hole_span *by);
};

/* The change of the lane's busy stretches by late work. */
struct hole_fill {
    uint64_t ns;
    int64_t stretches; /* more, or less, than before */
    uint64_t shortest; /* of those that grew and have a hole on both sides; 0 = none has */
    uint64_t longest;
    uint64_t first_at;
    uint64_t last_at;
};

void holes_open(struct holes *h, struct hole *list, uint32_t capacity);
/* Later than the others of its lane. */
void holes_add(struct holes *h, const struct hole *hole);
/* Fills the holes of the lane that the spans cover. Those are in order of their start, at most half
 * as many as holes have room; `cut` of each is set where it applies, and never cleared. */
void holes_fill(struct holes *h, uint32_t lane, struct hole_span *spans, uint32_t count,
                const struct hole_ops *ops, void *data, struct hole_fill *out);

#endif
