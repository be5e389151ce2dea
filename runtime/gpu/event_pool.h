/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of GPU events: where they come from, and what becomes of them when the GPU is through.
 *
 * Pairs are kept a context; those whose time is still to come wait in the order of their stream, at
 * most STINT_GPU_IN_FLIGHT in all. Nothing here waits for a GPU but event_pool_flush. Any thread; a
 * signal handler that interrupted the pool gets nothing.
 */
#ifndef STINT_EVENT_POOL_H
#define STINT_EVENT_POOL_H

#include <stdint.h>

#include "base/status.h"

struct event_pair;

/* There is no GPU: event_pool_start would only say so. Relaxed. */
extern int event_pool_no_gpu;

/* Records the first event of a pair on the stream. NULL: not measured, and *why says what to count.
 */
struct event_pair *event_pool_start(void *stream, enum stint_status *why);
/* Records the second; the time will be added to those sums and traced for that node (units of the
 * arena). wait: and waits for it. 0, or -1 with *why. Then polls two pairs at most. */
int event_pool_stop(struct event_pair *p, uint32_t sums, uint32_t node, int wait,
                    enum stint_status *why);
/* Takes a started pair back. */
void event_pool_cancel(struct event_pair *p);
/* Picks up whatever is done; before every snapshot. */
void event_pool_collect(void);
/* Waits until nothing is in flight. 0, or -1 after an error of the GPU. */
int event_pool_flush(void);

#endif
