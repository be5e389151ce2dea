/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of GPU events, private to the event pool (event_pool.c): the table of contexts with their
 * unused pairs, the queues of pairs whose time is pending, and the calls of the back end.
 */
#ifndef STINT_EVENT_PAIR_H
#define STINT_EVENT_PAIR_H

#include <pthread.h>

#include "base/status.h"
#include "gpu.h"

struct event_pair {
    void *from; /* NULL: the events are not made yet */
    void *to;
    void *stream;
    struct event_context *home;
    struct gpu_context context; /* home's, for calls without the lock */
    struct event_pair *next;    /* in its queue or among the free */
    uint32_t generation;        /* of its home, when the pair was taken */
    uint32_t sums;              /* where the time is added, units */
    uint32_t node;              /* whose time it is */
    uint32_t lane;              /* of its trace; see event_lane.h */
    uint64_t opened;
    uint64_t closed;
    uint64_t host_ticks;
};

/* ---- Contexts (event_context.c); under the event pool's lock. */

/* A place in the table of contexts, which another one may take: when this context is known to be
 * destroyed, or the table is full. */
struct event_context {
    struct gpu_context context;
    uint32_t device;           /* units of its record, 0 = none */
    int described;             /* the device was looked up, with or without success */
    int is_primary;            /* see gpu.h; set with `described`, relaxed */
    int may_be_gone;           /* when a pair was last queried, it was not known to exist */
    struct event_pair *parked; /* see event_queue_park; oldest first */
    uint32_t in_use;           /* its pairs that are started or waiting */
    uint64_t used_at;          /* the moment when a pair was taken last */
    uint32_t generation;       /* one more for each context that had this place; relaxed */
    struct event_pair *free;
    struct event_queue *recent; /* of its pair that was put last; NULL: none yet */
};

/* A pair of that context, from the free ones or without events; NULL: no memory, or too many
 * contexts. */
struct event_pair *event_pair_get(const struct gpu_context *c);
/* Makes the pair free again; with its events if they are good, or of a back end whose events can be
 * used after any error, and their context still exists. Other events are forgotten, not destroyed:
 * their handles are not valid. */
void event_pair_put(struct event_pair *p, int good);
/* Also without the lock, by the thread that has the pair. */
static inline int event_pair_is_stale(const struct event_pair *p) {
    return p->generation != __atomic_load_n(&p->home->generation, __ATOMIC_RELAXED);
}
/* The context has been destroyed. Its pairs are stale from then on. */
void event_context_forget(struct event_context *home);
/* Each place that was ever taken; NULL: there are no more. */
struct event_context *event_context_at(uint32_t i);
/* Whether there ever was a context. With or without the lock. */
int event_context_any(void);

/* ---- Queues (event_queue.c); under the event pool's lock. One per stream, in the order of its
 * pairs, so that a slow stream does not delay the others. Their number is fixed; an empty one is
 * free for another stream. Where too many are in use, streams share one, which only delays
 * times. */

#define EVENT_QUEUES 256u /* power of two */

struct event_queue {
    void *stream;
    const struct event_context *home;
    pthread_t thread; /* of a per-thread stream */
    struct event_pair *head;
    struct event_pair *tail;
    int is_shared; /* it may have pairs of several streams */
    int asked;     /* a thread queries its head without the lock: only that one may take it out */
};

extern struct event_queue event_queues[EVENT_QUEUES];

/* Adds a pair after the others of its stream; returns the queue. Its context exists. */
struct event_queue *event_queue_put(struct event_pair *p);
struct event_pair *event_queue_pop(struct event_queue *q);
/* The context of the oldest pair is not known to exist. If the queue is shared, takes the context's
 * pairs out, so that they delay no others, until a pair of it is put or they are put back. Returns
 * whether it did. */
int event_queue_park(struct event_queue *q);
void event_queue_put_back(struct event_context *home);
/* The oldest parked pair, which is parked no longer. NULL: there is none. */
struct event_pair *event_queue_take_parked(struct event_context *home);
/* Another queue that is not empty, each in turn; NULL if there is none. */
struct event_queue *event_queue_other(const struct event_queue *than);
/* Whether a thread queries one of them at this moment. */
int event_queue_any_asked(void);
/* The number of pairs in all queues; with those that are parked also in the arena's header, for
 * reports. */
uint64_t event_queue_waiting(void);
/* In the child of a fork. */
void event_queue_forget_all(void);

/* ---- Calls of the back end (event_calls.c); without any lock, as they may end up in a tool. */

/* The calls that one thread makes in a row: a context is entered once for those that need it, and
 * the capture mode exchanged once. All zero at the start. */
struct event_visit {
    struct gpu_context context;    /* current since the last pair; handle NULL: none */
    int entered;                   /* and to be left */
    const struct gpu_ops *relaxed; /* its `mode` is to be restored; NULL: none */
    int mode;
};
/* When the context of a pair is returned to: at the end of its scope, when its stream still exists,
 * or at any later time. */
enum event_moment { EVENT_AT_STOP, EVENT_LATER };
/* Makes the context, which exists, current; for calls of a default stream, which belongs to the
 * current context. Codes of gpu.h. doubtful: the pair that is returned to. Its context may have
 * been destroyed unless it is current. */
int event_visit_change(struct event_visit *v, const struct gpu_context *c,
                       const struct event_pair *doubtful, enum event_moment moment);
static inline int event_visit_enter(struct event_visit *v, const struct gpu_context *c) {
    if (gpu_context_is_same(&v->context, c)) {
        return GPU_OK;
    }
    return event_visit_change(v, c, NULL, EVENT_LATER);
}
/* The same with the context of a pair, which may have been destroyed since:
 * GPU_CONTEXT_IS_DESTROYED, or GPU_CONTEXT_UNKNOWN where that is not known. */
static inline int event_visit_return(struct event_visit *v, const struct event_pair *p,
                                     enum event_moment moment) {
    if (gpu_context_is_same(&v->context, &p->context)) {
        return GPU_OK;
    }
    return event_visit_change(v, &p->context, p, moment);
}
void event_visit_end(struct event_visit *v);

/* Releases what the pair's events hold. Its time can then not be asked for. */
void event_pair_clear(const struct event_pair *p);
/* Makes the pair's events if it has none, then records one of them. Codes of gpu.h. After an error
 * what they hold is released; so too for event_pair_query. */
int event_pair_record(struct event_visit *v, struct event_pair *p, void **which);
/* The time between the two events. GPU_NOT_READY: the GPU has not reached the second one; not
 * returned with `wait`, which waits for it. */
int event_pair_query(struct event_visit *v, const struct event_pair *p, int wait, uint64_t *ns);
/* Returns the status that a scope with this code is counted as. */
enum stint_status event_status_of_code(int code);

#endif
