/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of GPU events: recorded around the work of a GPU timer, and collected when the GPU has
 * reached them.
 *
 * Unused pairs are kept per context; those whose time is pending wait in the order of their stream,
 * at most STINT_GPU_IN_FLIGHT in all. Only event_pool_flush, and event_pool_stop with `wait`, wait
 * for a GPU. Any thread; a signal handler that interrupted the pool gets no pair.
 */
#ifndef STINT_EVENT_POOL_H
#define STINT_EVENT_POOL_H

#include <stdint.h>

#include "base/status.h"
#include "gpu.h"

struct event_pair;

/* The kind of a scope's stream: a stream, or a command queue (gpu_stream_of_queue). */
enum event_stream_kind { EVENT_OF_STREAM, EVENT_OF_QUEUE };

/* There is no GPU for streams: event_pool_start of one returns NULL. Relaxed. */
extern int event_pool_no_gpu;
/* Once a second at most, whether there is one by now (gpu_look_again); now: ticks. */
void event_pool_look_now(uint64_t now);
static inline void event_pool_look(uint64_t now) {
    if (now >= __atomic_load_n(&gpu_next_look, __ATOMIC_RELAXED)) {
        event_pool_look_now(now);
    }
}

/* Records the first event of a pair on the stream. NULL: not measured, and *why says what to
 * count. */
struct event_pair *event_pool_start(void *stream, enum event_stream_kind kind,
                                    enum stint_status *why);
/* Records the second event; the time will be added to those sums and traced for that node (units of
 * the arena). wait: also waits for it. 0, or -1 with *why. Then queries two pairs at most. */
int event_pool_stop(struct event_pair *p, uint32_t sums, uint32_t node, int wait,
                    enum stint_status *why);
/* Ends a pair without a time. */
void event_pool_cancel(struct event_pair *p);
/* Collects all that are finished; before every snapshot. */
void event_pool_collect(void);
/* Waits until nothing is in flight. 0, or -1 after an error of the GPU. */
int event_pool_flush(void);

#endif
