/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs of GPU events from the first event of a GPU timer (stream_timer.c) to the time that is
 * added up in the arena.
 *
 * Implementation notes
 * - The lock covers lists and sums, never a call of the driver, which may wait or call a tool. A
 * queue whose oldest pair is being queried is marked, and other threads leave it alone.
 * - At exit the driver may be unloaded before this library. atexit handlers run in reverse order,
 * so one that is registered after the first success runs before the driver's own; it closes the
 * pool.
 * - A GPU after a fork is undefined: the child of a process that used one does not use it; the
 * child of a process that did not may.
 */
#include "event_pool.h"

#include <sched.h>
#include <stdlib.h>

#include "arena/arena.h"
#include "event_lane.h"
#include "event_pair.h"
#include "event_sums.h"
#include "system/config.h"
#include "system/lock.h"

enum pool_state { POOL_NEW, POOL_OPEN, POOL_NO_GPU, POOL_FAILED, POOL_CLOSED };

static enum pool_state pool_state;
/* The back ends that have failed for good. Added under the lock; the count: release, acquire. */
static const struct gpu_ops *failed[GPU_BACKENDS_MAX];
static unsigned failed_count;
static uint64_t busy; /* pairs started or waiting; under the lock */
static int exit_registered;
int event_pool_no_gpu;

/* The calling thread is in the pool, or a signal handler on it interrupted the holder of another
 * lock: neither the handler nor a tool that the driver calls may wait for that lock. */
static int pool_is_inside(void) {
    return lock_inside(LOCK_EVENTS) || lock_any_held();
}

static enum pool_state pool_get_state(void) {
    return __atomic_load_n(&pool_state, __ATOMIC_ACQUIRE);
}

static void pool_set_state(enum pool_state to) {
    __atomic_store_n(&pool_state, to, __ATOMIC_RELEASE);
}

static void pool_forget_in_child(int held) {
    (void)held;
    busy = 0;
    event_queue_forget_all();
    event_lane_forget_all();
    if (event_context_any()) {
        pool_set_state(POOL_CLOSED);
    }
    /* The lists are empty: a forking handler may begin timers of its own. */
    lock_outside(LOCK_EVENTS);
}

LOCK_OVER_FORK(LOCK_EVENTS, NULL, pool_forget_in_child)

/* ---- Under the lock. */

static void pool_retire_locked(struct event_pair *p, int good) {
    event_pair_put(p, good);
    --busy;
}

static int pool_has_failed(const struct gpu_ops *gpu) {
    for (unsigned i = 0; i < __atomic_load_n(&failed_count, __ATOMIC_ACQUIRE); ++i) {
        if (failed[i] == gpu) {
            return 1;
        }
    }
    return 0;
}

/* Whether a pair is in the destroyed context `home`; NULL: whether its back end has failed. */
static int pool_is_lost(const struct event_pair *p, const struct event_context *home) {
    if (home) {
        return p->home == home;
    }
    return pool_has_failed(p->context.gpu);
}

/* Loses the pairs that wait in a destroyed context, or in all contexts of failed back ends (NULL).
 * A queue that another thread queries is left out: that thread loses its pairs itself. */
static void pool_drop_waiting_locked(const struct event_context *home) {
    for (uint32_t i = 0; i < EVENT_QUEUES; ++i) {
        struct event_queue *q = &event_queues[i];
        while (q->head && !q->asked && pool_is_lost(q->head, home)) {
            pool_retire_locked(event_queue_pop(q), 0);
            arena_lose(home ? STINT_STATUS_GPU_CONTEXT : STINT_STATUS_GPU_FAILED, 1);
        }
    }
}

static void pool_lose_doubtful_locked(struct event_pair *p) {
    pool_retire_locked(p, 0);
    arena_lose(STINT_STATUS_GPU_CONTEXT, 1);
}

/* Loses the pairs that wait in contexts that may not exist any more. */
static void pool_drop_doubtful_locked(void) {
    struct event_context *home;
    struct event_pair *p;
    for (uint32_t i = 0; (home = event_context_at(i)); ++i) {
        while ((p = event_queue_take_parked(home))) {
            pool_lose_doubtful_locked(p);
        }
    }
    for (uint32_t i = 0; i < EVENT_QUEUES; ++i) {
        struct event_queue *q = &event_queues[i];
        while (q->head && !q->asked && q->head->home->may_be_gone) {
            pool_lose_doubtful_locked(event_queue_pop(q));
        }
    }
}

/* Their contexts may be known to exist now. */
static void pool_put_back_parked_locked(void) {
    struct event_context *home;
    for (uint32_t i = 0; (home = event_context_at(i)); ++i) {
        event_queue_put_back(home);
    }
}

/* A queue that was being queried when its back end failed, and a pair that was recorded then. */
static void pool_drop_late_locked(void) {
    if (failed_count) {
        pool_drop_waiting_locked(NULL);
    }
}

/* Whether a usable back end has not failed. */
static int pool_has_another(void) {
    const struct gpu_ops *gpu;
    for (unsigned i = 0; (gpu = gpu_known_at(i)); ++i) {
        if (!pool_has_failed(gpu)) {
            return 1;
        }
    }
    return 0;
}

/* Whether no later call of that back end can succeed after this error. The pool is closed with the
 * last one. */
static int pool_give_up_locked(const struct gpu_ops *gpu, int code) {
    if (!gpu_is_fatal(gpu, code)) {
        return 0;
    }
    if (!pool_has_failed(gpu) && failed_count < GPU_BACKENDS_MAX) {
        failed[failed_count] = gpu;
        __atomic_store_n(&failed_count, failed_count + 1, __ATOMIC_RELEASE);
    }
    if (!pool_has_another()) {
        pool_set_state(code == GPU_DEINITIALIZED ? POOL_CLOSED : POOL_FAILED);
    }
    pool_put_back_parked_locked();
    pool_drop_waiting_locked(NULL);
    return 1;
}

/* The pair's own events are never used again. */
static void pool_fail_locked(struct event_pair *p, int code) {
    struct event_context *home = NULL;
    if (!event_pair_is_stale(p)) {
        home = p->home;
    }
    const struct gpu_ops *gpu = p->context.gpu;
    pool_retire_locked(p, 0);
    if (!pool_give_up_locked(gpu, code) && home &&
        (code == GPU_INVALID_CONTEXT || code == GPU_CONTEXT_IS_DESTROYED)) {
        pool_drop_waiting_locked(home);
        event_context_forget(home);
    }
}

/* ---- Without the lock. */

static void pool_retire(struct event_pair *p) {
    lock_hold(LOCK_EVENTS);
    pool_retire_locked(p, 1);
    lock_drop(LOCK_EVENTS);
}

/* Makes a pair free whose time is not asked for, and releases what its events hold. In the child of
 * a fork and at the end of the program no call is made: they keep it. */
static void pool_cancel(struct event_pair *p) {
    if (pool_get_state() == POOL_OPEN) {
        event_pair_clear(p);
    }
    pool_retire(p);
}

static void pool_fail(struct event_pair *p, int code) {
    lock_hold(LOCK_EVENTS);
    pool_fail_locked(p, code);
    lock_drop(LOCK_EVENTS);
}

static void pool_close(void) {
    event_pool_collect();
    if (!pool_is_inside()) {
        lock_hold(LOCK_EVENTS);
        pool_drop_doubtful_locked();
        lock_drop(LOCK_EVENTS);
    }
    pool_set_state(POOL_CLOSED);
}

static int pool_can_measure(const struct gpu_ops *gpu) {
    return !gpu->reason && gpu->event_new;
}

/* Looks for the GPU of streams; leaves that to a later call if this may be a signal handler.
 * Whether it can be used. */
static int pool_open(void) {
    enum pool_state found = POOL_NEW;
    if (!gpu_may_seek()) {
        return 0;
    }
    int usable = pool_can_measure(gpu_ops());
    enum pool_state to = usable ? POOL_OPEN : POOL_NO_GPU;
    __atomic_compare_exchange_n(&pool_state, &found, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    __atomic_store_n(&event_pool_no_gpu, !usable, __ATOMIC_RELAXED);
    return usable && pool_get_state() == POOL_OPEN;
}

/* A queue exists only where its library is loaded, so it is looked for on any thread. A failed GPU
 * of streams, or none, says nothing about queues. */
static int pool_open_queues(const struct gpu_ops *gpu) {
    enum pool_state found = pool_get_state();
    if (!pool_can_measure(gpu) || pool_has_failed(gpu)) {
        return 0;
    }
    while (found != POOL_OPEN && found != POOL_CLOSED &&
           !__atomic_compare_exchange_n(&pool_state, &found, POOL_OPEN, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
    }
    return pool_get_state() == POOL_OPEN;
}

void event_pool_look_now(uint64_t now) {
    enum pool_state none = POOL_NO_GPU;
    if (pool_is_inside()) {
        return;
    }
    struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
    if (gpu_look_again(now)) {
        __atomic_compare_exchange_n(&pool_state, &none, POOL_NEW, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE);
        __atomic_store_n(&event_pool_no_gpu, 0, __ATOMIC_RELAXED);
    }
    lock_visit_end(LOCK_EVENTS, v);
}

/* NULL: too many are in flight, or see event_pair_get. */
static struct event_pair *pool_take_pair_locked(const struct gpu_context *c) {
    struct event_pair *p = NULL;
    if (busy >= config.gpu_in_flight) {
        pool_drop_doubtful_locked();
    }
    if (busy < config.gpu_in_flight) {
        p = event_pair_get(c);
    }
    if (p) {
        ++busy;
    }
    return p;
}

/* Makes the device's record; if two threads do at once, the second changes nothing. If another
 * context has taken the pair's place by then, the answers are not about that one. */
static void pool_describe_device(const struct gpu_context *c, const struct event_pair *p) {
    struct gpu_device d = {0};
    int known = gpu_device(c->gpu, c->device, &d) == GPU_OK;
    int primary = gpu_context_is_primary(c->gpu, c);
    lock_hold(LOCK_EVENTS);
    struct event_context *home = p->home;
    if (!event_pair_is_stale(p) && !home->described) {
        if (known) {
            home->device = event_sums_device(c->device, c->gpu->words, &d);
        }
        __atomic_store_n(&home->is_primary, primary, __ATOMIC_RELAXED);
        home->described = 1;
    }
    lock_drop(LOCK_EVENTS);
}

static struct event_pair *pool_get_pair(const struct gpu_context *c) {
    lock_hold(LOCK_EVENTS);
    struct event_pair *p = pool_take_pair_locked(c);
    int is_new = p && !p->home->described;
    lock_drop(LOCK_EVENTS);
    if (is_new) {
        pool_describe_device(c, p);
    }
    return p;
}

/* The stream's context and whether it can be recorded, in that context. */
static int pool_ask_stream(struct event_visit *v, const struct gpu_stream *stream,
                           struct gpu_context *c, int *capturing) {
    *capturing = 0;
    int code = gpu_get_context(stream, c);
    if (!code) {
        code = event_visit_enter(v, c);
    }
    if (!code) {
        code = gpu_capturing(stream->gpu, stream->handle, capturing);
    }
    return code;
}

static void pool_give_up(const struct gpu_ops *gpu, int code) {
    lock_hold(LOCK_EVENTS);
    pool_give_up_locked(gpu, code);
    lock_drop(LOCK_EVENTS);
}

static struct event_pair *pool_record_first(struct event_visit *v, const struct gpu_stream *stream,
                                            enum stint_status *why) {
    struct gpu_context c = {0};
    int capturing;
    if (pool_has_failed(stream->gpu)) {
        *why = STINT_STATUS_GPU_FAILED;
        return NULL;
    }
    int code = pool_ask_stream(v, stream, &c, &capturing);
    if (code || capturing) {
        *why = capturing ? STINT_STATUS_GPU_CAPTURED : event_status_of_code(code);
        pool_give_up(stream->gpu, code);
        return NULL;
    }
    struct event_pair *p = pool_get_pair(&c);
    if (!p) {
        *why = STINT_STATUS_GPU_DROPPED;
        return NULL;
    }
    p->stream = stream->handle;
    event_lane_note_start(p);
    code = event_pair_record(v, p, &p->from);
    if (code) {
        pool_fail(p, code);
        *why = event_status_of_code(code);
        return NULL;
    }
    return p;
}

/* Once; a load first, as an exchange costs more than that at every scope. */
static void pool_watch_exit(void) {
    if (!__atomic_load_n(&exit_registered, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&exit_registered, 1, __ATOMIC_RELAXED)) {
        atexit(pool_close);
    }
}

static struct event_pair *pool_start_pair(const struct gpu_stream *stream, enum stint_status *why) {
    struct event_visit v = {0};
    struct event_pair *p = pool_record_first(&v, stream, why);
    event_visit_end(&v);
    if (!p) {
        return NULL;
    }
    pool_watch_exit();
    if (config.trace.bytes) {
        lock_hold(LOCK_EVENTS);
        event_lane_open(p);
        lock_drop(LOCK_EVENTS);
    }
    return p;
}

static struct event_pair *pool_start_of_stream(void *handle, enum stint_status *why) {
    enum pool_state now = pool_get_state();
    const struct gpu_ops *known = gpu_known();
    *why = now == POOL_FAILED ? STINT_STATUS_GPU_FAILED : STINT_STATUS_GPU_NO_DEVICE;
    if (now != POOL_OPEN && now != POOL_NEW) {
        return NULL;
    }
    int usable = known && now == POOL_OPEN && pool_can_measure(known);
    if (!usable && !pool_open()) {
        return NULL;
    }
    const struct gpu_stream stream = gpu_stream_of(handle);
    return pool_start_pair(&stream, why);
}

static struct event_pair *pool_start_of_queue(void *handle, enum stint_status *why) {
    *why = STINT_STATUS_GPU_NO_DEVICE;
    if (pool_get_state() == POOL_CLOSED) {
        return NULL;
    }
    const struct gpu_stream stream = gpu_stream_of_queue(handle);
    if (pool_has_failed(stream.gpu)) {
        *why = STINT_STATUS_GPU_FAILED;
    }
    if (!pool_open_queues(stream.gpu)) {
        return NULL;
    }
    return pool_start_pair(&stream, why);
}

struct event_pair *event_pool_start(void *stream, enum event_stream_kind kind,
                                    enum stint_status *why) {
    *why = STINT_STATUS_GPU_DROPPED;
    if (pool_is_inside()) {
        return NULL;
    }
    struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
    struct event_pair *p = NULL;
    if (kind == EVENT_OF_QUEUE) {
        p = pool_start_of_queue(stream, why);
    } else {
        p = pool_start_of_stream(stream, why);
    }
    lock_visit_end(LOCK_EVENTS, v);
    return p;
}

void event_pool_cancel(struct event_pair *p) {
    if (pool_is_inside()) {
        return; /* its place is lost */
    }
    struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
    pool_cancel(p);
    lock_visit_end(LOCK_EVENTS, v);
}

/* Returns the code of a pair's query, or that its context is gone: a context that has lost its
 * place during the query has no known device any more, so the pair's time is lost. */
static int pool_judge_locked(const struct event_pair *p, int code) {
    if (event_pair_is_stale(p)) {
        return GPU_CONTEXT_IS_DESTROYED;
    }
    return code;
}

/* Takes out the oldest pair of the queue, with its time or that error. */
static void pool_take_out_locked(struct event_queue *q, int code, uint64_t ns) {
    struct event_pair *p = event_queue_pop(q);
    if (code == GPU_OK) {
        event_sums_add(p->sums, p->home->device, ns);
        event_lane_add(p, ns);
        pool_retire_locked(p, 1);
    } else {
        enum stint_status lost = STINT_STATUS_GPU_FAILED;
        if (code == GPU_CONTEXT_IS_DESTROYED) {
            lost = STINT_STATUS_GPU_CONTEXT;
        }
        arena_lose(lost, 1);
        pool_fail_locked(p, code);
    }
}

/* Queries the oldest pair of the queue, and if that one is finished the one after it, unless `most`
 * is 1 or it is the one that was just recorded; takes out those with a time or an error. Returns
 * whether there was one. With the lock, which is released for the queries, once for both. */
static int pool_poll_queue(struct event_visit *v, struct event_queue *q, int wait, unsigned most,
                           const struct event_pair *recorded) {
    uint64_t ns = 0, second_ns = 0;
    if (q->asked || !q->head || pool_get_state() != POOL_OPEN) {
        return 0;
    }
    const struct event_pair *p = q->head;
    const struct event_pair *second = NULL;
    if (most > 1 && p->next && p->next != recorded && !event_pair_is_stale(p->next)) {
        second = p->next;
    }
    int code = GPU_NOT_READY;
    int second_code = GPU_NOT_READY;
    if (!event_pair_is_stale(p)) {
        q->asked = 1; /* both remain in the queue */
        lock_drop(LOCK_EVENTS);
        code = event_pair_query(v, p, wait, &ns);
        if (!code && second) {
            second_code = event_pair_query(v, second, wait, &second_ns);
        }
        lock_hold(LOCK_EVENTS);
        q->asked = 0;
    }
    code = pool_judge_locked(p, code);
    if (code == GPU_CONTEXT_UNKNOWN && !pool_has_failed(p->context.gpu)) {
        return event_queue_park(q);
    }
    if (code != GPU_NOT_READY) {
        pool_take_out_locked(q, code, ns);
    }
    if (code == GPU_OK && second) {
        second_code = pool_judge_locked(second, second_code);
    }
    if (second_code != GPU_NOT_READY && second_code != GPU_CONTEXT_UNKNOWN) {
        pool_take_out_locked(q, second_code, second_ns);
    }
    pool_drop_late_locked();
    return code != GPU_NOT_READY;
}

/* Two queries at most: the stream's oldest pairs, or another stream's oldest if the first is not
 * finished, so that pairs of a stream that is no longer used are collected, too. */
static void pool_poll_some(struct event_visit *v, struct event_queue *own,
                           const struct event_pair *recorded) {
    if (!pool_poll_queue(v, own, 0, 2, recorded)) {
        struct event_queue *other = event_queue_other(own);
        if (other) {
            pool_poll_queue(v, other, 0, 1, NULL);
        }
    }
}

static int pool_stop_pair(struct event_visit *v, struct event_pair *p, int wait,
                          enum stint_status *why) {
    int capturing = 0;
    int code = event_visit_return(v, p, EVENT_AT_STOP);
    if (!code) {
        code = gpu_capturing(p->context.gpu, p->stream, &capturing);
    }
    if (!code && capturing) {
        pool_retire(p);
        *why = STINT_STATUS_GPU_CAPTURED;
        return -1;
    }
    if (!code) {
        code = event_pair_record(v, p, &p->to);
    }
    if (code) {
        pool_fail(p, code);
        *why = event_status_of_code(code);
        return -1;
    }
    if (wait) {
        p->context.gpu->event_wait(p->to); /* the query returns an error again */
    }
    lock_hold(LOCK_EVENTS);
    event_lane_close(p);
    struct event_queue *q = event_queue_put(p);
    pool_drop_late_locked();
    pool_poll_some(v, q, wait ? NULL : p);
    lock_drop(LOCK_EVENTS);
    return 0;
}

int event_pool_stop(struct event_pair *p, uint32_t sums, uint32_t node, int wait,
                    enum stint_status *why) {
    *why = STINT_STATUS_GPU_FAILED;
    if (pool_is_inside()) {
        return -1; /* its place is lost */
    }
    struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
    int result = -1;
    int usable = pool_get_state() == POOL_OPEN && sums;
    p->sums = sums;
    p->node = node;
    if (usable && !event_pair_is_stale(p)) {
        struct event_visit calls = {0};
        result = pool_stop_pair(&calls, p, wait, why);
        event_visit_end(&calls);
    } else {
        if (usable) {
            *why = STINT_STATUS_GPU_CONTEXT;
        }
        pool_cancel(p);
    }
    lock_visit_end(LOCK_EVENTS, v);
    return result;
}

/* Takes out all pairs that are finished; with `wait` waits for the others. Returns whether there
 * was any. */
static int pool_poll_all(struct event_visit *v, int wait) {
    int some = 0;
    for (uint32_t i = 0; i < EVENT_QUEUES && event_queue_waiting(); ++i) {
        while (pool_poll_queue(v, &event_queues[i], wait, 1, NULL)) {
            some = 1;
        }
    }
    return some;
}

/* Takes out all that are finished; with `wait`, until there are none that this thread can query. */
static void pool_drain_locked(struct event_visit *v, int wait) {
    int more = 1;
    pool_put_back_parked_locked();
    while (more && event_queue_waiting() && pool_get_state() == POOL_OPEN) {
        int some = pool_poll_all(v, wait);
        more = wait && (some || event_queue_any_asked());
        if (more && !some) {
            lock_drop(LOCK_EVENTS);
            sched_yield();
            lock_hold(LOCK_EVENTS);
        }
    }
}

static void pool_drain(int wait) {
    if (pool_get_state() == POOL_OPEN && !pool_is_inside()) {
        struct lock_visit v = lock_visit_begin(LOCK_EVENTS);
        struct event_visit calls = {0};
        lock_hold(LOCK_EVENTS);
        pool_drain_locked(&calls, wait);
        lock_drop(LOCK_EVENTS);
        event_visit_end(&calls);
        lock_visit_end(LOCK_EVENTS, v);
    }
}

void event_pool_collect(void) {
    pool_drain(0);
}

int event_pool_flush(void) {
    pool_drain(1);
    return pool_get_state() == POOL_FAILED ? -1 : 0;
}
