/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a GPU stream: one lane a stream, with the spans of its GPU timers. Under the event
 * pool's lock.
 *
 * Events tell how long a span took, not when it began. It is put as early as it can have been: not
 * before the host recorded its first event, and not before the end of the span that was closed last
 * on this stream when it was opened. What else is in the stream may make it begin later; a span inside
 * it that began later than was thought ends with it: it is made as long as that takes.
 */
#ifndef STINT_EVENT_LANE_H
#define STINT_EVENT_LANE_H

#include <stdint.h>

#include "event_context.h"

/* The pair's first event has been recorded, and its second. */
void event_lane_open(struct event_pair *p);
void event_lane_close(struct event_pair *p);
/* It took ns. */
void event_lane_add(const struct event_pair *p, uint64_t ns);
/* In the child of a fork. */
void event_lane_forget_all(void);

#endif
