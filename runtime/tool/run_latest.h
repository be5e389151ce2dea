/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latest time that is known of a run without a recorded end.
 */
#ifndef STINT_TOOL_RUN_LATEST_H
#define STINT_TOOL_RUN_LATEST_H

#include "arena/arena.h"
#include "read/snapshot.h"

/* Its tick; that of the start if there is no other. */
uint64_t run_latest(const struct snapshot *s, const struct arena_header *h);

#endif
