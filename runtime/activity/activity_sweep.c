/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep of activity_sweep.h: sorts a part of the items by their start and passes over them
 * once, with the end of what each device ran so far.
 */
#include "activity_sweep.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"

/* The items that sweep_some leaves. */
static uint32_t sweep_get_kept(uint32_t count) {
    return count / 4;
}

size_t sweep_bytes(uint32_t capacity) {
    size_t items = (size_t)capacity + sweep_get_kept(capacity);
    return items * sizeof(struct sweep_item) + 2 * capacity * sizeof(uint32_t);
}

void sweep_open(struct sweep *s, void *memory, uint32_t capacity, const struct sweep_ops *ops,
                void *data) {
    memset(s, 0, sizeof *s);
    s->ops = ops;
    s->data = data;
    s->capacity = capacity;
    s->items = memory;
    s->kept = s->items + capacity;
    s->order = (uint32_t *)(void *)(s->kept + sweep_get_kept(capacity));
    s->spare = s->order + capacity;
}

static int sweep_is_work(const struct sweep_item *item) {
    return item->kind == SWEEP_KERNEL || item->kind == SWEEP_COPY;
}

void sweep_add(struct sweep *s, const struct sweep_item *item) {
    struct sweep_item *out = &s->items[s->count];
    *out = *item;
    if ((sweep_is_work(item) || item->kind == SWEEP_STEP) && item->start < s->swept) {
        ++s->late;
        out->start = s->swept;
        if (sweep_is_work(item) && item->end <= s->swept) {
            return;
        }
    }
    ++s->count;
}

/* ---- Gaps and their causes. */

static void sweep_put_call(struct sweep *s, const struct sweep_item *item) {
    struct sweep_call *c = &s->calls[s->call_count % SWEEP_CALLS];
    uint64_t start, before = 0;
    if (s->call_count) {
        before = s->calls[(s->call_count - 1) % SWEEP_CALLS].latest;
    }
    *c = (struct sweep_call){.start = item->start,
                             .end = item->end,
                             .latest = u64_max(before, item->end),
                             .thread = item->thread,
                             .kind = item->kind};
    if (!c->thread && item->correlation) {
        (void)s->ops->call(s->data, item->correlation, &start, &c->thread);
    }
    ++s->call_count;
}

static int sweep_call_covers(const struct sweep_call *c, uint64_t from, uint64_t to) {
    uint64_t start = u64_max(c->start, from), end = u64_min(c->end, to);
    return c->kind == SWEEP_CALL_COPIES && end > start && (end - start) * 2 > to - from;
}

static int sweep_call_holds_up(const struct sweep_call *c, uint64_t from, uint64_t launched) {
    return c->kind == SWEEP_CALL_WAITS && c->end + SWEEP_CLOCKS >= from && c->end <= launched;
}

/* When it was launched, 0 = unknown, and by which thread. */
static uint64_t sweep_find_launch(const struct sweep *s, const struct sweep_item *item,
                                  uint32_t *thread) {
    uint64_t start;
    uint32_t by;
    *thread = item->thread;
    if (item->correlation && !s->ops->call(s->data, item->correlation, &start, &by)) {
        *thread = by;
        return start;
    }
    return item->launched;
}

static uint32_t sweep_find_cause(const struct sweep *s, const struct sweep_item *next,
                                 uint64_t from) {
    uint32_t thread, cause = ACTIVITY_GAP_UNKNOWN;
    uint64_t launched = sweep_find_launch(s, next, &thread);
    uint64_t n = s->call_count, oldest = saturating_subtract(n, SWEEP_CALLS);
    if (launched > from) {
        cause = ACTIVITY_GAP_HOST_LATE;
    } else if (launched) {
        cause = ACTIVITY_GAP_BETWEEN;
    }
    for (; n > oldest; --n) {
        const struct sweep_call *c = &s->calls[(n - 1) % SWEEP_CALLS];
        if (c->latest + SWEEP_CLOCKS < from) {
            break;
        }
        if (thread && c->thread && c->thread != thread) {
            continue;
        }
        if (sweep_call_covers(c, from, next->start)) {
            return ACTIVITY_GAP_COPY;
        }
        if (sweep_call_holds_up(c, from, launched)) {
            cause = ACTIVITY_GAP_SYNC;
        }
    }
    return cause;
}

static uint32_t sweep_find_short_cause(const struct sweep *s, const struct sweep_item *next,
                                       uint64_t from) {
    uint32_t thread;
    uint64_t launched = sweep_find_launch(s, next, &thread);
    if (launched && launched <= from) {
        return ACTIVITY_GAP_BETWEEN;
    }
    return ACTIVITY_GAP_UNKNOWN;
}

static void sweep_put_gap(const struct sweep *s, const struct sweep_item *next, uint64_t from) {
    struct sweep_gap gap = {.device = next->device, .start = from, .ns = next->start - from};
    if (gap.ns < SWEEP_SHORT) {
        gap.cause = sweep_find_short_cause(s, next, from);
    } else {
        gap.cause = sweep_find_cause(s, next, from);
        gap.node = next->node;
    }
    s->ops->gap(s->data, &gap);
}

/* ---- Busy times and steps. */

static void sweep_sum_add(struct sweep_sum *sum, uint64_t start, uint64_t end) {
    uint64_t ns = end - start;
    if (end <= start) {
        return;
    }
    if (!sum->count) {
        sum->min = ns;
        sum->first_at = start;
    }
    sum->min = u64_min(sum->min, ns);
    sum->first_at = u64_min(sum->first_at, start);
    sum->last_at = u64_max(sum->last_at, end);
    sum->max = u64_max(sum->max, ns);
    sum->total += ns;
    ++sum->count;
}

/* Spans come in order of their start. */
static void sweep_union_add(struct sweep_union *u, struct sweep_sum *sum, uint64_t start,
                            uint64_t end) {
    if (start > u->end) {
        sweep_sum_add(sum, u->start, u->end);
        u->start = start;
    }
    u->end = u64_max(u->end, end);
}

static void sweep_union_close(struct sweep_union *u, struct sweep_sum *sum) {
    sweep_sum_add(sum, u->start, u->end);
    u->start = u->end;
}

/* Adds the busy time before that moment to the step under way. */
static void sweep_step_take(struct sweep_device *d, uint64_t until) {
    uint64_t end = u64_min(d->any.end, until);
    if (end > d->step_from) {
        d->step_busy += end - d->step_from;
        d->step_from = end;
    }
}

static void sweep_put_work(struct sweep *s, const struct sweep_item *item) {
    struct sweep_device *d = &s->devices[item->device];
    uint32_t which = item->kind == SWEEP_COPY;
    uint64_t other_end = d->of[!which].end, own_end = d->of[which].end;
    if (item->start > d->any.end || !d->seen) {
        sweep_step_take(d, UINT64_MAX);
        d->step_from = item->start;
        if (d->seen && !d->gapless) {
            sweep_put_gap(s, item, d->any.end);
        }
    }
    if (s->device_count <= item->device) {
        s->device_count = item->device + 1u;
    }
    d->seen = 1;
    d->gapless = 0;
    /* All items so far began earlier: the other kind runs from here to its end. */
    sweep_sum_add(&d->sums[ACTIVITY_BUSY_OVERLAP], u64_max(item->start, own_end),
                  u64_min(item->end, other_end));
    sweep_union_add(&d->any, &d->sums[ACTIVITY_BUSY_ANY], item->start, item->end);
    sweep_union_add(&d->of[which], &d->sums[which ? ACTIVITY_BUSY_COPY : ACTIVITY_BUSY_KERNEL],
                    item->start, item->end);
}

static void sweep_put_step(struct sweep *s, uint64_t at) {
    uint64_t from = s->step_at;
    if (from) {
        s->ops->step(s->data, SWEEP_NO_DEVICE, from, at - from);
    }
    for (uint32_t i = 0; i < s->device_count; ++i) {
        struct sweep_device *d = &s->devices[i];
        if (d->seen) {
            sweep_step_take(d, at);
            if (from) {
                s->ops->step(s->data, i, from, d->step_busy);
            }
            d->step_busy = 0;
        }
    }
    s->step_at = at;
}

static void sweep_put_item(struct sweep *s, const struct sweep_item *item) {
    if (item->kind == SWEEP_STEP) {
        sweep_put_step(s, item->start);
    } else if (sweep_is_work(item)) {
        sweep_put_work(s, item);
    } else {
        sweep_put_call(s, item);
        return; /* work of that time may still come */
    }
    s->swept = item->start;
}

/* ---- The pass. */

static int sweep_item_is_before(const void *what, uint32_t a, uint32_t b) {
    const struct sweep_item *items = what;
    return items[a].start < items[b].start;
}

static void sweep_oldest(struct sweep *s, uint32_t count) {
    const uint32_t *order = order_in(s->order, s->spare, s->count, sweep_item_is_before, s->items);
    for (uint32_t i = 0; i < count; ++i) {
        sweep_put_item(s, &s->items[order[i]]);
    }
    for (uint32_t i = count; i < s->count; ++i) { /* in order: less to merge next time */
        s->kept[i - count] = s->items[order[i]];
    }
    s->count -= count;
    memcpy(s->items, s->kept, s->count * sizeof *s->kept);
}

void sweep_some(struct sweep *s) {
    sweep_oldest(s, s->count - sweep_get_kept(s->count));
}

void sweep_all(struct sweep *s) {
    sweep_oldest(s, s->count);
    for (uint32_t i = 0; i < s->device_count; ++i) {
        struct sweep_device *d = &s->devices[i];
        sweep_union_close(&d->any, &d->sums[ACTIVITY_BUSY_ANY]);
        sweep_union_close(&d->of[0], &d->sums[ACTIVITY_BUSY_KERNEL]);
        sweep_union_close(&d->of[1], &d->sums[ACTIVITY_BUSY_COPY]);
    }
}

void sweep_break(struct sweep *s) {
    s->step_at = 0;
    s->call_count = 0;
    for (uint32_t i = 0; i < s->device_count; ++i) {
        struct sweep_device *d = &s->devices[i];
        sweep_step_take(d, UINT64_MAX);
        d->step_busy = 0;
        d->gapless = 1;
    }
}
