/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API calls by their correlation number, and what waits for them: samples for the call that launched
 * them, and driver calls for the runtime call they may be part of.
 */
#include "activity_private.h"

#include <stddef.h>

#include "base/scratch.h"

#define SLOTS 65536u   /* calls that are remembered, by their number */
#define WAITING 65536u /* samples that wait for their call; more go without */
#define HELD 4096u

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
    uint32_t unused;  /* first of a list */
    uint32_t touched; /* those above it were never used */
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

void activity_call_put(uint32_t correlation, const struct activity_call *call) {
    struct slot *s = activity_get_slot(correlation);
    if (s && (!s->call.end || call->of_runtime)) {
        s->call = *call;
        activity_wake_samples(s, call);
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

void activity_call_join(uint32_t correlation, uint32_t row, uint64_t start) {
    struct slot *s = activity_get_slot(correlation);
    if (!s || !row) {
        return;
    }
    if (s->call.end) {
        activity_add_launch(row, start, &s->call);
        return;
    }
    uint32_t index = activity_get_waiting();
    if (index) {
        t->waiting[index] = (struct waiting){.start = start, .row = row, .next = s->waiting};
        s->waiting = index;
    }
}

/* ---- Held calls. */

static int activity_call_is_inner(const struct activity_held *h) {
    const struct activity_call *call = activity_find_call(h->correlation);
    return call && call->of_runtime;
}

int activity_call_release(struct activity_held *out) {
    while (t->held_first != t->held_end) {
        *out = t->held[t->held_first++ % HELD];
        if (!activity_call_is_inner(out)) {
            return 1;
        }
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
        t->held[t->held_end++ % HELD] = *h;
    }
    return full;
}
