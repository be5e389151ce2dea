/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lanes of a trace are called.
 */
#ifndef STINT_TRACE_NAME_H
#define STINT_TRACE_NAME_H

#include "arena/arena.h"
#include "trace.h"

void trace_name_thread(struct trace_lane *out, const struct snapshot_thread *t);
/* Says also of which GPU it is, and of what its spans are. */
void trace_name_stream(struct trace_lane *out, const struct arena_lane *l,
                       const struct snapshot *s);

#endif
