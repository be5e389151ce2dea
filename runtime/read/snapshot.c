/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an arena, which threads may be writing, or an untrusted file, part by part
 * (snapshot_parts.h).
 */
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "snapshot_parts.h"

#define PATIENCE                                                                                   \
    (1000u * SNAPSHOT_TRIES) /* a thread or GPU lane has one odd node; a second of waiting */

static int read_all(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                    const struct clock_stamp *now) {
    const struct arena_header *h = (const struct arena_header *)(const void *)base;
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
        snapshot_read_activities(s, activity) || snapshot_read_open(s)) {
        scratch_free(&s->memory);
        return -1;
    }
    snapshot_sum_children(s);
    return 0;
}

int snapshot_read(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                  const struct clock_stamp *now) {
    memset(s, 0, sizeof *s);
    return read_all(s, base, size, start_ns, now);
}

int snapshot_read_live(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                       const struct clock_stamp *now) {
    memset(s, 0, sizeof *s);
    s->patience = PATIENCE;
    return read_all(s, base, size, start_ns, now);
}

void snapshot_free(struct snapshot *s) {
    scratch_free(&s->memory);
}
