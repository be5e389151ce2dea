/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of a thread that are read by system calls at the begin and at the end of a call: CPU
 * time, page faults, counters of the processor. The layer that reads them is a struct of functions,
 * set by session/connect.c.
 *
 * Two readings take far longer than a scope. So a call is measured only where 1 % of the mean of
 * its node's calls so far pays for them: all measured calls of a node together then take less than
 * 1 % of the node's time. The first call has no mean: it is read at its begin, and at its end if it
 * took long enough itself.
 *
 * The inline path knows nothing of this. The node of a measured scope is not in the tables of the
 * inline begin (record/tree.c), so that each begin of it takes the slow path, and its frame has
 * STINT_IMPL_TAG, so that its end does, too. A node whose first PROBE_TRIES calls are too short on
 * average is entered there and is not measured any more.
 */
#ifndef STINT_PROBE_H
#define STINT_PROBE_H

#include "thread.h"

#define PROBE_VALUES 48  /* numbers of a reading */
#define PROBE_TRIES 8    /* calls after which a node with short ones takes the fast path for good */
#define PROBE_PERCENT 1u /* of a node's time that its readings may take */

/* With PROBE_LONG (STINT_WAITS) nodes begin on the inline path. One whose calls so far
 * took PROBE_LONG_US or more on average, and PROBE_LONG_TIMES as long as its readings, leaves it:
 * its further calls are measured, its first ones are not. The slow path takes up to a quarter of
 * what the readings take, so that all of it is less than 0.1 % of the calls. */
#define PROBE_LONG_US 1000u
#define PROBE_LONG_TIMES 1250u

enum probe_mode { PROBE_OFF, PROBE_ALL, PROBE_LONG };

enum probe_side { PROBE_BEGIN, PROBE_END };

struct probe_ops {
    /* Returns what is to be measured, by the settings; once, under the registry's lock, before
     * the first scope. Never NULL, as the others. */
    enum probe_mode (*open)(void);
    /* The time that the two readings of a call take, in ticks; at most UINT64_MAX / 1000. Any
     * thread. */
    uint64_t (*cost_ticks)(void);
    /* Memory that read keeps for a thread; zeroed at first. */
    size_t thread_bytes;
    /* Reads the calling thread's numbers. 0, or -1: the call is not measured. On the owner's thread
     * with no lock held; a signal handler may interrupt it and call it, too, and a child that the
     * handler forked may return into it. */
    int (*read)(void *thread, uint64_t *values, enum probe_side side);
    /* Adds what a call took to the measures of its node. */
    void (*add)(struct thread_block *b, struct stint_impl_node *n, const uint64_t *begin,
                const uint64_t *end);
    /* The thread has ended, or, in the child of a fork, belongs to the parent. */
    void (*end_thread)(void *thread);
    void (*forget_thread)(void *thread);
};

/* Before the first scope. NULL: nothing is ever measured. */
void probe_set_ops(const struct probe_ops *ops);
/* When the settings are known, under the registry's lock. */
void probe_start(void);
/* Whether every scope may be measured. Does not change. */
int probe_on(void);
/* A call of fewer ticks makes no node a long one; UINT64_MAX without PROBE_LONG. Does not change
 * either. */
extern uint64_t probe_long_from;
/* Whether the node's calls are measured from now on, with PROBE_LONG. */
int probe_is_long(const struct stint_impl_node *n);
/* Returns the time that the two readings of a call take, in ticks; 0: nothing is measured. Any
 * thread. */
uint64_t probe_cost(void);

/* Memory for a thread that has none yet, which then measures nothing without it; inside. */
void probe_add_thread(struct thread_block *b);
/* The same with PROBE_LONG, for the first long scope of a thread. -1 without memory. */
int probe_add_long(struct thread_block *b);
/* Whether the node's calls are too short, and enough of them to be sure. */
int probe_is_settled(const struct stint_impl_node *n);
/* Reads at the begin of a call, before its clock is read. 1, or 0: the call is not measured. */
int probe_begin(struct thread_block *b, const struct stint_impl_frame *f,
                const struct stint_impl_node *n);
/* The same call, when its clock was read. */
void probe_began(struct thread_block *b, const struct stint_impl_frame *f, uint64_t start);
/* Reads at the end of a call and adds the difference to the node's measures, if there was a reading
 * at its begin. */
void probe_end(struct thread_block *b, const struct stint_impl_frame *f, struct stint_impl_node *n,
               uint64_t ticks);
void probe_end_thread(struct thread_block *b);
void probe_forget_thread(struct thread_block *b);

#endif
