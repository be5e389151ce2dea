/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current interval: what reports and getters speak of. One report at a time; recording goes on.
 */
#ifndef STINT_INTERVAL_H
#define STINT_INTERVAL_H

#include "read/snapshot.h"

/* A snapshot of all that this process has recorded. 0, or -1: no memory, or nothing was ever
 * recorded. */
int snapshot_take(struct snapshot *s);
/* A snapshot of the interval; with reset, the next one starts at this very snapshot, for all sets.
 * 0 with the interval locked until interval_close, or -1: no memory. */
int interval_open(struct snapshot *s, int reset);
void interval_close(struct snapshot *s);
/* Starts a new interval for one set, or BASELINE_ALL_SETS. */
void interval_reset(uint32_t set);

#endif
