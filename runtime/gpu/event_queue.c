/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues of pairs whose time is pending, and the pairs that are parked at their contexts.
 * Called by the event pool and by event_context.c, under the pool's lock. A pair is in one queue or
 * parked; both together are the GPU scopes in flight.
 */
#include "event_pair.h"

#include <stddef.h>
#include <string.h>

#include "arena/arena.h"
#include "base/hash.h"

#define PROBES 8u

struct event_queue event_queues[EVENT_QUEUES];

static uint64_t waiting;
static uint64_t parked;
static uint32_t queues_used; /* that are not empty */
static uint32_t turn;

static int queue_is_of(const struct event_queue *q, const struct event_pair *p) {
    return q->head && q->stream == p->stream && q->home == p->home &&
           (p->stream != GPU_STREAM_PER_THREAD || pthread_equal(q->thread, pthread_self()));
}

static struct event_queue *queue_find(const struct event_pair *p) {
    uint32_t at = (uint32_t)hash_number((uintptr_t)p->stream);
    struct event_queue *empty = NULL;
    for (uint32_t i = 0; i < PROBES; ++i) {
        struct event_queue *q = &event_queues[(at + i) & (EVENT_QUEUES - 1)];
        if (queue_is_of(q, p)) {
            return q;
        }
        if (!empty && !q->head) {
            empty = q;
        }
    }
    if (!empty) {
        struct event_queue *q = &event_queues[at & (EVENT_QUEUES - 1)];
        q->is_shared = 1;
        return q;
    }
    empty->stream = p->stream;
    empty->home = p->home;
    empty->thread = pthread_self();
    empty->is_shared = 0;
    return empty;
}

/* Most pairs are put into the queue of the pair before. */
static struct event_queue *queue_get(const struct event_pair *p) {
    if (!p->home->recent || !queue_is_of(p->home->recent, p)) {
        p->home->recent = queue_find(p);
    }
    return p->home->recent;
}

/* For reports, and for readers of the run file. */
static void queue_publish_count(void) {
    if (arena.base) {
        STINT_IMPL_STORE(&arena_header()->gpu_in_flight, waiting + parked);
    }
}

static struct event_queue *queue_append(struct event_pair *p) {
    struct event_queue *q = queue_get(p);
    p->next = NULL;
    if (q->head) {
        q->tail->next = p;
    } else {
        q->head = p;
        ++queues_used;
    }
    q->tail = p;
    ++waiting;
    queue_publish_count();
    return q;
}

struct event_queue *event_queue_put(struct event_pair *p) {
    p->home->may_be_gone = 0;
    event_queue_put_back(p->home); /* they are older */
    return queue_append(p);
}

struct event_pair *event_queue_pop(struct event_queue *q) {
    struct event_pair *p = q->head;
    q->head = p->next;
    if (!q->head) {
        --queues_used;
    }
    --waiting;
    queue_publish_count();
    return p;
}

int event_queue_park(struct event_queue *q) {
    struct event_context *home = q->head->home;
    home->may_be_gone = 1;
    if (!q->is_shared) {
        return 0;
    }
    struct event_pair *others = NULL, **next_other = &others;
    struct event_pair **next_parked = &home->parked;
    while (*next_parked) {
        next_parked = &(*next_parked)->next;
    }
    for (struct event_pair *p = q->head; p; p = p->next) {
        if (p->home == home) {
            *next_parked = p;
            next_parked = &p->next;
            --waiting;
            ++parked;
        } else {
            *next_other = q->tail = p;
            next_other = &p->next;
        }
    }
    *next_parked = *next_other = NULL;
    q->head = others;
    if (!others) {
        --queues_used;
    }
    return 1;
}

struct event_pair *event_queue_take_parked(struct event_context *home) {
    struct event_pair *p = home->parked;
    if (p) {
        home->parked = p->next;
        --parked;
        queue_publish_count();
    }
    return p;
}

void event_queue_put_back(struct event_context *home) {
    struct event_pair *p;
    while ((p = event_queue_take_parked(home))) {
        queue_append(p);
    }
}

/* Most programs have one queue in use while its work runs: the others are not looked at then. */
struct event_queue *event_queue_other(const struct event_queue *than) {
    uint32_t others = queues_used;
    if (than->head) {
        --others;
    }
    for (uint32_t i = 0; i < EVENT_QUEUES && others; ++i) {
        struct event_queue *q = &event_queues[turn++ & (EVENT_QUEUES - 1)];
        if (q != than && q->head) {
            return q;
        }
    }
    return NULL;
}

int event_queue_any_asked(void) {
    for (uint32_t i = 0; i < EVENT_QUEUES; ++i) {
        if (event_queues[i].head && event_queues[i].asked) {
            return 1;
        }
    }
    return 0;
}

uint64_t event_queue_waiting(void) {
    return waiting;
}

void event_queue_forget_all(void) {
    memset(event_queues, 0, sizeof event_queues);
    queues_used = 0;
    waiting = parked = 0;
    struct event_context *home;
    for (uint32_t i = 0; (home = event_context_at(i)); ++i) {
        home->parked = NULL;
    }
}
