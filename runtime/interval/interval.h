/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current interval, whose statistics reports and getters show. Only one report is made at a
 * time; recording continues during it.
 */
#ifndef STINT_INTERVAL_H
#define STINT_INTERVAL_H

#include "model/snapshot.h"

/* A snapshot of everything that this process has recorded. 0, or -1: there is not enough memory, or
 * nothing was recorded yet. */
int snapshot_take(struct snapshot *s);
/* The same of the nodes of the choice. */
int snapshot_take_chosen(struct snapshot *s, const struct snapshot_choice *choice);
/* A snapshot of the interval; with reset, the next interval starts at exactly this snapshot, for
 * all sets. 0 with the interval locked until interval_close, or -1: there is not enough memory. */
int interval_open(struct snapshot *s, int reset);
/* The same with what a row of rows_flat for that name and set needs, and maybe more. 1, and nothing
 * is open: there is no such row. */
int interval_open_name(struct snapshot *s, uint32_t set, const char *name);
void interval_close(struct snapshot *s);
/* Starts a new interval for one set, or BASELINE_ALL_SETS. */
void interval_reset(uint32_t set);

#endif
