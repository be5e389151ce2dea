/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Late work, which began before work of its device that was swept for good: what it covers of the
 * holes is added to the sums at the end of that part, and gaps that were given out are taken back.
 * Called by activity_sweep.c, which then begins anew from there.
 */
#include <string.h>

#include "activity_sweep_private.h"
#include "base/arithmetic.h"
#include "base/order.h"

/* One device, while late work is added to it. */
struct sweep_fit {
    struct sweep *s;
    struct sweep_device *d; /* of s->base */
    uint32_t device;
    uint32_t count; /* of s->spans */
    uint64_t start; /* of the busy time that was added, and its end */
    uint64_t end;
};

static void sweep_fit_filled_time(void *data, uint64_t start, uint64_t end) {
    struct sweep_fit *f = data;
    uint64_t step_at = f->s->base.step_at;
    sweep_step_raise(f->s, f->d, start, end);
    if (step_at) {
        f->d->step_busy += saturating_subtract(end, u64_max(start, step_at));
    }
}

static int sweep_hole_is_gap(const struct hole *h) {
    return (h->flags & HOLE_BEGINS) && (h->flags & HOLE_ENDS);
}

static struct sweep_gap sweep_read_hole(const struct sweep_fit *f, const struct hole *h) {
    struct sweep_gap gap = {
        .device = f->device, .cause = h->cause, .start = h->start, .ns = h->end - h->start};
    if (gap.ns >= SWEEP_SHORT) {
        gap.node = h->node;
    }
    return gap;
}

static void sweep_fit_undo_gap(void *data, const struct hole *h) {
    struct sweep_fit *f = data;
    if (sweep_hole_is_gap(h)) {
        struct sweep_gap gap = sweep_read_hole(f, h);
        f->s->ops->take_back(f->s->data, &gap);
    }
}

static void sweep_fit_redo_gap(void *data, struct hole *part, const struct hole_span *by) {
    struct sweep_fit *f = data;
    if (by) {
        struct sweep_item *item = &f->s->old[by->item];
        part->launched = sweep_find_launch(f->s, item);
        part->thread = item->thread;
        part->node = item->node;
    }
    if (sweep_hole_is_gap(part)) {
        sweep_judge_hole(part);
        struct sweep_gap gap = sweep_read_hole(f, part);
        f->s->ops->gap(f->s->data, &gap);
    }
}

static void sweep_fit_kind_time(void *data, uint64_t start, uint64_t end) {
    (void)data;
    (void)start;
    (void)end;
}

static void sweep_fit_undo_kind(void *data, const struct hole *h) {
    (void)data;
    (void)h;
}

static void sweep_fit_redo_kind(void *data, struct hole *part, const struct hole_span *by) {
    (void)data;
    (void)part;
    (void)by;
}

static const struct hole_ops gap_ops = {sweep_fit_filled_time, sweep_fit_undo_gap,
                                        sweep_fit_redo_gap};
static const struct hole_ops kind_ops = {sweep_fit_kind_time, sweep_fit_undo_kind,
                                         sweep_fit_redo_kind};

static void sweep_sum_fill(struct sweep_sum *sum, const struct hole_fill *fill) {
    if (!fill->ns) {
        return;
    }
    if (!sum->count) {
        sweep_sum_add(sum, fill->start, fill->start + fill->ns);
    } else {
        int64_t count = (int64_t)sum->count + fill->stretches;
        sum->count = count > 0 ? (uint64_t)count : 1;
        sum->total += fill->ns;
    }
    if (fill->shortest) {
        sum->min = u64_min(sum->min, fill->shortest);
    }
    sum->max = u64_max(sum->max, fill->longest);
    sum->start = u64_min(sum->start, fill->start);
    sum->end = u64_max(sum->end, fill->end);
}

/* The late work of the device, of that mask of kinds, into s->spans. Items are in order. */
static void sweep_fit_select(struct sweep_fit *f, unsigned kinds) {
    f->count = 0;
    for (uint32_t i = 0; i < f->s->old_count; ++i) {
        const struct sweep_item *item = &f->s->old[i];
        if (item->device == f->device && (kinds >> item->kind & 1)) {
            f->s->spans[f->count++] =
                (struct hole_span){.start = item->start, .end = item->end, .item = i};
        }
    }
}

static void sweep_fit_note_cuts(const struct sweep_fit *f, int *cut) {
    for (uint32_t i = 0; i < f->count; ++i) {
        struct sweep_item *item = &f->s->old[f->s->spans[i].item];
        if (f->s->spans[i].cut) {
            *cut = 1;
            f->s->late += !item->lost;
            item->lost = 1;
        }
    }
}

/* Returns the busy time that the device had not had before. */
static uint64_t sweep_fit_any(struct sweep_fit *f, int *cut) {
    struct hole_fill fill;
    struct sweep_device *d = f->d;
    sweep_fit_select(f, 1u << SWEEP_KERNEL | 1u << SWEEP_COPY);
    holes_fill(&f->s->holes, sweep_get_lane(f->device), f->s->spans, f->count, &gap_ops, f, &fill);
    sweep_sum_fill(&d->sums[ACTIVITY_BUSY_ANY], &fill);
    f->start = fill.start;
    f->end = fill.end;
    for (uint32_t i = 0; i < f->count; ++i) {
        const struct hole_span *span = &f->s->spans[i];
        uint64_t from = sweep_get_idle_start(d);
        if (span->end > from) {
            fill.ns += span->end - from;
            f->end = span->end;
            sweep_step_extend(f->s, &f->s->base, d, from, span->end);
            sweep_union_add(&d->any, &d->sums[ACTIVITY_BUSY_ANY], from, span->end);
        }
        d->from = u64_max(d->from, span->start);
    }
    sweep_fit_note_cuts(f, cut);
    return fill.ns;
}

static uint64_t sweep_fit_kind(struct sweep_fit *f, uint32_t which, int *cut) {
    struct hole_fill fill;
    struct sweep_device *d = f->d;
    sweep_fit_select(f, 1u << (which ? SWEEP_COPY : SWEEP_KERNEL));
    if (!f->count) {
        return 0;
    }
    holes_fill(&f->s->holes, sweep_get_kind_lane(f->device, which), f->s->spans, f->count,
               &kind_ops, f, &fill);
    sweep_sum_fill(&d->sums[which ? ACTIVITY_BUSY_COPY : ACTIVITY_BUSY_KERNEL], &fill);
    for (uint32_t i = 0; i < f->count; ++i) {
        const struct hole_span *span = &f->s->spans[i];
        uint64_t from = u64_max(span->start, d->of[which].end);
        fill.ns += saturating_subtract(span->end, from);
        if (span->end > from || span->start > d->of[which].end) {
            sweep_put_kind(f->s, d, f->device, which, from, span->end);
        }
    }
    sweep_fit_note_cuts(f, cut);
    return fill.ns;
}

/* ns: the time that kernels and copies have more and the device has not; both ran at once. */
static void sweep_fit_overlap(struct sweep_fit *f, uint64_t ns) {
    struct sweep_sum *sum = &f->d->sums[ACTIVITY_BUSY_OVERLAP];
    if (!ns) {
        return;
    }
    if (!sum->count) {
        sum->min = sum->max = ns;
        sum->start = f->start;
    }
    ++sum->count;
    sum->total += ns;
}

static void sweep_fit_device(struct sweep *s, uint32_t device) {
    struct sweep_fit f = {.s = s, .d = &s->base.devices[device], .device = device};
    int cut = 0;
    uint64_t any = sweep_fit_any(&f, &cut);
    uint64_t kinds = sweep_fit_kind(&f, 0, &cut) + sweep_fit_kind(&f, 1, &cut);
    if (!cut) { /* else a part of what is missing may be of one kind only */
        sweep_fit_overlap(&f, kinds - any);
    }
}

void sweep_add_late(struct sweep *s) {
    uint64_t devices = 0;
    if (!s->old_count) {
        return;
    }
    const uint32_t *order =
        order_in(s->order, s->spare, s->old_count, sweep_item_is_before, s->old);
    for (uint32_t i = 0; i < s->old_count; ++i) {
        s->sorted[i] = s->old[order[i]];
        devices |= (uint64_t)1 << s->old[i].device;
    }
    memcpy(s->old, s->sorted, s->old_count * sizeof *s->old);
    s->keeping = 1;
    for (uint32_t i = 0; i < SWEEP_DEVICES; ++i) {
        if (devices >> i & 1) {
            sweep_fit_device(s, i);
        }
    }
    s->keeping = 0;
    s->old_count = 0;
    s->stale = 1;
}
