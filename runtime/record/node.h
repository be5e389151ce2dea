/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds samples to the nodes of a thread's call tree (record/tree.h), where the inline path does
 * not. Owner only.
 */
#ifndef STINT_NODE_H
#define STINT_NODE_H

#include "thread.h"

/* So many of its first samples a node keeps itself: STINT_IMPL_RAW, fewer in tests of what comes
 * after them. */
extern uint32_t node_raw_samples;

/* One sample, with everything the inline path leaves out: first call, new maximum, info. nested:
 * the ticks of the calls recorded right inside it. */
void node_add_sample(struct thread_block *b, struct stint_impl_node *n, uint64_t start,
                     uint64_t ticks, uint64_t nested, const char *info);
/* The same for an interval. A scope in a signal handler never has the node of the scope that it
 * interrupted, an interval may; and the handler may leave the interrupted sample by siglongjmp.
 * time: ticks, or the nanoseconds of an added sample. -1: the total of the node has no room for it,
 * and it is not added. */
int node_add_interval(struct thread_block *b, struct stint_impl_node *n, uint64_t start,
                      uint64_t time, uint64_t ticks);
/* Adds own time of a call inside an open one of the node to the node. 0, or -1 without memory. */
int node_add_inner(struct thread_block *b, uint32_t node, uint64_t ticks);

#endif
