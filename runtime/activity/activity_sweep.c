/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweep of activity_sweep.h: sorts the items by their start and passes over them, with the end
 * of what each device ran so far. What was given out for an item is noted in it, so that a second
 * pass gives out only what has changed. Called by activity_line.c.
 *
 * Work is late if it began before the latest of its device that was swept for good. Late work waits
 * until the next sweep and is then added to the state at the end of that part (`base`), from which
 * that sweep begins anew (activity_sweep_late.c): what it covers of the holes is added to the sums;
 * where it reaches beyond the last hole it is added as work in order is.
 */
#include "activity_sweep_private.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"

static uint32_t sweep_get_old_capacity(const struct sweep_size *size) {
    return (uint32_t)u64_max(size->items / 16, 2);
}

size_t sweep_bytes(const struct sweep_size *size) {
    return 2 * (size_t)size->items * (sizeof(struct sweep_item) + sizeof(uint32_t)) +
           size->holes * sizeof(struct hole) +
           sweep_get_old_capacity(size) * (sizeof(struct sweep_item) + sizeof(struct hole_span));
}

void sweep_open(struct sweep *s, void *memory, const struct sweep_size *size,
                const struct sweep_ops *ops, void *data) {
    memset(s, 0, sizeof *s);
    s->ops = ops;
    s->data = data;
    s->capacity = size->items;
    s->items = memory;
    s->sorted = s->items + s->capacity;
    s->old = s->sorted + s->capacity;
    s->old_capacity = sweep_get_old_capacity(size);
    struct hole *holes = (struct hole *)(void *)(s->old + s->old_capacity);
    holes_open(&s->holes, holes, size->holes);
    s->spans = (struct hole_span *)(void *)(holes + size->holes);
    s->order = (uint32_t *)(void *)(s->spans + s->old_capacity);
    s->spare = s->order + s->capacity;
}

static int sweep_is_work(const struct sweep_item *item) {
    return item->kind == SWEEP_KERNEL || item->kind == SWEEP_COPY;
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

/* The cause of a gap that the call covers for the most part; ACTIVITY_GAP_UNKNOWN: it does not. */
static uint8_t sweep_judge_cover(const struct sweep_call *c, uint64_t from, uint64_t to) {
    uint64_t start = u64_max(c->start, from), end = u64_min(c->end, to);
    if (end <= start || (end - start) * 2 <= to - from) {
        return ACTIVITY_GAP_UNKNOWN;
    }
    if (c->kind == SWEEP_FUNCTION) {
        return ACTIVITY_GAP_FUNCTION;
    }
    return c->kind == SWEEP_CALL_COPIES ? ACTIVITY_GAP_COPY : ACTIVITY_GAP_UNKNOWN;
}

static int sweep_call_holds_up(const struct sweep_call *c, uint64_t from, uint64_t launched) {
    return c->kind == SWEEP_CALL_WAITS && c->end + SWEEP_CLOCKS >= from && c->end <= launched;
}

uint64_t sweep_find_launch(const struct sweep *s, struct sweep_item *item) {
    uint64_t start;
    uint32_t by;
    if (item->correlation && !s->ops->call(s->data, item->correlation, &start, &by)) {
        item->launched = start;
        item->thread = by;
    }
    return item->launched;
}

static uint32_t sweep_judge_launch(uint64_t launched, uint64_t from) {
    if (launched > from) {
        return ACTIVITY_GAP_HOST_LATE;
    }
    return launched ? ACTIVITY_GAP_BETWEEN : ACTIVITY_GAP_UNKNOWN;
}

/* The cause of a gap too short for others. */
static uint32_t sweep_judge_short(uint64_t launched, uint64_t from) {
    if (launched && launched <= from) {
        return ACTIVITY_GAP_BETWEEN;
    }
    return ACTIVITY_GAP_UNKNOWN;
}

static void sweep_note_call(struct hole *gap, const struct sweep_call *c) {
    gap->call_start = c->start;
    gap->call_end = c->end;
    gap->call_thread = c->thread;
    if (c->kind == SWEEP_CALL_COPIES) {
        gap->flags |= HOLE_COPIES;
    } else if (c->kind == SWEEP_FUNCTION) {
        gap->flags |= HOLE_FUNCTION;
    }
}

static uint32_t sweep_get_call_kind(const struct hole *gap) {
    if (gap->flags & HOLE_FUNCTION) {
        return SWEEP_FUNCTION;
    }
    return gap->flags & HOLE_COPIES ? SWEEP_CALL_COPIES : SWEEP_CALL_WAITS;
}

/* The cause of the gap before `next`, launched as `gap` says, and the call it is due to. */
static void sweep_find_call(const struct sweep *s, const struct sweep_item *next,
                            struct hole *gap) {
    uint64_t n = s->now.call_count, oldest = saturating_subtract(n, SWEEP_CALLS);
    for (; n > oldest; --n) {
        const struct sweep_call *c = &s->now.calls[(n - 1) % SWEEP_CALLS];
        if (c->latest + SWEEP_CLOCKS < gap->start) {
            break;
        }
        if (next->thread && c->thread && c->thread != next->thread) {
            continue;
        }
        uint8_t covered = sweep_judge_cover(c, gap->start, next->start);
        if (covered) {
            gap->cause = covered;
            sweep_note_call(gap, c);
            return;
        }
        if (sweep_call_holds_up(c, gap->start, gap->launched) && c->end > gap->call_end) {
            gap->cause = ACTIVITY_GAP_SYNC;
            sweep_note_call(gap, c);
        }
    }
}

void sweep_judge_hole(struct hole *gap) {
    const struct sweep_call c = {
        .start = gap->call_start, .end = gap->call_end, .kind = sweep_get_call_kind(gap)};
    if (gap->end - gap->start < SWEEP_SHORT) {
        gap->cause = (uint8_t)sweep_judge_short(gap->launched, gap->start);
        return;
    }
    gap->cause = (uint8_t)sweep_judge_launch(gap->launched, gap->start);
    if (!c.end || (gap->thread && gap->call_thread && gap->thread != gap->call_thread)) {
        return;
    }
    uint8_t covered = sweep_judge_cover(&c, gap->start, gap->end);
    if (covered) {
        gap->cause = covered;
    } else if (sweep_call_holds_up(&c, gap->start, gap->launched)) {
        gap->cause = ACTIVITY_GAP_SYNC;
    }
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

/* The item ends a gap, which `gap` becomes, that began there; 0: it ends none. */
static void sweep_put_gap(struct sweep *s, struct sweep_item *next, uint64_t from,
                          struct hole *gap) {
    gap->cause = ACTIVITY_GAP_UNKNOWN;
    gap->start = from;
    if (from) {
        gap->launched = sweep_find_launch(s, next);
        gap->thread = next->thread;
    }
    if (from && next->start - from < SWEEP_SHORT) {
        gap->cause = (uint8_t)sweep_judge_short(gap->launched, from);
    } else if (from) {
        gap->cause = (uint8_t)sweep_judge_launch(gap->launched, from);
        sweep_find_call(s, next, gap);
    }
    if (next->gap_from == from && next->cause == gap->cause) {
        return;
    }
    if (next->gap_from) {
        struct sweep_gap before = sweep_make_gap(next, next->gap_from, next->cause);
        s->ops->take_back(s->data, &before);
    }
    if (from) {
        struct sweep_gap given = sweep_make_gap(next, from, gap->cause);
        s->ops->gap(s->data, &given);
    }
    next->gap_from = from;
    next->cause = gap->cause;
}

/* ---- Busy times and steps. */

void sweep_sum_add(struct sweep_sum *sum, uint64_t start, uint64_t end) {
    uint64_t ns = end - start;
    if (end <= start) {
        return;
    }
    if (!sum->count) {
        sum->min = ns;
        sum->start = start;
    }
    sum->min = u64_min(sum->min, ns);
    sum->start = u64_min(sum->start, start);
    sum->end = u64_max(sum->end, end);
    sum->max = u64_max(sum->max, ns);
    sum->total += ns;
    ++sum->count;
}

void sweep_union_add(struct sweep_union *u, struct sweep_sum *sum, uint64_t start, uint64_t end) {
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

void sweep_step_raise(const struct sweep *s, struct sweep_device *d, uint64_t start, uint64_t end) {
    uint64_t n = s->run_count, oldest = saturating_subtract(n, SWEEP_RUNS);
    for (; n > oldest; --n) {
        const struct sweep_run *run = &s->runs[(n - 1) % SWEEP_RUNS];
        uint64_t from = u64_max(start, run->from);
        d->step_total += saturating_subtract(u64_min(end, run->to), from);
    }
}

void sweep_step_extend(const struct sweep *s, const struct sweep_state *state,
                       struct sweep_device *d, uint64_t start, uint64_t end) {
    if (start > d->any.end || !d->seen) {
        sweep_step_take(d, UINT64_MAX);
        d->step_from = start;
    }
    if (start < state->settled) {
        sweep_step_raise(s, d, u64_max(start, d->any.end), u64_min(end, state->settled));
        d->step_from = u64_max(d->step_from, state->settled);
    }
}

/* ---- Holes. */

uint16_t sweep_get_lane(uint32_t device) {
    return (uint16_t)(device * 3);
}

uint16_t sweep_get_kind_lane(uint32_t device, uint32_t which) {
    return (uint16_t)(device * 3 + 1 + which);
}

static void sweep_keep_hole(struct sweep *s, const struct hole *hole) {
    if (s->keeping) {
        holes_add(&s->holes, hole);
    }
}

uint64_t sweep_get_idle_start(const struct sweep_device *d) {
    return u64_max(d->any.end, d->break_at);
}

/* The hole that the item ends, with the facts of the gap that it may be. */
static void sweep_keep_gap(struct sweep *s, const struct sweep_item *item, struct hole *gap) {
    const struct sweep_device *d = &s->now.devices[item->device];
    gap->lane = sweep_get_lane(item->device);
    gap->start = sweep_get_idle_start(d);
    gap->end = item->start;
    gap->node = item->node;
    gap->flags |= HOLE_ENDS;
    if (d->seen && !d->gapless) {
        gap->flags |= HOLE_BEGINS;
    }
    sweep_keep_hole(s, gap);
}

static void sweep_break_device(struct sweep *s, uint32_t device, uint64_t at) {
    struct sweep_device *d = &s->now.devices[device];
    struct hole hole = {
        .start = sweep_get_idle_start(d), .end = at, .lane = sweep_get_lane(device)};
    if (!d->gapless) {
        hole.flags = HOLE_BEGINS;
    }
    if (hole.start < at) {
        sweep_keep_hole(s, &hole);
        d->break_at = at;
    }
    d->gapless = 1;
}

void sweep_put_kind(struct sweep *s, struct sweep_device *d, uint32_t device, uint32_t which,
                    uint64_t start, uint64_t end) {
    struct sweep_union *u = &d->of[which];
    struct hole hole = {.start = u->end, .end = start, .lane = sweep_get_kind_lane(device, which)};
    sweep_keep_hole(s, &hole); /* nothing, if it ends before it begins */
    sweep_union_add(u, &d->sums[which ? ACTIVITY_BUSY_COPY : ACTIVITY_BUSY_KERNEL], start, end);
}

/* ---- Items, by kind. */

/* The first item of a device: it ran nothing before. */
static void sweep_meet_device(struct sweep *s, uint32_t device) {
    struct sweep_device *d = &s->now.devices[device];
    if (s->now.device_count <= device) {
        s->now.device_count = device + 1u;
    }
    struct hole hole = {.end = s->now.break_at, .lane = sweep_get_lane(device)};
    sweep_keep_hole(s, &hole);
    d->break_at = s->now.break_at;
}

static void sweep_put_work(struct sweep *s, struct sweep_item *item) {
    struct sweep_device *d = &s->now.devices[item->device];
    uint32_t which = item->kind == SWEEP_COPY;
    uint64_t other_end = d->of[!which].end, own_end = d->of[which].end, gap_from = 0;
    struct hole gap = {0};
    if (!d->seen) {
        sweep_meet_device(s, item->device);
    }
    sweep_step_extend(s, &s->now, d, item->start, item->end);
    if (item->start > d->any.end && d->seen && !d->gapless) {
        gap_from = d->any.end;
    }
    sweep_put_gap(s, item, gap_from, &gap);
    sweep_keep_gap(s, item, &gap);
    d->seen = 1;
    d->gapless = 0;
    d->from = item->start;
    /* All items so far began earlier: the other kind runs from here to its end. */
    sweep_sum_add(&d->sums[ACTIVITY_BUSY_OVERLAP], u64_max(item->start, own_end),
                  u64_min(item->end, other_end));
    sweep_union_add(&d->any, &d->sums[ACTIVITY_BUSY_ANY], item->start, item->end);
    sweep_put_kind(s, d, item->device, which, item->start, item->end);
    if (item->start < s->now.break_at) {
        sweep_break_device(s, item->device, s->now.break_at);
    }
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

/* Steps that were swept for good. */
static void sweep_keep_step(struct sweep *s, uint64_t from, uint64_t to) {
    if (!from) {
        s->runs[s->run_count++ % SWEEP_RUNS] = (struct sweep_run){.from = to, .to = to};
    } else {
        s->runs[(s->run_count - 1) % SWEEP_RUNS].to = to;
    }
}

static void sweep_put_step(struct sweep *s, struct sweep_item *item) {
    uint64_t from = s->now.step_at;
    if (s->keeping) {
        sweep_keep_step(s, from, item->start);
    }
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
    s->now.settled = item->start;
}

static void sweep_put_break(struct sweep *s, uint64_t at) {
    s->now.step_at = 0;
    s->now.settled = at;
    s->now.break_at = at;
    s->now.call_count = 0;
    for (uint32_t i = 0; i < s->now.device_count; ++i) {
        struct sweep_device *d = &s->now.devices[i];
        sweep_step_take(d, UINT64_MAX);
        d->step_busy = 0;
        if (d->seen) {
            sweep_break_device(s, i, at);
        }
    }
}

static void sweep_put_item(struct sweep *s, struct sweep_item *item) {
    switch (item->kind) {
    case SWEEP_STEP:
        sweep_put_step(s, item);
        break;
    case SWEEP_BREAK:
        sweep_put_break(s, item->start);
        break;
    case SWEEP_KERNEL:
    case SWEEP_COPY:
        sweep_put_work(s, item);
        break;
    default:
        sweep_put_call(s, item);
        return; /* work of that time may still come */
    }
    s->given_out = u64_max(s->given_out, item->start);
}

/* ---- The pass. */

int sweep_item_is_before(const void *what, uint32_t a, uint32_t b) {
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

/* ---- For the caller. */

/* Work that began before work of its device that was removed, or before a break since then. */
static int sweep_is_late(const struct sweep *s, const struct sweep_item *item) {
    const struct sweep_device *d = &s->base.devices[item->device];
    return sweep_is_work(item) && d->seen && item->start < u64_max(d->from, d->break_at);
}

void sweep_add(struct sweep *s, const struct sweep_item *item) {
    struct sweep_item new = *item;
    new.cause = 0;
    new.gap_from = 0;
    if (sweep_is_late(s, item)) {
        if (s->old_count == s->old_capacity) {
            sweep_add_late(s);
        }
        s->old[s->old_count++] = new;
        return;
    }
    if (item->kind == SWEEP_STEP && item->start < s->given_out) {
        ++s->late;
        new.start = s->given_out;
    }
    if (s->done && new.start < s->items[s->done - 1].start) {
        s->stale = 1;
    }
    s->latest = u64_max(s->latest, new.start);
    s->items[s->count++] = new;
}

void sweep_some(struct sweep *s) {
    uint32_t kept = s->count / 4;
    sweep_add_late(s);
    sweep_sort(s);
    sweep_begin_anew(s);
    s->keeping = 1;
    sweep_put_up_to(s, s->count - kept);
    s->keeping = 0;
    memmove(s->items, s->items + s->done, kept * sizeof *s->items);
    s->base = s->now;
    s->count = kept;
    s->done = 0;
}

void sweep_all(struct sweep *s) {
    sweep_add_late(s);
    if (s->done == s->count && !s->stale) {
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
