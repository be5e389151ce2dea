/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reset without clearing: a baseline is what had been recorded at a moment, and later snapshots
 * subtract it. Recording threads take no part.
 */
#ifndef STINT_BASELINE_H
#define STINT_BASELINE_H

#include "base/histogram.h"
#include "snapshot.h"

struct baseline_node {
    SCOPE_BY_NAME;
    uint64_t open_self;
    uint64_t at;                     /* ticks of the reset */
    const struct measures *measures; /* in the baseline's memory, or &snapshot_no_measures */
    uint32_t raw, raw_counted;
};

/* The baseline of a struct snapshot_activity. Memory in use is a state, no sum: it has none. */
struct baseline_activity {
    ACTIVITY_BY_NAME;
};

/* A baseline from an unsubtracted snapshot: every node and activity, or the nodes of one set (the
 * others and all activities keep what `old` says of them). NULL without memory. */
struct baseline *baseline_new(const struct snapshot *s, uint32_t set, const struct baseline *old);
#define BASELINE_ALL_SETS UINT32_MAX
void baseline_free(struct baseline *b);

/* Adds a histogram of the snapshot, without what it had at the snapshot's baseline. read: room for
 * one. */
void baseline_add_histogram(struct histogram *sum, const struct snapshot *s, uint32_t thread,
                            uint32_t unit, struct histogram *read);
/* Leaves of the snapshot what happened after `b`, which must outlive it. */
void baseline_subtract(const struct baseline *b, struct snapshot *s);

#endif
