/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread's call tree: from (parent, set, site) to node. Owner only.
 */
#ifndef STINT_TREE_H
#define STINT_TREE_H

#include "thread.h"

/* Key bits above the largest site id: edges that lead back to an open node around, intervals, and
 * the histogram all nodes of a site share: one for its outer calls, one for those inside a scope of
 * the same name and set, which are in no row's samples. */
#define TREE_RECURSIVE (1u << 23)
#define TREE_INTERVAL (1u << 22)
#define TREE_HISTOGRAM (1u << 21)
#define TREE_HISTOGRAM_INNER (TREE_HISTOGRAM | 1u << 20)
/* The same of samples that were added in nanoseconds. */
#define TREE_INTERVAL_NS (TREE_INTERVAL | 1u << 20)
#define TREE_HISTOGRAM_NS (TREE_HISTOGRAM | TREE_INTERVAL)
/* A scope that may be measured (record/probe.h): not among the edges, which are the inline
 * path's. */
#define TREE_PROBED (TREE_RECURSIVE | TREE_INTERVAL)

/* Where a scope is opened. */
struct tree_edge {
    uint32_t parent; /* node that it runs in, in units */
    uint32_t set;
    uint32_t site;
    uint32_t sender; /* the scope that sent the work, a node of any thread; 0 = none */
};

/* Where an edge leads. */
struct tree_place {
    uint32_t node; /* 0 = there is none */
    int recursive; /* it is an open one */
    int probed;    /* a call may be measured */
    int settled;   /* no call will be: for tree_get, which gives it to the inline path */
    const struct stint_impl_edge *edge; /* of a recursive call, for the inline path, or NULL */
};

static inline struct stint_impl_node *tree_node(const struct thread_block *b, uint32_t unit) {
    return (struct stint_impl_node *)(void *)(b->hot.base + (size_t)unit * STINT_IMPL_UNIT);
}

/* Looks only; safe outside thread_enter. */
struct tree_place tree_find(const struct thread_block *b, const struct tree_edge *e);
/* Looks, then makes the node; between thread_enter and thread_leave. node 0: no memory. */
struct tree_place tree_get(struct thread_block *b, const struct tree_edge *e);
/* The scope above a node in the tree that readers show: its sender, else its parent; 0 for a
 * root. */
uint32_t tree_above(const struct thread_block *b, uint32_t unit);
/* After a sample of a scope: if its calls are long, the further ones are measured
 * (record/probe.h). */
void tree_check_long(struct thread_block *b, uint32_t unit);
/* The inline path tries the node first no more. */
static inline void tree_forget_near(struct thread_block *b, const struct stint_impl_node *n) {
    const struct stint_impl_edge **place = &b->hot.nearby[n->site % STINT_IMPL_NEAR];
    if (tree_node(b, STINT_IMPL_LOAD(place)->node) == n) {
        STINT_IMPL_STORE(place, &thread_no_edge);
    }
}
/* The node of an interval of the thread, of that kind: of handles, or of samples that were added;
 * likewise, looking only and making. */
uint32_t tree_find_interval(const struct thread_block *b, enum stint_impl_kind kind, uint32_t set,
                            uint32_t site);
uint32_t tree_get_interval(struct thread_block *b, enum stint_impl_kind kind, uint32_t set,
                           uint32_t site);

/* The histogram that the node shares with the others of its site, set and thread, made if need be;
 * in a signal handler that interrupted a change of the tables, one that no other node has. 0: no
 * memory. */
uint32_t tree_get_histogram(struct thread_block *b, const struct stint_impl_node *n);

#endif
