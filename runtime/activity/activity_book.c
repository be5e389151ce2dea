/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enters a record, by its kind: the row it is added to, its place on the time line and in the
 * trace, and the scope and API call that it belongs to. Called by activity_add.
 */
#include "activity_private.h"

#include "arena/arena.h"

#define AHEAD 1000000u           /* ns: a device's clock may be that far ahead of the host's */
#define COPIES ((uint64_t)65536) /* of a batch, at most */

static int activity_is_bad(const struct activity_record *r, uint64_t now) {
    if (r->kind == ACTIVITY_ALLOC || r->kind == ACTIVITY_FREE) {
        return 0;
    }
    return !r->start || r->end < r->start || r->end > now + AHEAD || r->copies > COPIES;
}

static uint32_t activity_get_node(uint32_t correlation) {
    struct activity_origin from;
    activity_launch_find(correlation, &from);
    return from.node;
}

/* Without memory for its name, the row of all activities without a name. */
static uint32_t activity_get_named_row(struct activity_key *k, const struct activity_text *name) {
    k->name = name->text;
    uint32_t row = activity_rows_get(k);
    if (row && name->hash && !name->text) {
        arena_lose(STINT_STATUS_ACTIVITY_FULL, 1);
    }
    return row;
}

static void activity_add_sample(uint32_t row, uint64_t start, uint64_t end) {
    struct activity_sample s = {.start = start, .ns = end - start};
    activity_rows_add(row, &s);
}

static uint32_t activity_get_unit(const struct activity_gpu *gpu) {
    return gpu ? gpu->unit : 0;
}

/* The copies of a batch have equal parts of its time, one after the other, and of its bytes; the
 * first ones have a unit more. */
static void activity_add_work(uint32_t row, const struct activity_sample *s, uint64_t copies) {
    struct activity_sample each = *s;
    uint64_t count = u64_max(copies, 1);
    for (uint64_t i = 0; i < count; ++i) {
        each.ns = s->ns / count + (i < s->ns % count);
        each.bytes = s->bytes / count + (i < s->bytes % count);
        activity_rows_add(row, &each);
        each.start += each.ns;
    }
}

/* A kernel, a copy, a fill. */
static void activity_book_work(const struct activity_record *r, const struct activity_text *name) {
    const struct activity_gpu *gpu = activity_device_get(r->device, NULL);
    struct activity_origin from;
    activity_launch_find(r->correlation, &from);
    if (!from.known) {
        arena_lose(STINT_STATUS_ACTIVITY_UNKNOWN, 1);
    }
    struct activity_key k = {.kind = r->kind,
                             .detail = r->detail,
                             .node = from.node,
                             .device = activity_get_unit(gpu),
                             .context = r->context,
                             .stream = r->stream};
    struct activity_sample s = {.start = r->start, .ns = r->end - r->start, .bytes = r->bytes};
    if (r->kind == ACTIVITY_KERNEL) {
        s.shape = r;
    }
    uint32_t row = activity_get_named_row(&k, name);
    int lost = 0;
    if (row) {
        activity_add_work(row, &s, r->copies);
        lost = activity_call_join(r->correlation, row, r->start) && from.known;
    }
    if (lost) { /* else it was counted as one of unknown launch */
        arena_lose(STINT_STATUS_ACTIVITY_LATE, 1);
    }
    activity_source_add(from.line, k.device, &s);
    if (gpu) {
        activity_line_work(r, gpu, &from, lost);
    }
    if (gpu && row) {
        activity_lane_add(r, row, gpu, &from);
    }
}

/* A call during which the host waits. */
static void activity_book_wait(const struct activity_call *call) {
    if (call->waits != ACTIVITY_WAITS_NOT) {
        activity_line_wait(call->start, call->end, call->thread, 0,
                           call->waits == ACTIVITY_WAITS_FOR_COPY);
    }
}

static void activity_book_call(const struct activity_record *r, const struct activity_text *name) {
    struct activity_key k = {.kind = r->kind, .node = activity_get_node(r->correlation)};
    struct activity_call call = {
        .start = r->start, .end = r->end, .thread = r->thread, .of_runtime = 1, .waits = r->waits};
    activity_add_sample(activity_get_named_row(&k, name), r->start, r->end);
    activity_call_put(r->correlation, &call);
    activity_book_wait(&call);
}

/* A call of the driver that is not part of a runtime call. */
static void activity_book_held(const struct activity_held *h) {
    struct activity_key k = {.kind = ACTIVITY_DRIVER, .node = h->node};
    activity_add_sample(activity_get_named_row(&k, h->name), h->call.start, h->call.end);
    activity_call_put(h->correlation, &h->call);
    activity_book_wait(&h->call);
}

static void activity_hold_call(const struct activity_record *r, const struct activity_text *name) {
    const struct activity_call call = {
        .start = r->start, .end = r->end, .thread = r->thread, .waits = r->waits};
    struct activity_held out, h = {.call = call,
                                   .correlation = r->correlation,
                                   .name = name,
                                   .node = activity_get_node(r->correlation)};
    if (activity_call_hold(&h, &out)) {
        activity_book_held(&out);
    }
}

static void activity_book_sync(const struct activity_record *r) {
    const struct activity_gpu *gpu = activity_device_get(r->device, NULL);
    struct activity_key k = {.kind = r->kind,
                             .detail = r->detail,
                             .node = activity_get_node(r->correlation),
                             .device = activity_get_unit(gpu),
                             .context = r->context,
                             .stream = r->stream};
    activity_add_sample(activity_rows_get(&k), r->start, r->end);
    if (r->detail == ACTIVITY_SYNC_EVENT || r->detail == ACTIVITY_SYNC_STREAM ||
        r->detail == ACTIVITY_SYNC_CONTEXT) {
        activity_line_wait(r->start, r->end, 0, r->correlation, 0);
    }
}

static void activity_book_overhead(const struct activity_record *r,
                                   const struct activity_text *name) {
    struct activity_key k = {.kind = r->kind, .detail = r->detail};
    activity_add_sample(activity_get_named_row(&k, name), r->start, r->end);
}

/* It belongs to no scope: no tracer says which kernel or access was the cause. */
static void activity_book_unified(const struct activity_record *r) {
    struct activity_key k = {.kind = r->kind,
                             .detail = r->detail,
                             .device = activity_get_unit(activity_device_get(r->device, NULL))};
    struct activity_sample s = {.start = r->start, .ns = r->end - r->start, .bytes = r->bytes};
    activity_rows_add(activity_rows_get(&k), &s);
}

static void activity_book_memory(const struct activity_record *r) {
    if (r->kind == ACTIVITY_ALLOC) {
        activity_memory_give(r, activity_device_get(r->device, NULL),
                             activity_get_node(r->correlation));
    } else {
        activity_memory_take(r, activity_get_node(r->correlation));
    }
}

void activity_book(const struct activity_record *r, const struct activity_text *name,
                   uint64_t now) {
    if (activity_is_bad(r, now)) {
        arena_lose(STINT_STATUS_ACTIVITY_BAD, 1);
        return;
    }
    activity_line_note_shift(r->start, r->shift);
    switch (r->kind) {
    case ACTIVITY_KERNEL:
    case ACTIVITY_COPY:
    case ACTIVITY_FILL:
        activity_book_work(r, name);
        break;
    case ACTIVITY_API:
        activity_book_call(r, name);
        break;
    case ACTIVITY_DRIVER:
        activity_hold_call(r, name);
        break;
    case ACTIVITY_SYNC:
        activity_book_sync(r);
        break;
    case ACTIVITY_OVERHEAD:
        activity_book_overhead(r, name);
        break;
    case ACTIVITY_HOST_FUNCTION:
        activity_line_function(r->start, r->end);
        break;
    case ACTIVITY_ALLOC:
    case ACTIVITY_FREE:
        activity_book_memory(r);
        break;
    case ACTIVITY_UNIFIED:
        activity_book_unified(r);
        break;
    default:
        break;
    }
}

void activity_book_rest(int all) {
    uint64_t left = activity_call_count_held();
    struct activity_held h;
    while (activity_call_release(&h, &left, all)) {
        activity_book_held(&h);
    }
}
