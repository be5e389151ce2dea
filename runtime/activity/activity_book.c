/* SPDX-License-Identifier: Apache-2.0 */
#include "activity_book.h"

#include "activity_call.h"
#include "activity_device.h"
#include "activity_lane.h"
#include "activity_launch.h"
#include "activity_line.h"
#include "activity_memory.h"
#include "activity_rows.h"
#include "activity_text.h"
#include "arena/arena.h"

/* Tracers have reported moments of another clock: years from now. */
#define AHEAD ((uint64_t)3600 * 1000000000u)

static int is_bad(const struct activity_record *r, uint64_t now) {
    if (r->kind == ACTIVITY_ALLOC || r->kind == ACTIVITY_FREE) {
        return 0;
    }
    return !r->start || r->end < r->start || r->end > now + AHEAD;
}

static uint32_t node_of(uint32_t correlation) {
    struct activity_origin from;
    activity_launch_find(correlation, &from);
    return from.node;
}

/* Without memory for its name it shares the row of all that have none. */
static uint32_t named_row(struct activity_key *k, const struct activity_text *name) {
    k->name = name->text;
    uint32_t row = activity_rows_get(k);
    if (row && name->hash && !name->text) {
        arena_lose(STINT_STATUS_ACTIVITY_FULL, 1);
    }
    return row;
}

static void add(uint32_t row, uint64_t start, uint64_t end) {
    struct activity_sample s = {.start = start, .ns = end - start};
    if (row) {
        activity_rows_add(row, &s);
    }
}

/* A kernel, a copy, a fill. */
static void book_work(const struct activity_record *r, const struct activity_text *name) {
    const struct activity_gpu *gpu = activity_device_get(r->device, NULL);
    struct activity_origin from;
    activity_launch_find(r->correlation, &from);
    if (!from.known) {
        arena_lose(STINT_STATUS_ACTIVITY_UNKNOWN, 1);
    }
    struct activity_key k = {.kind = r->kind,
                             .detail = r->detail,
                             .node = from.node,
                             .device = gpu ? gpu->unit : 0,
                             .context = r->context,
                             .stream = r->stream};
    struct activity_sample s = {.start = r->start,
                                .ns = r->end - r->start,
                                .bytes = r->bytes,
                                .shape = r->kind == ACTIVITY_KERNEL ? r : NULL};
    uint32_t row = named_row(&k, name);
    if (row) {
        activity_rows_add(row, &s);
        activity_call_join(r->correlation, row, r->start);
    }
    if (gpu) {
        activity_line_work(r, gpu, &from);
    }
    if (gpu && row) {
        activity_lane_add(r, row, gpu, &from);
    }
}

/* What holds up the host. */
static void book_wait(const struct activity_call *call, uint32_t flags) {
    if (flags) {
        activity_line_wait(call->start, call->end, call->thread, 0, flags & ACTIVITY_TEXT_COPIES);
    }
}

static void book_call(const struct activity_record *r, const struct activity_text *name) {
    struct activity_key k = {.kind = r->kind, .node = node_of(r->correlation)};
    struct activity_call call = {
        .start = r->start, .end = r->end, .thread = r->thread, .of_runtime = 1};
    add(named_row(&k, name), r->start, r->end);
    activity_call_put(r->correlation, &call);
    book_wait(&call, name->flags);
}

/* A call of the driver that is nobody's part. */
static void book_held(const struct activity_held *h) {
    struct activity_key k = {.kind = ACTIVITY_DRIVER, .node = h->node};
    add(named_row(&k, h->name), h->call.start, h->call.end);
    activity_call_put(h->correlation, &h->call);
    book_wait(&h->call, h->name->flags);
}

static void hold_call(const struct activity_record *r, const struct activity_text *name) {
    struct activity_held out, h = {.call = {.start = r->start, .end = r->end, .thread = r->thread},
                                   .correlation = r->correlation,
                                   .name = name,
                                   .node = node_of(r->correlation)};
    if (activity_call_hold(&h, &out)) {
        book_held(&out);
    }
}

static void book_sync(const struct activity_record *r) {
    const struct activity_gpu *gpu = activity_device_get(r->device, NULL);
    struct activity_key k = {.kind = r->kind,
                             .detail = r->detail,
                             .node = node_of(r->correlation),
                             .device = gpu ? gpu->unit : 0,
                             .context = r->context,
                             .stream = r->stream};
    add(activity_rows_get(&k), r->start, r->end);
    if (r->detail == ACTIVITY_SYNC_EVENT || r->detail == ACTIVITY_SYNC_STREAM ||
        r->detail == ACTIVITY_SYNC_CONTEXT) {
        activity_line_wait(r->start, r->end, 0, r->correlation, 0);
    }
}

static void book_overhead(const struct activity_record *r) {
    struct activity_key k = {.kind = r->kind, .detail = r->detail};
    add(activity_rows_get(&k), r->start, r->end);
}

static void book_memory(const struct activity_record *r) {
    if (r->kind == ACTIVITY_ALLOC) {
        activity_memory_give(r, activity_device_get(r->device, NULL), node_of(r->correlation));
    } else {
        activity_memory_take(r, node_of(r->correlation));
    }
}

void activity_book(const struct activity_record *r, const struct activity_text *name,
                   uint64_t now) {
    if (is_bad(r, now)) {
        arena_lose(STINT_STATUS_ACTIVITY_BAD, 1);
        return;
    }
    switch (r->kind) {
    case ACTIVITY_KERNEL:
    case ACTIVITY_COPY:
    case ACTIVITY_FILL:
        book_work(r, name);
        break;
    case ACTIVITY_API:
        book_call(r, name);
        break;
    case ACTIVITY_DRIVER:
        hold_call(r, name);
        break;
    case ACTIVITY_SYNC:
        book_sync(r);
        break;
    case ACTIVITY_OVERHEAD:
        book_overhead(r);
        break;
    case ACTIVITY_ALLOC:
    case ACTIVITY_FREE:
        book_memory(r);
        break;
    default:
        break;
    }
}

void activity_book_rest(void) {
    struct activity_held h;
    while (activity_call_release(&h)) {
        book_held(&h);
    }
}
