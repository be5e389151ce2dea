/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an arena, which threads may be writing, or an untrusted file, part by part
 * (snapshot_parts.h).
 */
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "snapshot_parts.h"

/* The own time of a recursive call is in the time of the scope around it, and belongs to the node
 * that counts the call; it may be below 0. */
uint64_t snapshot_own(const struct snapshot_node *n) {
    uint64_t with = n->total, without = n->nested;
    uint64_t inner = n->measures->measure[MEASURE_INNER_TICKS];
    if (inner > INT64_MAX) {
        without = saturating_add(without, -inner);
    } else {
        with = saturating_add(with, inner);
    }
    return saturating_subtract(with, without);
}

void snapshot_sum_children(struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        s->nodes[i].splits = 0;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent == SNAPSHOT_NONE || n->kind != STINT_IMPL_SCOPE_NODE) {
            continue;
        }
        s->nodes[n->parent].splits += n->count;
        if (n->extra->untimed) {
            snapshot_extra_of(s, n->parent)->holds_untimed = 1;
        }
    }
}

/* A product that is not near the largest one is exact: of the whole nanoseconds of a tick, and of
 * 2^64 times the rest of it. */
u128 snapshot_sum_ns(const struct snapshot *s, u128 ticks) {
    double about = (double)ticks * s->ns_per_tick;
    if (ticks <= UINT64_MAX && about < 1.8e19) {
        return snapshot_ns(s, (uint64_t)ticks);
    }
    if (!(about >= 0 && about < 1e29)) {
        return snapshot_sum_whole(about);
    }
    uint64_t whole = snapshot_whole(s->ns_per_tick);
    uint64_t part = (uint64_t)((s->ns_per_tick - (double)whole) * 0x1p64);
    u128 low = (u128)(uint64_t)ticks * part;
    if (!s->is_format_4) {
        low += (u128)1 << 63; /* to the nearest one */
    }
    return ticks * whole + (ticks >> 64) * part + (low >> 64);
}

int snapshot_read_head(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                       const struct clock_stamp *now) {
    const struct arena_header *h = (const struct arena_header *)(const void *)base;
    memset(s, 0, sizeof *s);
    s->base = base;
    s->size = size;
    s->now = *now;
    if (size < sizeof *h || memcmp(h->magic, ARENA_MAGIC, sizeof h->magic) ||
        !arena_format_is_known(h->abi)) {
        return -1;
    }
    s->start_ns = start_ns;
    s->is_format_4 = h->abi == 4;
    s->ns_per_tick = stamp_ns_per_tick(&h->start, now, h->ticks_per_us);
    if (h->ticks_per_us) {
        s->steady_ns_per_tick = 256000.0 / (double)h->ticks_per_us;
    }
    s->wall_ns = saturating_subtract(now->monotonic_ns, start_ns);
    s->outside = &snapshot_no_measures;
    return 0;
}

static int read_all(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                    const struct clock_stamp *now, uint32_t patience) {
    const struct arena_header *h = (const struct arena_header *)(const void *)base;
    if (snapshot_read_head(s, base, size, start_ns, now)) {
        return -1;
    }
    s->patience = patience;
    for (uint32_t k = 0; k < STINT_STATUS_COUNT; ++k) {
        s->lost[k] = STINT_IMPL_LOAD(&h->lost[k]);
    }
    s->open_intervals = STINT_IMPL_LOAD(&h->lost[ARENA_OPEN_INTERVALS]);
    s->gpu_in_flight = STINT_IMPL_LOAD(&h->gpu_in_flight);
    s->steps = STINT_IMPL_LOAD(&h->steps);
    s->tracer_requested = STINT_IMPL_LOAD(&h->tracer_requested) != 0;
    s->outside = snapshot_read_measures(s, SNAPSHOT_ACQUIRE(&h->outside), &snapshot_no_measures);
    uint32_t activity = SNAPSHOT_ACQUIRE(&h->first_activity);
    if (snapshot_read_threads(s, h) || snapshot_read_nodes(s) || snapshot_read_names(s, h) ||
        snapshot_read_activities(s, activity) || snapshot_read_open(s) || snapshot_count_full(s)) {
        scratch_free(&s->memory);
        return -1;
    }
    snapshot_sum_children(s);
    return 0;
}

int snapshot_read(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                  const struct clock_stamp *now) {
    return read_all(s, base, size, start_ns, now, 0);
}

int snapshot_read_live(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                       const struct clock_stamp *now) {
    return read_all(s, base, size, start_ns, now, SNAPSHOT_PATIENCE);
}

void snapshot_free(struct snapshot *s) {
    scratch_free(&s->memory);
}
