/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API calls by their correlation number, and what waits for them: samples for the call that
 * launched them, and driver calls for the runtime call they may be part of.
 *
 * A driver call is part of a runtime call if they have the same correlation number, or if both are
 * of one thread and its time is within the other's. In the second case the driver call's number
 * becomes another number of the runtime call, so that samples with either number find it. A tracer
 * delivers the records of a thread in the order in which the calls ended: the driver call's before
 * the runtime call's.
 */
#include "activity_private.h"

#include <stddef.h>

#include "base/scratch.h"

#define SLOTS 65536u   /* calls that are remembered, by their number */
#define WAITING 65536u /* samples that wait for their call; more go without */
#define HELD 4096u
#define THREADS_LOG2 8 /* lists of held calls by thread; threads may share one */
#define FOREIGN 64     /* calls of other threads that are passed over in a list */

struct slot {
    struct activity_call call; /* end 0: not known yet */
    uint32_t correlation;      /* 0 = free */
    uint32_t waiting;          /* index of the first */
};

/* Index 0 means none. */
struct waiting {
    uint64_t start;
    uint32_t row;
    uint32_t next;
};

static struct tables {
    struct slot slots[SLOTS];
    struct waiting waiting[WAITING];
    struct activity_held held[HELD];
    /* Numbers in the order of arrival, from 1; 0 = none. The newest held call of a list, and for
     * each held call the one before it in its list. A number up to held_first is no longer held. */
    uint64_t newest[1u << THREADS_LOG2];
    uint64_t before[HELD];
    uint64_t runtime_end[1u << THREADS_LOG2]; /* of the newest runtime call, by the list's number */
    uint32_t unused;                          /* first of a list */
    uint32_t touched;                         /* those above it were never used */
    uint64_t held_first;
    uint64_t held_end;
} * t;

int activity_call_open(void) {
    t = pages_get(sizeof *t);
    if (!t) {
        return -1;
    }
    return 0;
}

void activity_call_forget(void) {
    pages_put(t, sizeof *t);
    t = NULL;
}

/* ---- Samples that wait. */

static uint32_t activity_get_waiting(void) {
    uint32_t index = t->unused;
    if (index) {
        t->unused = t->waiting[index].next;
    } else if (t->touched + 1 < WAITING) {
        index = ++t->touched;
    }
    return index;
}

static void activity_put_waiting(uint32_t index) {
    t->waiting[index].next = t->unused;
    t->unused = index;
}

static void activity_add_launch(uint32_t row, uint64_t start, const struct activity_call *call) {
    activity_rows_launch(row, call->end - call->start, saturating_subtract(start, call->end));
}

/* Ends the waiting of the slot's samples. call: the one they wait for; NULL: it stays unknown. */
static void activity_wake_samples(struct slot *s, const struct activity_call *call) {
    while (s->waiting) {
        uint32_t index = s->waiting;
        const struct waiting *w = &t->waiting[index];
        s->waiting = w->next;
        if (call) {
            activity_add_launch(w->row, w->start, call);
        }
        activity_put_waiting(index);
    }
}

/* ---- Calls. */

/* The call's slot, which may have been an older call's; NULL: it is a newer one's. */
static struct slot *activity_get_slot(uint32_t correlation) {
    struct slot *s = &t->slots[correlation % SLOTS];
    if (correlation && s->correlation == correlation) {
        return s;
    }
    if (!correlation || (s->correlation && (int32_t)(correlation - s->correlation) < 0)) {
        return NULL;
    }
    activity_wake_samples(s, NULL);
    *s = (struct slot){.correlation = correlation};
    return s;
}

static void activity_set_call(uint32_t correlation, const struct activity_call *call) {
    struct slot *s = activity_get_slot(correlation);
    if (s && (!s->call.end || call->of_runtime)) {
        s->call = *call;
        activity_wake_samples(s, call);
    }
}

/* The number of the list of held calls of that thread. Thread numbers are often addresses: their
 * low bits are equal. */
static uint32_t activity_call_get_list(uint32_t thread) {
    return thread * 2654435769u >> (32 - THREADS_LOG2);
}

/* Gives the numbers of the held driver calls that were made within this runtime call to it. */
static void activity_call_adopt_inner(const struct activity_call *call) {
    uint32_t list = activity_call_get_list(call->thread);
    uint64_t number = t->newest[list];
    t->runtime_end[list] = u64_max(t->runtime_end[list], call->end);
    unsigned foreign = 0;
    while (number > t->held_first && foreign < FOREIGN) {
        const struct activity_held *h = &t->held[(number - 1) % HELD];
        if (h->call.thread != call->thread) {
            ++foreign;
        } else if (h->call.start < call->start) {
            return;
        } else if (h->call.end <= call->end) {
            activity_set_call(h->correlation, call);
        }
        number = t->before[(number - 1) % HELD];
    }
}

void activity_call_put(uint32_t correlation, const struct activity_call *call) {
    activity_set_call(correlation, call);
    if (call->of_runtime && call->thread) {
        activity_call_adopt_inner(call);
    }
}

static const struct activity_call *activity_find_call(uint32_t correlation) {
    const struct slot *s = &t->slots[correlation % SLOTS];
    if (!correlation || s->correlation != correlation || !s->call.end) {
        return NULL;
    }
    return &s->call;
}

int activity_call_find(uint32_t correlation, struct activity_call *out) {
    const struct activity_call *call = activity_find_call(correlation);
    if (!call) {
        return -1;
    }
    *out = *call;
    return 0;
}

int activity_call_join(uint32_t correlation, uint32_t row, uint64_t start) {
    struct slot *s = activity_get_slot(correlation);
    if (!correlation || !row) {
        return 0;
    }
    if (!s) { /* forgotten: 65 536 later calls were made */
        return -1;
    }
    if (s->call.end) {
        activity_add_launch(row, start, &s->call);
        return 0;
    }
    uint32_t index = activity_get_waiting();
    if (index) {
        t->waiting[index] = (struct waiting){.start = start, .row = row, .next = s->waiting};
        s->waiting = index;
    }
    return 0;
}

/* ---- Held calls. */

static int activity_call_is_inner(const struct activity_held *h) {
    const struct activity_call *call = activity_find_call(h->correlation);
    return call && call->of_runtime;
}

static void activity_call_push_held(const struct activity_held *h) {
    uint32_t list = activity_call_get_list(h->call.thread);
    t->held[t->held_end % HELD] = *h;
    t->before[t->held_end % HELD] = t->newest[list];
    t->newest[list] = ++t->held_end;
}

/* A thread without a runtime call so far uses the driver alone. */
static int activity_call_is_undecided(const struct activity_held *h) {
    uint64_t end = t->runtime_end[activity_call_get_list(h->call.thread)];
    return end && h->call.start >= end;
}

uint64_t activity_call_count_held(void) {
    return t->held_end - t->held_first;
}

int activity_call_release(struct activity_held *out, uint64_t *left, int all) {
    while (*left) {
        --*left;
        *out = t->held[t->held_first++ % HELD];
        if (activity_call_is_inner(out)) {
            continue;
        }
        if (all || !activity_call_is_undecided(out)) {
            return 1;
        }
        activity_call_push_held(out); /* the order within its list stays */
    }
    return 0;
}

int activity_call_hold(const struct activity_held *h, struct activity_held *out) {
    int full = t->held_end - t->held_first == HELD;
    if (full) {
        *out = t->held[t->held_first++ % HELD];
        full = !activity_call_is_inner(out);
    }
    if (!activity_call_is_inner(h)) {
        activity_call_push_held(h);
    }
    return full;
}
