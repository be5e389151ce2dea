/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep of activity_sweep.h: sorts the items by their start and passes over them, with the end
 * of what each device ran so far. What was given out for an item is noted in it, so that a second
 * pass gives out only what has changed.
 */
#include "activity_sweep.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"

size_t sweep_bytes(uint32_t capacity) {
    return 2 * (size_t)capacity * (sizeof(struct sweep_item) + sizeof(uint32_t));
}

void sweep_open(struct sweep *s, void *memory, uint32_t capacity, const struct sweep_ops *ops,
                void *data) {
    memset(s, 0, sizeof *s);
    s->ops = ops;
    s->data = data;
    s->capacity = capacity;
    s->items = memory;
    s->sorted = s->items + capacity;
    s->order = (uint32_t *)(void *)(s->sorted + capacity);
    s->spare = s->order + capacity;
}

static int sweep_is_work(const struct sweep_item *item) {
    return item->kind == SWEEP_KERNEL || item->kind == SWEEP_COPY;
}

void sweep_add(struct sweep *s, const struct sweep_item *item) {
    struct sweep_item *out = &s->items[s->count];
    *out = *item;
    out->cause = 0;
    out->gap_from = 0;
    if (item->kind == SWEEP_STEP && item->start < s->given_out) {
        ++s->late;
        out->start = s->given_out;
    }
    if (sweep_is_work(item) && item->start < s->base.swept) {
        ++s->late;
        out->start = s->base.swept;
        if (item->end <= s->base.swept) {
            return;
        }
    }
    if (s->done && out->start < s->items[s->done - 1].start) {
        s->stale = 1;
    }
    s->latest = u64_max(s->latest, out->start);
    ++s->count;
}

/* ---- Gaps and their causes. */

static void sweep_put_call(struct sweep *s, struct sweep_item *item) {
    struct sweep_state *now = &s->now;
    struct sweep_call *c = &now->calls[now->call_count % SWEEP_CALLS];
    uint64_t start, before = 0;
    if (now->call_count) {
        before = now->calls[(now->call_count - 1) % SWEEP_CALLS].latest;
    }
    if (!item->thread && item->correlation) {
        (void)s->ops->call(s->data, item->correlation, &start, &item->thread);
    }
    *c = (struct sweep_call){.start = item->start,
                             .end = item->end,
                             .latest = u64_max(before, item->end),
                             .thread = item->thread,
                             .kind = item->kind};
    ++now->call_count;
}

static int sweep_call_covers(const struct sweep_call *c, uint64_t from, uint64_t to) {
    uint64_t start = u64_max(c->start, from), end = u64_min(c->end, to);
    return c->kind == SWEEP_CALL_COPIES && end > start && (end - start) * 2 > to - from;
}

static int sweep_call_holds_up(const struct sweep_call *c, uint64_t from, uint64_t launched) {
    return c->kind == SWEEP_CALL_WAITS && c->end + SWEEP_CLOCKS >= from && c->end <= launched;
}

/* Asks when it was launched and by which thread, and keeps the answer: later it may be forgotten.
 * Returns the time, 0 = unknown. */
static uint64_t sweep_find_launch(const struct sweep *s, struct sweep_item *item) {
    uint64_t start;
    uint32_t by;
    if (item->correlation && !s->ops->call(s->data, item->correlation, &start, &by)) {
        item->launched = start;
        item->thread = by;
    }
    return item->launched;
}

static uint32_t sweep_find_cause(const struct sweep *s, struct sweep_item *next, uint64_t from) {
    uint32_t cause = ACTIVITY_GAP_UNKNOWN;
    uint64_t launched = sweep_find_launch(s, next);
    uint64_t n = s->now.call_count, oldest = saturating_subtract(n, SWEEP_CALLS);
    if (launched > from) {
        cause = ACTIVITY_GAP_HOST_LATE;
    } else if (launched) {
        cause = ACTIVITY_GAP_BETWEEN;
    }
    for (; n > oldest; --n) {
        const struct sweep_call *c = &s->now.calls[(n - 1) % SWEEP_CALLS];
        if (c->latest + SWEEP_CLOCKS < from) {
            break;
        }
        if (next->thread && c->thread && c->thread != next->thread) {
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

static uint32_t sweep_find_short_cause(const struct sweep *s, struct sweep_item *next,
                                       uint64_t from) {
    uint64_t launched = sweep_find_launch(s, next);
    if (launched && launched <= from) {
        return ACTIVITY_GAP_BETWEEN;
    }
    return ACTIVITY_GAP_UNKNOWN;
}

static struct sweep_gap sweep_make_gap(const struct sweep_item *next, uint64_t from,
                                       uint32_t cause) {
    struct sweep_gap gap = {
        .device = next->device, .cause = cause, .start = from, .ns = next->start - from};
    if (gap.ns >= SWEEP_SHORT) {
        gap.node = next->node;
    }
    return gap;
}

/* The item ends a gap that began there; 0: it ends none. */
static void sweep_put_gap(struct sweep *s, struct sweep_item *next, uint64_t from) {
    uint32_t cause = ACTIVITY_GAP_UNKNOWN;
    if (from && next->start - from < SWEEP_SHORT) {
        cause = sweep_find_short_cause(s, next, from);
    } else if (from) {
        cause = sweep_find_cause(s, next, from);
    }
    if (next->gap_from == from && next->cause == cause) {
        return;
    }
    if (next->gap_from) {
        struct sweep_gap before = sweep_make_gap(next, next->gap_from, next->cause);
        s->ops->take_back(s->data, &before);
    }
    if (from) {
        struct sweep_gap gap = sweep_make_gap(next, from, cause);
        s->ops->gap(s->data, &gap);
    }
    next->gap_from = from;
    next->cause = cause;
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

static void sweep_put_work(struct sweep *s, struct sweep_item *item) {
    struct sweep_device *d = &s->now.devices[item->device];
    uint32_t which = item->kind == SWEEP_COPY;
    uint64_t other_end = d->of[!which].end, own_end = d->of[which].end, gap_from = 0;
    if (item->start > d->any.end || !d->seen) {
        sweep_step_take(d, UINT64_MAX);
        d->step_from = item->start;
        if (d->seen && !d->gapless) {
            gap_from = d->any.end;
        }
    }
    sweep_put_gap(s, item, gap_from);
    if (s->now.device_count <= item->device) {
        s->now.device_count = item->device + 1u;
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

static void sweep_end_step(struct sweep *s, uint32_t device, const struct sweep_item *item) {
    struct sweep_device *d = &s->now.devices[device];
    uint64_t from = s->now.step_at;
    sweep_step_take(d, item->start);
    if (from) {
        d->step_total += d->step_busy;
    }
    if (from && !item->gap_from) {
        s->ops->step(s->data, device, from, d->step_busy);
    }
    d->step_busy = 0;
}

static void sweep_put_step(struct sweep *s, struct sweep_item *item) {
    uint64_t from = s->now.step_at;
    if (from && !item->gap_from) {
        s->ops->step(s->data, SWEEP_NO_DEVICE, from, item->start - from);
    }
    for (uint32_t i = 0; i < s->now.device_count; ++i) {
        if (s->now.devices[i].seen) {
            sweep_end_step(s, i, item);
        }
    }
    item->gap_from = item->start;
    s->now.step_at = item->start;
}

static void sweep_put_break(struct sweep *s) {
    s->now.step_at = 0;
    s->now.call_count = 0;
    for (uint32_t i = 0; i < s->now.device_count; ++i) {
        struct sweep_device *d = &s->now.devices[i];
        sweep_step_take(d, UINT64_MAX);
        d->step_busy = 0;
        d->gapless = 1;
    }
}

static void sweep_put_item(struct sweep *s, struct sweep_item *item) {
    switch (item->kind) {
    case SWEEP_STEP:
        sweep_put_step(s, item);
        break;
    case SWEEP_BREAK:
        sweep_put_break(s);
        break;
    case SWEEP_KERNEL:
    case SWEEP_COPY:
        sweep_put_work(s, item);
        break;
    default:
        sweep_put_call(s, item);
        return; /* work of that time may still come */
    }
    s->now.swept = item->start;
    s->given_out = u64_max(s->given_out, item->start);
}

/* ---- The pass. */

static int sweep_item_is_before(const void *what, uint32_t a, uint32_t b) {
    const struct sweep_item *items = what;
    return items[a].start < items[b].start;
}

/* The items that were swept are in order, and unless it is stale all others come after them. */
static void sweep_sort(struct sweep *s) {
    uint32_t first = s->done;
    if (s->stale) {
        first = 0;
    }
    struct sweep_item *items = s->items + first;
    uint32_t count = s->count - first;
    const uint32_t *order = order_in(s->order, s->spare, count, sweep_item_is_before, items);
    for (uint32_t i = 0; i < count; ++i) {
        s->sorted[i] = items[order[i]];
    }
    memcpy(items, s->sorted, count * sizeof *items);
}

static void sweep_begin_anew(struct sweep *s) {
    s->now = s->base;
    s->done = 0;
    s->stale = 0;
}

static void sweep_put_up_to(struct sweep *s, uint32_t end) {
    for (; s->done < end; ++s->done) {
        sweep_put_item(s, &s->items[s->done]);
    }
}

void sweep_some(struct sweep *s) {
    uint32_t kept = s->count / 4;
    sweep_sort(s);
    sweep_begin_anew(s);
    sweep_put_up_to(s, s->count - kept);
    memmove(s->items, s->items + s->done, kept * sizeof *s->items);
    s->base = s->now;
    s->count = kept;
    s->done = 0;
}

void sweep_all(struct sweep *s) {
    if (s->done == s->count) {
        return;
    }
    sweep_sort(s);
    if (s->stale) {
        sweep_begin_anew(s);
    }
    sweep_put_up_to(s, s->count);
    for (uint32_t i = 0; i < s->now.device_count; ++i) {
        struct sweep_device *d = &s->now.devices[i];
        sweep_union_close(&d->any, &d->sums[ACTIVITY_BUSY_ANY]);
        sweep_union_close(&d->of[0], &d->sums[ACTIVITY_BUSY_KERNEL]);
        sweep_union_close(&d->of[1], &d->sums[ACTIVITY_BUSY_COPY]);
    }
}

void sweep_break(struct sweep *s, uint64_t at) {
    struct sweep_item item = {.start = u64_max(at, s->latest), .kind = SWEEP_BREAK};
    sweep_add(s, &item);
}
