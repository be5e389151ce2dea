/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_line.h"

#include "activity_call.h"
#include "activity_rows.h"
#include "activity_sweep.h"
#include "activity_time.h"
#include "base/scratch.h"

#define ITEMS 65536u

_Static_assert(ACTIVITY_DEVICES == SWEEP_DEVICES, "one index serves both");

static struct sweep *line; /* and its memory behind it */

static int find_call(void *unused, uint32_t correlation, uint64_t *start, uint32_t *thread) {
    struct activity_call call;
    (void)unused;
    if (activity_call_find(correlation, &call)) {
        return -1;
    }
    *start = call.start;
    *thread = call.thread;
    return 0;
}

static void add(const struct activity_key *k, uint64_t start, uint64_t ns) {
    struct activity_sample s = {.start = start, .ns = ns};
    uint32_t row = activity_rows_get(k);
    if (row) {
        activity_rows_add(row, &s);
    }
}

static void put_gap(void *unused, const struct sweep_gap *gap) {
    struct activity_key k = {.kind = ACTIVITY_GAP,
                             .detail = gap->cause,
                             .node = gap->node,
                             .device = activity_device_at(gap->device)->unit};
    (void)unused;
    add(&k, gap->start, gap->ns);
}

static void put_step(void *unused, uint32_t device, uint64_t start, uint64_t ns) {
    int wall = device == SWEEP_NO_DEVICE;
    struct activity_key k = {.kind = ACTIVITY_STEP,
                             .detail = wall ? ACTIVITY_STEP_WALL : ACTIVITY_STEP_BUSY,
                             .device = wall ? 0 : activity_device_at(device)->unit};
    (void)unused;
    add(&k, start, ns);
}

static const struct sweep_ops ops = {.call = find_call, .gap = put_gap, .step = put_step};

static size_t line_bytes(void) {
    return sizeof *line + sweep_bytes(ITEMS);
}

int activity_line_open(void) {
    line = pages_get(line_bytes());
    if (line) {
        sweep_open(line, line + 1, ITEMS, &ops, NULL);
    }
    return line ? 0 : -1;
}

void activity_line_forget(void) {
    pages_put(line, line_bytes());
    line = NULL;
}

static void put_busy(uint32_t device, uint32_t detail, struct sweep_sum *sum) {
    struct activity_key k = {
        .kind = ACTIVITY_BUSY, .detail = detail, .device = activity_device_at(device)->unit};
    struct activity_sums sums = {.count = sum->count,
                                 .total = sum->total,
                                 .min = sum->min,
                                 .max = sum->max,
                                 .first_at = sum->first_at,
                                 .last_at = sum->last_at};
    uint32_t row = sum->count ? activity_rows_get(&k) : 0;
    if (row) {
        activity_rows_sum(row, &sums);
    }
    *sum = (struct sweep_sum){0};
}

static void publish(void) {
    for (uint32_t i = 0; i < line->device_count; ++i) {
        for (uint32_t detail = ACTIVITY_BUSY_ANY; detail <= ACTIVITY_BUSY_OVERLAP; ++detail) {
            put_busy(i, detail, &line->devices[i].sums[detail]);
        }
    }
    if (line->late) {
        arena_lose(STINT_STATUS_ACTIVITY_LATE, line->late);
        line->late = 0;
    }
}

static void put(const struct sweep_item *item) {
    if (sweep_is_full(line)) {
        sweep_some(line);
        publish();
    }
    sweep_add(line, item);
}

void activity_line_work(const struct activity_record *r, const struct activity_gpu *gpu,
                        const struct activity_origin *from) {
    struct sweep_item item = {.start = r->start,
                              .end = r->end,
                              .launched = from->ticks ? activity_ns_of(from->ticks) : 0,
                              .correlation = r->correlation,
                              .node = from->node,
                              .device = (uint16_t)gpu->index,
                              .kind = r->kind == ACTIVITY_KERNEL ? SWEEP_KERNEL : SWEEP_COPY};
    (void)find_call(NULL, r->correlation, &item.launched, &item.thread);
    put(&item);
}

void activity_line_wait(uint64_t start, uint64_t end, uint32_t thread, uint32_t correlation,
                        int copies) {
    struct sweep_item item = {.start = start,
                              .end = end,
                              .correlation = correlation,
                              .thread = thread,
                              .kind = copies ? SWEEP_CALL_COPIES : SWEEP_CALL_WAITS};
    put(&item);
}

void activity_line_step(uint64_t at) {
    struct sweep_item item = {.start = at, .end = at, .kind = SWEEP_STEP};
    put(&item);
}

void activity_line_settle(void) {
    sweep_all(line);
    publish();
}

void activity_line_break(void) {
    activity_line_settle();
    sweep_break(line);
}
