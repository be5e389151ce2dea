/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instants, and how long a tick is.
 */
#ifndef STINT_STAMP_H
#define STINT_STAMP_H

#include <stdint.h>

/* The same instant on all clocks. */
struct clock_stamp {
    uint64_t ticks;
    uint64_t monotonic_ns; /* CLOCK_MONOTONIC_RAW */
    uint64_t real_ns;      /* CLOCK_REALTIME */
};

/* Nanoseconds per tick between two stamps. `first`, as clock_ticks_per_us said at the start (0 =
 * unknown), is taken where they are equal or cannot be right. */
double stamp_ns_per_tick(const struct clock_stamp *from, const struct clock_stamp *to,
                         uint64_t first);

#endif
