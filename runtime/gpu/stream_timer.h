/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU timers: a scope on the CPU with a pair of events on a stream; and the bytes and operations
 * that a scope declares.
 */
#ifndef STINT_STREAM_TIMER_H
#define STINT_STREAM_TIMER_H

#include "base/api.h"

/* Any thread; keep errno. Only end waits for the GPU, and only with STINT_GPU=sync. */
void stream_timer_begin(struct stint_impl_call *guard, struct stint_impl_site *site, void *stream);
/* The same of a command queue, which is retained until the time was read. */
void stream_timer_begin_queue(struct stint_impl_call *guard, struct stint_impl_site *site,
                              void *queue);
void stream_timer_end(struct stint_impl_call *guard);
/* Add to the innermost open scope of the calling thread; counted as lost if there is none. */
void stream_timer_add_bytes(uint64_t n);
void stream_timer_add_flops(uint64_t n);

/* A layer above that waits for a GPU context: while `stream_timer_context_wanted` is not 0
 * (relaxed; any thread), the hook is called at the beginning of each GPU scope, with no lock held,
 * as the thread may have a context by now. */
extern int stream_timer_context_wanted;
extern void (*stream_timer_context_hook)(void); /* set before it is wanted */

static inline void stream_timer_seek_context(void) {
    if (__builtin_expect(__atomic_load_n(&stream_timer_context_wanted, __ATOMIC_RELAXED), 0)) {
        stream_timer_context_hook();
    }
}

#endif
