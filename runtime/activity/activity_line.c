/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time line of the devices: gives activities, calls and steps to the sweep (activity_sweep.h),
 * and adds its results, busy times, gaps and steps, to rows. Called by activity_book.c, and by
 * activity.c when steps end or all is to be swept.
 *
 * Rows only grow. A gap that was taken back is counted in a row of its own, which readers subtract.
 * Only the part of a busy time that was not added before is added. Where a late record adds to the
 * busy time of a step, the sum of the steps is corrected, and not the sample of that one step.
 */
#include "activity_private.h"

#include "activity_sweep.h"
#include "base/scratch.h"

static const struct sweep_size line_size = {.items = 65536, .holes = 131072};

_Static_assert(ACTIVITY_DEVICES == SWEEP_DEVICES, "one index serves both");

/* The sums of a device that rows have so far. */
struct line_given {
    uint64_t count[ACTIVITY_BUSY_OVERLAP + 1];
    uint64_t total[ACTIVITY_BUSY_OVERLAP + 1];
    uint64_t steps; /* busy time in steps */
};

struct line_memory {
    struct sweep sweep;
    uint64_t latest; /* start of a record, and its shift */
    int64_t shift;
    struct line_given given[SWEEP_DEVICES];
    /* The sweep's memory follows. */
};

static struct line_memory *line_memory;
static struct sweep *line; /* in there */

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
    activity_rows_add(activity_rows_get(k), &s);
}

static void activity_line_add_gap(const struct sweep_gap *gap, uint32_t kind, uint32_t detail) {
    struct activity_key k = {.kind = kind,
                             .detail = detail,
                             .node = gap->node,
                             .device = activity_device_at(gap->device)->unit};
    activity_line_add(&k, gap->start, gap->ns);
}

static void activity_line_put_gap(void *unused, const struct sweep_gap *gap) {
    (void)unused;
    activity_line_add_gap(gap, ACTIVITY_GAP, gap->cause);
}

static void activity_line_take_back_gap(void *unused, const struct sweep_gap *gap) {
    (void)unused;
    activity_line_add_gap(gap, ACTIVITY_TAKEN_BACK, ACTIVITY_TAKEN_GAP(gap->cause));
}

static struct activity_key activity_line_get_step_key(uint32_t device) {
    struct activity_key k = {.kind = ACTIVITY_STEP, .detail = ACTIVITY_STEP_WALL};
    if (device != SWEEP_NO_DEVICE) {
        k.detail = ACTIVITY_STEP_BUSY;
        k.device = activity_device_at(device)->unit;
    }
    return k;
}

static void activity_line_put_step(void *unused, uint32_t device, uint64_t start, uint64_t ns) {
    struct activity_key k = activity_line_get_step_key(device);
    (void)unused;
    if (device != SWEEP_NO_DEVICE) {
        line_memory->given[device].steps += ns;
    }
    activity_line_add(&k, start, ns);
}

static const struct sweep_ops ops = {.call = activity_line_find_call,
                                     .gap = activity_line_put_gap,
                                     .take_back = activity_line_take_back_gap,
                                     .step = activity_line_put_step};

static size_t activity_line_get_bytes(void) {
    return sizeof *line_memory + sweep_bytes(&line_size);
}

int activity_line_open(void) {
    line_memory = pages_get(activity_line_get_bytes());
    if (!line_memory) {
        return -1;
    }
    line = &line_memory->sweep;
    sweep_open(line, line_memory + 1, &line_size, &ops, NULL);
    return 0;
}

void activity_line_forget(void) {
    pages_put(line_memory, activity_line_get_bytes());
    line_memory = NULL;
    line = NULL;
}

static void activity_line_put_busy(uint32_t device, uint32_t detail, const struct sweep_sum *sum) {
    struct line_given *given = &line_memory->given[device];
    struct activity_key k = {
        .kind = ACTIVITY_BUSY, .detail = detail, .device = activity_device_at(device)->unit};
    if (sum->total <= given->total[detail]) {
        return;
    }
    /* Stretches may have become one; but reports leave out what has no sample in an interval. */
    uint64_t count = u64_max(saturating_subtract(sum->count, given->count[detail]), 1);
    struct sweep_sum more = *sum;
    more.count = count;
    more.total -= given->total[detail];
    given->count[detail] += count;
    given->total[detail] = sum->total;
    uint32_t row = activity_rows_get(&k);
    if (row) {
        activity_rows_sum(row, &more);
    }
}

static void activity_line_raise_steps(uint32_t device) {
    struct line_given *given = &line_memory->given[device];
    uint64_t total = line->now.devices[device].step_total;
    if (total > given->steps) {
        struct activity_key k = activity_line_get_step_key(device);
        uint32_t row = activity_rows_get(&k);
        if (row) {
            activity_rows_raise(row, total - given->steps);
        }
        given->steps = total;
    }
}

static void activity_line_publish(void) {
    for (uint32_t i = 0; i < line->now.device_count; ++i) {
        for (uint32_t detail = ACTIVITY_BUSY_ANY; detail <= ACTIVITY_BUSY_OVERLAP; ++detail) {
            activity_line_put_busy(i, detail, &line->now.devices[i].sums[detail]);
        }
        activity_line_raise_steps(i);
    }
    if (line->late) {
        arena_lose(STINT_STATUS_ACTIVITY_LATE, line->late);
        line->late = 0;
    }
}

static void activity_line_make_room(void) {
    if (sweep_is_full(line)) {
        sweep_some(line);
        activity_line_publish();
    }
}

static void activity_line_put(const struct sweep_item *item) {
    activity_line_make_room();
    sweep_add(line, item);
}

void activity_line_note_shift(uint64_t start, int64_t shift) {
    if (start >= line_memory->latest) {
        line_memory->latest = start;
        line_memory->shift = shift;
    }
}

/* That moment of activity_clock() by the tracer's clock. */
static uint64_t activity_line_move(uint64_t at) {
    return at - (uint64_t)line_memory->shift;
}

void activity_line_work(const struct activity_record *r, const struct activity_gpu *gpu,
                        const struct activity_origin *from, int lost) {
    struct sweep_item item = {.start = r->start,
                              .end = r->end,
                              .lost = (uint32_t)lost,
                              .correlation = r->correlation,
                              .node = from->node,
                              .device = (uint16_t)gpu->index,
                              .kind = r->kind == ACTIVITY_KERNEL ? SWEEP_KERNEL : SWEEP_COPY};
    if (from->ticks) {
        item.launched = activity_ns_of(from->ticks) - (uint64_t)r->shift;
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

void activity_line_function(uint64_t start, uint64_t end) {
    struct sweep_item item = {.start = start, .end = end, .kind = SWEEP_FUNCTION};
    activity_line_put(&item);
}

void activity_line_step(uint64_t at) {
    uint64_t moved = activity_line_move(at);
    struct sweep_item item = {.start = moved, .end = moved, .kind = SWEEP_STEP};
    activity_line_put(&item);
}

void activity_line_settle(void) {
    sweep_all(line);
    activity_line_publish();
}

void activity_line_break(void) {
    activity_line_make_room();
    sweep_break(line, activity_line_move(activity_clock()));
    activity_line_settle();
}
