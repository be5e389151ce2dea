/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs whose time is still to come, in the order of their stream: a queue a stream, so that a slow
 * one holds up no other. Queues are few; an empty one is free for another stream, and where too
 * many are busy streams share, which only makes a time come later. Under the event pool's lock.
 */
#ifndef STINT_EVENT_QUEUE_H
#define STINT_EVENT_QUEUE_H

#include <pthread.h>

#include "event_context.h"

#define EVENT_QUEUES 256u /* power of two */

struct event_queue {
    void *stream;
    const struct event_context *home;
    pthread_t thread; /* of a per-thread stream */
    struct event_pair *head;
    struct event_pair *tail;
    int asked; /* somebody asks about its head: only he may take it */
};

extern struct event_queue event_queues[EVENT_QUEUES];

/* Behind the others of its stream; returns the queue. */
struct event_queue *event_queue_put(struct event_pair *p);
struct event_pair *event_queue_pop(struct event_queue *q);
/* Another queue with something in it, each in turn; NULL if there is none. */
struct event_queue *event_queue_other(const struct event_queue *than);
/* Also in the arena's header, for reports. */
uint64_t event_queue_waiting(void);
/* In the child of a fork. */
void event_queue_forget_all(void);

#endif
