/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_SAMPLE: of most nodes one call in N is timed and the others are counted. See
 * struct stint_impl_sampled. With STINT_SAMPLE=auto:SHARE% N is that node's own, and changes.
 */
#ifndef STINT_SAMPLE_H
#define STINT_SAMPLE_H

#include "base/config.h"
#include "thread.h"

/* The first calls of a node are timed: then it has its histogram. */
#define SAMPLE_FIRST_CALLS (STINT_IMPL_RAW + 1)

/* Whether STINT_SAMPLE says that calls are left out. */
static inline int sample_is_on(void) {
    return config.sample.every >= 2 || config.sample.share > 0;
}
/* Sets the function that measures the cost of a timed call of a sampled node, in ticks times 1000;
 * called once, on a thread that records and holds no lock. Before the first scope. NULL: it costs
 * nothing. */
void sample_set_cost(uint64_t (*measure)(void));
/* A call of a scope has ended: its node is sampled from now on, or never is. Owner. call: may be
 * NULL. */
void sample_check(struct thread_block *b, struct stint_impl_node *n,
                  const struct stint_impl_call *call);
/* A timed call of a node, between the odd and the even seq: adds it to the sums if it was its
 * block's. Whether the node is sampled. Owner. */
int sample_add(struct thread_block *b, struct stint_impl_node *n, uint64_t start, uint64_t ticks);
/* How many calls the timed call of the node that ends now represents, itself included. Owner. */
uint64_t sample_weight(const struct thread_block *b, const struct stint_impl_node *n);
/* From now on every call of the node is timed. Owner. */
void sample_never(struct stint_impl_node *n);
/* The end of an untimed call. Owner. */
void sample_count_untimed(const struct thread_block *b, struct stint_impl_start start);

#endif
