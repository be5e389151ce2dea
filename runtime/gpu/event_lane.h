/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of a GPU stream: one lane per stream, with the spans of its GPU timers. Under the event
 * pool's lock.
 *
 * Events tell how long a span took, not when it began. A span is recorded at the earliest possible
 * time: not before the host began to record its first event, and not before the end of the span
 * that was closed last on this stream when it was opened. Other work in the stream may in fact make
 * it begin later. A span is extended to the end of the spans inside it.
 */
#ifndef STINT_EVENT_LANE_H
#define STINT_EVENT_LANE_H

#include <stdint.h>

struct arena_lane;
struct event_pair;
struct stint_impl_ring;

/* The pair's first event is about to be recorded. Without the lock. */
void event_lane_note_start(struct event_pair *p);
/* The pair's first event has been recorded, and its second. */
void event_lane_open(struct event_pair *p);
void event_lane_close(struct event_pair *p);
/* The time of a pair whose second event the GPU has reached. */
void event_lane_add(const struct event_pair *p, uint64_t ns);
/* In the child of a fork. */
void event_lane_forget_all(void);

/* Adds a lane like that one, with a number and a ring of its own, to the list of lanes of the
 * arena; its ring, or NULL without memory. With any lock: lanes of activities are in the same
 * list. */
struct stint_impl_ring *event_lane_publish(const struct arena_lane *lane);

#endif
