/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time line of devices, swept from its beginning to its end: how long each was busy and with
 * what, why it was idle, and both per step. Pure: no arena, no clock, no lock.
 *
 * Items come in any order and are kept in a buffer. sweep_all sweeps them all, in order of their
 * start, and keeps them: if an item comes later that began before the end of the swept part, the
 * next sweep begins anew, and gives out what differs. Gaps that were not there are taken back; busy
 * times only grow. When the buffer is full the older three quarters are swept for good and removed,
 * and only the times in which nothing ran are kept (activity_holes.c). Work that comes later than
 * that fills them: busy times, overlap, gaps and steps are then as if all work had come at once.
 * Only one call of that time is known for each gap, the one that it was due to, so a part of a gap
 * that such work splits may have another cause than it should. Where memory does not suffice for
 * all idle times, work that may have run in a forgotten one is counted as late, and its time there
 * stays idle.
 *
 * A step that ended before the end of any swept part is counted as late; it is taken to end there.
 *
 * A gap is a time in which a device ran nothing, between two activities. The node of a gap is the
 * node of the launch that ended it, and its cause is the first of these that holds (gaps shorter
 * than a microsecond have no node, and only the last two causes):
 *   COPY       a call that copies and waits, of the launching thread, covers more than half of it;
 *   FUNCTION   likewise a function of the host that a stream ran; of both the newer one counts;
 *   SYNC       the launching thread was in a call that waits for the GPU, which ended after the
 *              gap's beginning (or 2 us before it: two clocks), and launched only then;
 *   HOST_LATE  the launch came after the gap's beginning;
 *   BETWEEN    the launch came before it: the GPU's own time between two activities;
 *   UNKNOWN    nothing is known of the launch.
 * An unknown thread matches any thread.
 */
#ifndef STINT_ACTIVITY_SWEEP_H
#define STINT_ACTIVITY_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "arena/activity_kind.h"

/* ---- activity_holes.c: the times in which lanes ran nothing ("holes"): all that is kept of
 * work that was swept and removed, so that work that is reported later is given its place. A
 * lane is a device, or one kind of its work. Its holes are in order of time and do not overlap;
 * between two of them it was busy. Memory is bounded: when the list is full, the shortest holes
 * are dropped, among equal ones the oldest. Their time is not given to late work any more, and
 * the lane knows where they were: work that meets such a place is known to be incomplete. */

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
    struct hole *list; /* holes of one lane are in order */
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
    uint64_t start;
    uint64_t end;
};

void holes_open(struct holes *h, struct hole *list, uint32_t capacity);
/* Later than the others of its lane. */
void holes_add(struct holes *h, const struct hole *hole);
/* Fills the holes of the lane that the spans cover. Those are in order of their start, at most half
 * as many as holes have room; `cut` of each is set where it applies, and never cleared. */
void holes_fill(struct holes *h, uint32_t lane, struct hole_span *spans, uint32_t count,
                const struct hole_ops *ops, void *data, struct hole_fill *out);

#define SWEEP_DEVICES 64u
#define SWEEP_NO_DEVICE UINT32_MAX
#define SWEEP_CALLS 64u    /* of those that wait: the newest, of all threads */
#define SWEEP_SHORT 1000u  /* ns: shorter gaps have no node */
#define SWEEP_CLOCKS 2000u /* ns by which a GPU's clock and the host's may differ */
#define SWEEP_RUNS 64u     /* stretches of steps without a break: the newest */

enum sweep_kind {
    SWEEP_KERNEL,      /* on a device */
    SWEEP_COPY,        /* copies and fills, likewise */
    SWEEP_CALL_WAITS,  /* on the host: a call that waits for the GPU */
    SWEEP_CALL_COPIES, /* one that copies and waits */
    SWEEP_FUNCTION,    /* a function of the host that a stream runs */
    SWEEP_STEP,        /* a step ended, at `start` */
    SWEEP_BREAK        /* in tracing, at `start`; sweep_break makes it */
};

struct sweep_item {
    uint64_t start;
    uint64_t end;
    uint64_t launched;    /* when its launch began, as far as is known; 0 = unknown */
    uint32_t correlation; /* looked up once more when it is swept; 0 = none */
    uint32_t node;
    uint32_t thread; /* of the launch or call; 0 = unknown */
    uint16_t device; /* below SWEEP_DEVICES */
    uint16_t kind;   /* enum sweep_kind */
    uint32_t lost;   /* it was counted as late for another reason, and is not counted again */
    /* The sweep's own: what was given out for it. */
    uint32_t cause; /* of the gap that it ended */
    uint64_t
        gap_from; /* where that began; 0 = it ended none. Of a step: whether it was given out */
};

struct sweep_sum {
    uint64_t count; /* stretches */
    uint64_t total;
    uint64_t min;
    uint64_t max;
    uint64_t start;
    uint64_t end;
};

struct sweep_gap {
    uint32_t device;
    uint32_t cause; /* enum activity_gap */
    uint32_t node;
    uint64_t start;
    uint64_t ns;
};

struct sweep_ops {
    /* The API call of that number: when it began and on which thread. 0, or -1: not known. */
    int (*call)(void *data, uint32_t correlation, uint64_t *start, uint32_t *thread);
    void (*gap)(void *data, const struct sweep_gap *gap);
    /* A gap that was given out was none, or another one. */
    void (*take_back)(void *data, const struct sweep_gap *gap);
    /* A step that began at `start`: its wall time (SWEEP_NO_DEVICE), or a device's busy time in
     * it. */
    void (*step)(void *data, uint32_t device, uint64_t start, uint64_t ns);
};

/* The union of some spans, swept. */
struct sweep_union {
    uint64_t start; /* of the stretch that is not summed up yet */
    uint64_t end;
};

struct sweep_device {
    int seen;
    int gapless;       /* the next activity does not end a gap */
    uint64_t from;     /* start of the latest work */
    uint64_t break_at; /* of the latest break while it ran nothing */
    struct sweep_union any;
    struct sweep_union of[2]; /* kernels; copies and fills */
    uint64_t step_from;       /* busy time from here on is in no step yet */
    uint64_t step_busy;
    uint64_t step_total;      /* of the busy times of steps */
    struct sweep_sum sums[4]; /* by enum activity_busy */
};

struct sweep_call {
    uint64_t start;
    uint64_t end;
    uint64_t latest; /* end of this one and all before it */
    uint32_t thread;
    uint32_t kind;
};

/* The state of a sweep: facts about the items that were swept. */
struct sweep_state {
    uint64_t settled;      /* the latest step or break */
    uint64_t break_at;     /* the latest break; 0 = none */
    uint64_t step_at;      /* when the step began that is under way; 0 = none has */
    uint32_t device_count; /* those above were never seen */
    uint64_t call_count;
    struct sweep_call calls[SWEEP_CALLS];
    struct sweep_device devices[SWEEP_DEVICES];
};

/* Steps that follow one another. */
struct sweep_run {
    uint64_t from;
    uint64_t to;
};

struct sweep {
    const struct sweep_ops *ops;
    void *data;
    struct sweep_item *items;  /* in order, up to `done` */
    struct sweep_item *sorted; /* while they are put in order */
    uint32_t *order, *spare;   /* for the sort */
    uint32_t capacity;
    uint32_t count;
    uint32_t done;           /* items that `now` includes */
    int stale;               /* one of the others belongs before the end of these */
    uint64_t latest;         /* start of any item */
    uint64_t given_out;      /* steps up to then were */
    uint64_t late;           /* items; the reader zeroes it */
    struct sweep_state base; /* of the items that were removed */
    struct sweep_state now;
    /* The removed items: what is kept of them. */
    int keeping; /* items are swept for good */
    struct holes holes;
    uint64_t run_count;
    struct sweep_run runs[SWEEP_RUNS];
    /* Work that belongs among them, until the next sweep. */
    struct sweep_item *old;
    struct hole_span *spans;
    uint32_t old_capacity;
    uint32_t old_count;
};

/* For how much there is memory. */
struct sweep_size {
    uint32_t items; /* at least 4 */
    uint32_t holes; /* at least as many as items */
};

size_t sweep_bytes(const struct sweep_size *size);
void sweep_open(struct sweep *s, void *memory, const struct sweep_size *size,
                const struct sweep_ops *ops, void *data);
static inline int sweep_is_full(const struct sweep *s) {
    return s->count == s->capacity;
}
/* Not when it is full. */
void sweep_add(struct sweep *s, const struct sweep_item *item);
/* The older three quarters, for good. */
void sweep_some(struct sweep *s);
/* Everything; stretches under way are added up, and what continues is a new stretch. */
void sweep_all(struct sweep *s);
/* There is a break in tracing at that time, or after the latest item: no gap and no step includes
 * it. Not when it is full. */
void sweep_break(struct sweep *s, uint64_t at);

#endif
