/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time line of the devices: gives activities, calls and steps to the sweep (activity_sweep.h),
 * and adds its results, busy times, gaps and steps, to rows. Called by activity_book.c, and by
 * activity.c when steps end or all is to be swept.
 */
#include "activity_private.h"

#include "activity_sweep.h"
#include "base/scratch.h"

#define ITEMS 65536u

_Static_assert(ACTIVITY_DEVICES == SWEEP_DEVICES, "one index serves both");

static struct sweep *line; /* followed by its memory */

static int activity_line_find_call(void *unused, uint32_t correlation, uint64_t *start,
                                   uint32_t *thread) {
    struct activity_call call;
    (void)unused;
    if (activity_call_find(correlation, &call)) {
        return -1;
    }
    *start = call.start;
    *thread = call.thread;
    return 0;
}

static void activity_line_add(const struct activity_key *k, uint64_t start, uint64_t ns) {
    struct activity_sample s = {.start = start, .ns = ns};
    uint32_t row = activity_rows_get(k);
    if (row) {
        activity_rows_add(row, &s);
    }
}

static void activity_line_put_gap(void *unused, const struct sweep_gap *gap) {
    struct activity_key k = {.kind = ACTIVITY_GAP,
                             .detail = gap->cause,
                             .node = gap->node,
                             .device = activity_device_at(gap->device)->unit};
    (void)unused;
    activity_line_add(&k, gap->start, gap->ns);
}

static void activity_line_put_step(void *unused, uint32_t device, uint64_t start, uint64_t ns) {
    struct activity_key k = {.kind = ACTIVITY_STEP, .detail = ACTIVITY_STEP_WALL};
    (void)unused;
    if (device != SWEEP_NO_DEVICE) {
        k.detail = ACTIVITY_STEP_BUSY;
        k.device = activity_device_at(device)->unit;
    }
    activity_line_add(&k, start, ns);
}

static const struct sweep_ops ops = {
    .call = activity_line_find_call, .gap = activity_line_put_gap, .step = activity_line_put_step};

static size_t activity_line_get_bytes(void) {
    return sizeof *line + sweep_bytes(ITEMS);
}

int activity_line_open(void) {
    line = pages_get(activity_line_get_bytes());
    if (!line) {
        return -1;
    }
    sweep_open(line, line + 1, ITEMS, &ops, NULL);
    return 0;
}

void activity_line_forget(void) {
    pages_put(line, activity_line_get_bytes());
    line = NULL;
}

static void activity_line_put_busy(uint32_t device, uint32_t detail, struct sweep_sum *sum) {
    struct activity_key k = {
        .kind = ACTIVITY_BUSY, .detail = detail, .device = activity_device_at(device)->unit};
    struct activity_sums sums = {.count = sum->count,
                                 .total = sum->total,
                                 .min = sum->min,
                                 .max = sum->max,
                                 .first_at = sum->first_at,
                                 .last_at = sum->last_at};
    uint32_t row = 0;
    if (sum->count) {
        row = activity_rows_get(&k);
    }
    if (row) {
        activity_rows_sum(row, &sums);
    }
    *sum = (struct sweep_sum){0};
}

static void activity_line_publish(void) {
    for (uint32_t i = 0; i < line->device_count; ++i) {
        for (uint32_t detail = ACTIVITY_BUSY_ANY; detail <= ACTIVITY_BUSY_OVERLAP; ++detail) {
            activity_line_put_busy(i, detail, &line->devices[i].sums[detail]);
        }
    }
    if (line->late) {
        arena_lose(STINT_STATUS_ACTIVITY_LATE, line->late);
        line->late = 0;
    }
}

static void activity_line_put(const struct sweep_item *item) {
    if (sweep_is_full(line)) {
        sweep_some(line);
        activity_line_publish();
    }
    sweep_add(line, item);
}

void activity_line_work(const struct activity_record *r, const struct activity_gpu *gpu,
                        const struct activity_origin *from) {
    struct sweep_item item = {.start = r->start,
                              .end = r->end,
                              .correlation = r->correlation,
                              .node = from->node,
                              .device = (uint16_t)gpu->index,
                              .kind = r->kind == ACTIVITY_KERNEL ? SWEEP_KERNEL : SWEEP_COPY};
    if (from->ticks) {
        item.launched = activity_ns_of(from->ticks);
    }
    (void)activity_line_find_call(NULL, r->correlation, &item.launched, &item.thread);
    activity_line_put(&item);
}

void activity_line_wait(uint64_t start, uint64_t end, uint32_t thread, uint32_t correlation,
                        int copies) {
    struct sweep_item item = {.start = start,
                              .end = end,
                              .correlation = correlation,
                              .thread = thread,
                              .kind = copies ? SWEEP_CALL_COPIES : SWEEP_CALL_WAITS};
    activity_line_put(&item);
}

void activity_line_step(uint64_t at) {
    struct sweep_item item = {.start = at, .end = at, .kind = SWEEP_STEP};
    activity_line_put(&item);
}

void activity_line_settle(void) {
    sweep_all(line);
    activity_line_publish();
}

void activity_line_break(void) {
    activity_line_settle();
    sweep_break(line);
}
