/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of activities: nanoseconds since the arena began, at the rate measured at its start,
 * and the ticks they are. Only where there is an arena.
 */
#ifndef STINT_ACTIVITY_TIME_H
#define STINT_ACTIVITY_TIME_H

#include "arena/arena.h"

/* Never 0: that stands for "unknown". In: of an arena that may be the process's no more, in code
 * that a forking signal handler may have interrupted. */
static inline uint64_t activity_ns_in(const struct arena_header *h, uint64_t ticks) {
    uint64_t since = ticks > h->start.ticks ? ticks - h->start.ticks : 0;
    uint64_t rate = h->ticks_per_us;
    uint64_t ns = rate ? (uint64_t)((double)since * 256000.0 / (double)rate) : 0;
    return ns ? ns : 1;
}

static inline uint64_t activity_ns_of(uint64_t ticks) {
    return activity_ns_in(arena_header(), ticks);
}

static inline uint64_t activity_ticks_of(uint64_t ns) {
    return arena_header()->start.ticks + clock_ticks_of_ns(ns);
}

#endif
