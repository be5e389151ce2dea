/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pair of events asks of the back end. Without any lock: the call may end up in a tool.
 */
#ifndef STINT_EVENT_CALLS_H
#define STINT_EVENT_CALLS_H

#include "base/status.h"
#include "event_context.h"

/* Makes the pair's events if it has none, then records the one or the other. Codes of gpu.h. */
int event_record(const struct gpu_ops *gpu, struct event_pair *p, void **which);
/* Whether the GPU has passed the pair, or after waiting for it; and how long it took. */
int event_ask(const struct gpu_ops *gpu, const struct event_pair *p, int wait, uint64_t *ns);
/* What a scope that met that code is counted as. */
enum stint_status event_loss(int code);

#endif
