/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Desired-state worker: brings something that is slow to change (a tool, a tracer) to the state
 * that its owner requests, without a lock held over the change.
 *
 * The requested state is whatever the owner's tables say; they are under the owner's lock, and
 * worker_ops.choose computes from them what is to be done next. A request is made in two steps: the
 * caller changes the tables, then it calls worker_run. The first caller performs the transitions,
 * one after the other, until choose returns 0. A request that comes during this, from another
 * thread, from a signal handler or from within a transition, finds the worker busy and returns at
 * once; its change of the tables is seen before the worker stops. So no thread waits for a
 * transition, transitions never overlap, and the last request holds.
 *
 * Rank rules (lock_table.h): choose and settle are called with the owner's lock held and take no
 * lock before it; perform is called with no lock held, as it calls out.
 */
#ifndef STINT_WORKER_H
#define STINT_WORKER_H

#include <stdint.h>

#include "lock.h"

struct worker_ops {
    /* The next transition (the owner's number for it), 0 = none. Lock held. state: the actual one.
     * is_first: the first question of this worker_run, when a transition that failed before may be
     * tried once more. Also copies what perform needs from the tables. */
    int (*choose)(int state, int is_first);
    /* Carries the transition out and returns the new actual state. Lock not held. */
    int (*perform)(int transition, int state);
    /* The state after a transition, for what the owner derives from it. Lock held. May be NULL:
     * nothing is derived. */
    void (*settle)(int state);
};

/* All fields are under the lock. The initial state is 0. */
struct worker {
    const struct worker_ops *ops;
    enum lock_id lock;
    int state;
    int is_busy;         /* a call of worker_run is under way */
    uint32_t generation; /* forks that led here */
};

/* Called and returns with the lock held (lock_take), which is released for each transition. Returns
 * 1 when nothing is left to be done, 0 when another call of worker_run is under way and will do it.
 * Any thread; also a signal handler, unless it interrupted a holder of the lock. The thread cannot
 * be cancelled in a transition. */
int worker_run(struct worker *w);

/* In the child of a fork, with the lock held: a transition that was under way is forgotten, and the
 * call of worker_run that a forking signal handler interrupted changes nothing when it goes on. */
void worker_forget(struct worker *w, int state);

#endif
