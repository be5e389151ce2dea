/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - The lock covers lists and sums, never a call of the driver: a tool may stand behind it, or wait
 *   itself. The queue that is being asked about is marked and left alone by the others.
 * - At exit the driver may be gone before us. atexit handlers run backwards, so one registered
 *   after the first success runs before the driver's own; after it the pool is closed.
 * - CUDA after a fork is undefined: the child of a process that used it does not, the child of one
 *   that did not may.
 */
#include "event_pool.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "arena/arena.h"
#include "base/config.h"
#include "base/lock.h"
#include "event_calls.h"
#include "event_lane.h"
#include "event_queue.h"
#include "event_sums.h"
#include "gpu.h"

enum pool_state { POOL_NEW, POOL_OPEN, POOL_NO_GPU, POOL_FAILED, POOL_CLOSED };

static enum pool_state pool_state;
static uint64_t busy; /* pairs started or waiting */
static int exit_registered;
int event_pool_no_gpu;

/* The calling thread is in here, or in another lock that its signal handler interrupted: neither a
 * handler nor a tool behind the driver may wait for it. */
static int is_inside(void) {
    return lock_inside(LOCK_EVENTS) || lock_any_held();
}

static enum pool_state state(void) {
    return __atomic_load_n(&pool_state, __ATOMIC_ACQUIRE);
}

static void set_state(enum pool_state to) {
    __atomic_store_n(&pool_state, to, __ATOMIC_RELEASE);
}

static void forget_in_child(int held) {
    (void)held;
    busy = 0;
    event_queue_forget_all();
    event_lane_forget_all();
    if (event_context_any()) {
        set_state(POOL_CLOSED);
    }
    lock_outside(
        LOCK_EVENTS); /* the lists are empty: a forking handler may begin timers of its own */
}

LOCK_OVER_FORK(LOCK_EVENTS, NULL, forget_in_child)

/* ---- Under the lock. */

static void retire(struct event_pair *p, int good) {
    event_pair_put(p, good);
    __atomic_fetch_sub(&busy, 1, __ATOMIC_RELAXED);
}

/* Loses what waits in a context that is gone, or in all (NULL); what somebody asks about is his. */
static void drop_waiting(const struct event_context *home) {
    for (uint32_t i = 0; i < EVENT_QUEUES; ++i) {
        struct event_queue *q = &event_queues[i];
        while (q->head && !q->asked && (!home || q->head->home == home)) {
            retire(event_queue_pop(q), 0);
            arena_lose(STINT_STATUS_GPU_FAILED, 1);
        }
    }
}

/* After some errors nothing can be right any more. */
static int give_up(int code) {
    if (gpu_is_fatal(code)) {
        set_state(code == GPU_DEINITIALIZED ? POOL_CLOSED : POOL_FAILED);
        drop_waiting(NULL);
        return 1;
    }
    return 0;
}

/* The pair's own events are never used again. */
static void fail(struct event_pair *p, int code) {
    struct event_context *home = event_pair_is_stale(p) ? NULL : p->home;
    retire(p, 0);
    if (!give_up(code) && home &&
        (code == GPU_INVALID_CONTEXT || code == GPU_CONTEXT_IS_DESTROYED)) {
        drop_waiting(home);
        event_context_forget(home);
    }
}

/* ---- Without the lock. */

static void retire_now(struct event_pair *p, int good) {
    lock_hold(LOCK_EVENTS);
    retire(p, good);
    lock_drop(LOCK_EVENTS);
}

static void fail_now(struct event_pair *p, int code) {
    lock_hold(LOCK_EVENTS);
    fail(p, code);
    lock_drop(LOCK_EVENTS);
}

static void close_pool(void) {
    event_pool_collect();
    set_state(POOL_CLOSED);
}

/* Looks for the GPU; later, if this may be a signal handler. */
static enum pool_state open_pool(void) {
    enum pool_state found = POOL_NEW;
    if (!gpu_may_seek()) {
        return POOL_NEW;
    }
    const struct gpu_ops *gpu = gpu_ops();
    int usable = !gpu->reason && gpu->event_new;
    enum pool_state to = usable ? POOL_OPEN : POOL_NO_GPU;
    __atomic_compare_exchange_n(&pool_state, &found, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    __atomic_store_n(&event_pool_no_gpu, state() == POOL_NO_GPU, __ATOMIC_RELAXED);
    return state();
}

/* A place among those in flight. */
static int reserve(void) {
    uint64_t have = __atomic_load_n(&busy, __ATOMIC_RELAXED);
    while (have < config.gpu_in_flight) {
        if (__atomic_compare_exchange_n(&busy, &have, have + 1, 1, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return 0;
        }
    }
    return -1;
}

/* The device's record; if two threads look at once, the second changes nothing. */
static void describe(const struct gpu_ops *gpu, struct event_context *home) {
    struct gpu_device d = {0};
    int number = home->context.device;
    int known = gpu_device(gpu, number, &d) == GPU_OK;
    lock_hold(LOCK_EVENTS);
    if (known && !home->device) {
        home->device = event_sums_device(number, &d);
    }
    home->described = 1;
    lock_drop(LOCK_EVENTS);
}

static struct event_pair *get(const struct gpu_ops *gpu, const struct gpu_context *c) {
    struct event_pair *p = NULL;
    if (!reserve()) {
        lock_hold(LOCK_EVENTS);
        p = event_pair_get(c);
        int is_new = p && !p->home->described;
        lock_drop(LOCK_EVENTS);
        if (is_new) {
            describe(gpu, p->home);
        }
        if (!p) {
            __atomic_fetch_sub(&busy, 1, __ATOMIC_RELAXED);
        }
    }
    return p;
}

static struct event_pair *start(const struct gpu_ops *gpu, void *stream, enum stint_status *why) {
    struct gpu_context c = {0};
    int capturing = 0;
    int code = gpu->context(stream, &c);
    code = code ? code : gpu_capturing(gpu, stream, &capturing);
    if (code || capturing) {
        *why = capturing ? STINT_STATUS_GPU_CAPTURED : event_loss(code);
        lock_hold(LOCK_EVENTS);
        give_up(code);
        lock_drop(LOCK_EVENTS);
        return NULL;
    }
    struct event_pair *p = get(gpu, &c);
    if (!p) {
        *why = STINT_STATUS_GPU_DROPPED;
        return NULL;
    }
    p->stream = stream;
    code = event_record(gpu, p, &p->from);
    if (code) {
        fail_now(p, code);
        *why = event_loss(code);
        return NULL;
    }
    if (!__atomic_exchange_n(&exit_registered, 1, __ATOMIC_RELAXED)) {
        atexit(close_pool);
    }
    if (config.trace) {
        lock_hold(LOCK_EVENTS);
        event_lane_open(p);
        lock_drop(LOCK_EVENTS);
    }
    return p;
}

struct event_pair *event_pool_start(void *stream, enum stint_status *why) {
    enum pool_state now = state();
    *why = now == POOL_FAILED ? STINT_STATUS_GPU_FAILED : STINT_STATUS_GPU_NO_DEVICE;
    if (now != POOL_OPEN && now != POOL_NEW) {
        return NULL;
    }
    if (is_inside()) {
        *why = STINT_STATUS_GPU_DROPPED;
        return NULL;
    }
    struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
    now = now == POOL_NEW ? open_pool() : now;
    struct event_pair *p = now == POOL_OPEN ? start(gpu_ops(), stream, why) : NULL;
    lock_visit_end(LOCK_EVENTS, v);
    return p;
}

void event_pool_cancel(struct event_pair *p) {
    if (is_inside()) {
        return; /* its place is lost */
    }
    struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
    retire_now(p, 1);
    lock_visit_end(LOCK_EVENTS, v);
}

/* Under the lock, which is given up while asking about the head of the queue. Whether that is off
 * the queue. */
static int poll(const struct gpu_ops *gpu, struct event_queue *q, int wait) {
    uint64_t ns = 0;
    if (q->asked || !q->head || state() != POOL_OPEN) {
        return 0;
    }
    struct event_pair *p = q->head;
    int code = GPU_CONTEXT_IS_DESTROYED;
    if (!event_pair_is_stale(p)) {
        q->asked = 1;
        lock_drop(LOCK_EVENTS);
        code = event_ask(gpu, p, wait, &ns);
        lock_hold(LOCK_EVENTS);
        q->asked = 0;
    }
    if (code == GPU_NOT_READY) {
        return 0;
    }
    event_queue_pop(q);
    if (code == GPU_OK) {
        event_sums_add(p->sums, p->home->device, ns);
        event_lane_add(p, ns);
        retire(p, 1);
    } else {
        arena_lose(STINT_STATUS_GPU_FAILED, 1);
        fail(p, code);
    }
    return 1;
}

/* Two questions at most: the stream's oldest pair, then its next, or another stream's if this one
 * is still at work, so that what finished on a stream that is used no more is picked up too. */
static void poll_some(const struct gpu_ops *gpu, struct event_queue *own) {
    struct event_queue *then = poll(gpu, own, 0) ? own : event_queue_other(own);
    if (then) {
        poll(gpu, then, 0);
    }
}

static int stop(const struct gpu_ops *gpu, struct event_pair *p, int wait, enum stint_status *why) {
    int capturing = 0;
    int code = gpu_capturing(gpu, p->stream, &capturing);
    if (!code && capturing) {
        retire_now(p, 1);
        *why = STINT_STATUS_GPU_CAPTURED;
        return -1;
    }
    code = code ? code : event_record(gpu, p, &p->to);
    if (code) {
        fail_now(p, code);
        *why = event_loss(code);
        return -1;
    }
    if (wait) {
        gpu->event_wait(p->to); /* an error shows when it is asked about */
    }
    lock_hold(LOCK_EVENTS);
    event_lane_close(p);
    struct event_queue *q = event_queue_put(p);
    poll_some(gpu, q);
    lock_drop(LOCK_EVENTS);
    return 0;
}

int event_pool_stop(struct event_pair *p, uint32_t sums, uint32_t node, int wait,
                    enum stint_status *why) {
    *why = STINT_STATUS_GPU_FAILED;
    if (is_inside()) {
        return -1; /* its place is lost */
    }
    struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
    int result = -1;
    p->sums = sums;
    p->node = node;
    if (state() == POOL_OPEN && sums && !event_pair_is_stale(p)) {
        result = stop(gpu_ops(), p, wait, why);
    } else {
        retire_now(p, 1);
    }
    lock_visit_end(LOCK_EVENTS, v);
    return result;
}

/* Everything that is done, or after waiting for it everything. Whether there was any. */
static int poll_all(int wait) {
    int some = 0;
    for (uint32_t i = 0; i < EVENT_QUEUES && event_queue_waiting(); ++i) {
        while (poll(gpu_ops(), &event_queues[i], wait)) {
            some = 1;
        }
    }
    return some;
}

void event_pool_collect(void) {
    if (state() == POOL_OPEN && !is_inside()) {
        struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
        lock_hold(LOCK_EVENTS);
        poll_all(0);
        lock_drop(LOCK_EVENTS);
        lock_visit_end(LOCK_EVENTS, v);
    }
}

int event_pool_flush(void) {
    if (state() == POOL_OPEN && !is_inside()) {
        struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
        lock_hold(LOCK_EVENTS);
        while (event_queue_waiting() && state() == POOL_OPEN) {
            if (!poll_all(1)) { /* others are asking about what is left */
                lock_drop(LOCK_EVENTS);
                sched_yield();
                lock_hold(LOCK_EVENTS);
            }
        }
        lock_drop(LOCK_EVENTS);
        lock_visit_end(LOCK_EVENTS, v);
    }
    return state() == POOL_FAILED ? -1 : 0;
}
