/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that end without their end: left by goto, longjmp or the end of their thread. Each is
 * counted in its node as a call without a sample, once, also where a signal handler leaves a call
 * that has just been counted.
 */
#ifndef STINT_LEFT_H
#define STINT_LEFT_H

#include "thread.h"

/* The samples of a node, so far. Owner. */
static inline uint64_t left_samples(const struct stint_impl_node *n) {
    return STINT_IMPL_LOAD(&n->seq) >> 1;
}

/* Makes the frame MOVED, and counts its call as left, unless another thread has ended it. *guard:
 * what it was. 0, or -1 if a signal handler has changed the frame: nothing is done. The frame's
 * owner, or another thread when that one has ended. */
int left_take(struct thread_block *b, struct stint_impl_frame *f, uint64_t *guard);

#endif
