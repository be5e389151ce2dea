/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock and fork. It is held over every fork, so that the child inherits whole tables and a free
 * lock; only a signal handler that interrupted this thread inside must not wait for what it
 * interrupted. The child of its fork gets a new lock instead. The interrupted call may go on there
 * and unlocks it once too often, which does no harm.
 *
 *     static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
 *     static __thread struct lock_here here __attribute__((tls_model("initial-exec")));
 *
 *     LOCK_OVER_FORK(lock, here, here.inside, forget())
 *
 * Whoever stays inside for longer than he has the lock (a visit) takes it by itself meanwhile.
 */
#ifndef STINT_LOCK_H
#define STINT_LOCK_H

#include <errno.h>
#include <pthread.h>

/* The calling thread's; its signal handlers look at it, too. */
struct lock_here {
    int inside; /* it has the lock, or may have: set before it is taken, cleared after */
    int held_for_fork;
};

static inline void lock_enter(struct lock_here *here) {
    here->inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void lock_leave(struct lock_here *here) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    here->inside = 0;
}

static inline void lock_take(pthread_mutex_t *lock, struct lock_here *here) {
    lock_enter(here);
    pthread_mutex_lock(lock);
}

static inline void lock_release(pthread_mutex_t *lock, struct lock_here *here) {
    pthread_mutex_unlock(lock);
    lock_leave(here);
}

/* Inside over calls out, with the lock or without. A thread cancelled there would leave what it
 * began as it is for ever. Keeps errno. */
struct lock_visit {
    int error;
    int cancel;
};

static inline struct lock_visit lock_visit_begin(struct lock_here *here) {
    struct lock_visit v = {.error = errno};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &v.cancel);
    lock_enter(here);
    return v;
}

static inline void lock_visit_end(struct lock_here *here, struct lock_visit v) {
    lock_leave(here);
    pthread_setcancelstate(v.cancel, NULL);
    errno = v.error;
}

/* interrupted: this thread may have the lock further out. */
void lock_before_fork(pthread_mutex_t *lock, struct lock_here *here, int interrupted);
void lock_after_fork_parent(pthread_mutex_t *lock, struct lock_here *here);
/* Leaves `inside` to the interrupted call. */
void lock_after_fork_child(pthread_mutex_t *lock, struct lock_here *here);

/* At file scope, once. `interrupted` and `in_child` are expressions; the second is evaluated in the
 * child, still with the lock if here.held_for_fork. At load, not at first use: a fork under way on
 * another thread would miss the handlers. */
#define LOCK_OVER_FORK(lock, here, interrupted, in_child)                                          \
    static void before_fork(void) {                                                                \
        lock_before_fork(&(lock), &(here), interrupted);                                           \
    }                                                                                              \
    static void after_fork_parent(void) {                                                          \
        lock_after_fork_parent(&(lock), &(here));                                                  \
    }                                                                                              \
    static void after_fork_child(void) {                                                           \
        in_child;                                                                                  \
        lock_after_fork_child(&(lock), &(here));                                                   \
    }                                                                                              \
    __attribute__((constructor)) static void watch_fork(void) {                                    \
        pthread_atfork(before_fork, after_fork_parent, after_fork_child);                          \
    }

#endif
