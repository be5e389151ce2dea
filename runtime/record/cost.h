/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a call on this machine at this time, measured on the paths that scopes take with the
 * settings of this process.
 */
#ifndef STINT_COST_H
#define STINT_COST_H

#include "arena/arena.h"

/* Takes about 30 us and records nothing. All 0 without memory. */
void cost_read(struct arena_cost *out);

/* The rounds of each measurement; the best one counts. 5, or fewer in tests that stop after each
 * instruction. */
extern int cost_rounds;

#endif
