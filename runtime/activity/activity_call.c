/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_call.h"

#include <stddef.h>

#include "activity_rows.h"
#include "base/scratch.h"

#define SLOTS 65536u   /* calls that are remembered, by their number */
#define WAITING 65536u /* samples that wait for their call; more go without */
#define HELD 4096u

struct slot {
    struct activity_call call; /* end 0: not known yet */
    uint32_t correlation;      /* 0 = free */
    uint32_t waiting;          /* index of the first */
};

/* Index 0 stands for none. */
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
    return t ? 0 : -1;
}

void activity_call_forget(void) {
    pages_put(t, sizeof *t);
    t = NULL;
}

/* ---- Samples that wait. */

static uint32_t waiting_get(void) {
    uint32_t index = t->unused;
    if (index) {
        t->unused = t->waiting[index].next;
    } else if (t->touched + 1 < WAITING) {
        index = ++t->touched;
    }
    return index;
}

static void waiting_put(uint32_t index) {
    t->waiting[index].next = t->unused;
    t->unused = index;
}

static void join(uint32_t row, uint64_t start, const struct activity_call *call) {
    activity_rows_launch(row, call->end - call->start, start > call->end ? start - call->end : 0);
}

/* With a call: it is what they wait for. */
static void wake(struct slot *s, const struct activity_call *call) {
    while (s->waiting) {
        uint32_t index = s->waiting;
        const struct waiting *w = &t->waiting[index];
        s->waiting = w->next;
        if (call) {
            join(w->row, w->start, call);
        }
        waiting_put(index);
    }
}

/* ---- Calls. */

/* The call's slot, taken over from an older call; NULL: a newer one has it. */
static struct slot *slot_of(uint32_t correlation) {
    struct slot *s = &t->slots[correlation % SLOTS];
    if (correlation && s->correlation == correlation) {
        return s;
    }
    if (!correlation || (s->correlation && (int32_t)(correlation - s->correlation) < 0)) {
        return NULL;
    }
    wake(s, NULL);
    *s = (struct slot){.correlation = correlation};
    return s;
}

void activity_call_put(uint32_t correlation, const struct activity_call *call) {
    struct slot *s = slot_of(correlation);
    if (s && (!s->call.end || call->of_runtime)) {
        s->call = *call;
        wake(s, call);
    }
}

static const struct activity_call *find(uint32_t correlation) {
    const struct slot *s = &t->slots[correlation % SLOTS];
    return correlation && s->correlation == correlation && s->call.end ? &s->call : NULL;
}

int activity_call_find(uint32_t correlation, struct activity_call *out) {
    const struct activity_call *call = find(correlation);
    if (call) {
        *out = *call;
    }
    return call ? 0 : -1;
}

void activity_call_join(uint32_t correlation, uint32_t row, uint64_t start) {
    struct slot *s = slot_of(correlation);
    uint32_t index;
    if (!s || !row) {
        return;
    }
    if (s->call.end) {
        join(row, start, &s->call);
    } else if ((index = waiting_get())) {
        t->waiting[index] = (struct waiting){.start = start, .row = row, .next = s->waiting};
        s->waiting = index;
    }
}

/* ---- Held calls. */

static int is_inner(const struct activity_held *h) {
    const struct activity_call *call = find(h->correlation);
    return call && call->of_runtime;
}

int activity_call_release(struct activity_held *out) {
    while (t->held_first != t->held_end) {
        *out = t->held[t->held_first++ % HELD];
        if (!is_inner(out)) {
            return 1;
        }
    }
    return 0;
}

int activity_call_hold(const struct activity_held *h, struct activity_held *out) {
    int full = t->held_end - t->held_first == HELD;
    if (full) {
        *out = t->held[t->held_first++ % HELD];
        full = !is_inner(out);
    }
    if (!is_inner(h)) {
        t->held[t->held_end++ % HELD] = *h;
    }
    return full;
}
