/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of GPU events, by the context they belong to. All functions under the event pool's lock
 * unless said otherwise.
 */
#ifndef STINT_EVENT_CONTEXT_H
#define STINT_EVENT_CONTEXT_H

#include "gpu.h"

struct event_pair {
    void *from; /* NULL: the events are still to be made */
    void *to;
    void *stream;
    struct event_context *home;
    struct event_pair *next; /* in its queue or among the free */
    uint32_t generation;     /* of its home, when the pair was taken */
    uint32_t sums;           /* where the time goes, units */
    uint32_t node;           /* whose time it is */
    uint32_t lane;           /* of its trace; see event_lane.h */
    uint64_t opened;
    uint64_t closed;
    uint64_t host_ticks;
};

/* Its place in a table; a context that is gone leaves it to another. */
struct event_context {
    struct gpu_context context;
    uint32_t device;     /* units of its record, 0 = none */
    int described;       /* the device was looked up, with or without success */
    uint32_t generation; /* one more for each context that had this place */
    struct event_pair *free;
};

/* A pair of that context, from the free ones or without events; NULL: no memory, or too many
 * contexts. */
struct event_pair *event_pair_get(const struct gpu_context *c);
/* Back among the free; its events too if they are good and their context is still there. Events
 * that are not are forgotten, not destroyed: their handles mean nothing. */
void event_pair_put(struct event_pair *p, int good);
static inline int event_pair_is_stale(const struct event_pair *p) {
    return p->generation != p->home->generation;
}
/* The context is gone. */
void event_context_forget(struct event_context *home);
/* Whether there ever was one. Any time. */
int event_context_any(void);

#endif
