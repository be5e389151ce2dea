/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last thing that is known to have happened in a run that did not say its end.
 */
#ifndef STINT_TOOL_RUN_LATEST_H
#define STINT_TOOL_RUN_LATEST_H

#include "arena/arena.h"
#include "read/snapshot.h"

/* Its tick; the start's if there is nothing. */
uint64_t run_latest(const struct snapshot *s, const struct arena_header *h);

#endif
