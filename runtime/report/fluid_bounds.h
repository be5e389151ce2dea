/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest and the longest call of a node in the interval. Those of its whole life are known;
 * where one of them is from before the interval, its histogram says more, which it shares with the
 * other nodes of its site.
 */
#ifndef STINT_FLUID_BOUNDS_H
#define STINT_FLUID_BOUNDS_H

#include "read/snapshot.h"

struct fluid_bounds {
    uint64_t min; /* ticks */
    uint64_t max;
};

/* What was found is kept. In the snapshot's memory; NULL without. */
struct fluid_bounds_table *fluid_bounds_new(struct snapshot *s);
struct fluid_bounds fluid_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                 const struct snapshot_node *n);

#endif
