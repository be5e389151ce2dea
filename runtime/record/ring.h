/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings of trace events (STINT_TRACE): a thread's, and a GPU stream's. Each gets a part of the
 * trace memory that is left, the first a quarter; see arena_trace_share.
 */
#ifndef STINT_RING_H
#define STINT_RING_H

#include <stdint.h>

#include "stint/detail/impl_layout.h"

/* Returns the bytes that an arena needs for so many bytes of events: each ring has a head of its
 * own. */
uint64_t ring_room(uint64_t bytes);
/* A ring in the arena, in units; 0: no trace is kept, or no memory (counted). Any thread. */
uint32_t ring_new(void);
struct stint_impl_ring *ring_at(uint32_t unit);
/* Ticks from which a span is traced; UINT64_MAX without a trace. */
uint64_t ring_min(void);
/* A span of any length. Owner only. */
void ring_add_span(struct stint_impl_ring *r, uint32_t node, uint64_t start, uint64_t ticks);
/* An event with a payload; at: kind and ticks. Owner only. */
void ring_add_pair(struct stint_impl_ring *r, uint64_t at, uint64_t what, uint64_t payload);

#endif
