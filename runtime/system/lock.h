/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The locks of the runtime, fork, and the calls that must not be made with a lock held.
 *
 * The table in lock_table.h names them all, in the order in which a thread may take them. With
 * STINT_LOCK_CHECK (debug builds, the presets of the sanitizers, the runtime of the tests) a thread
 * that takes one out of order ends the program with a line that names both.
 *
 * Every lock is held over every fork, so that the child inherits whole tables and free locks; only
 * a signal handler that interrupted this thread inside must not wait for what it interrupted. The
 * child of its fork gets a new lock instead. The interrupted call may go on there and unlocks it
 * once more than it was locked, which is harmless for a new lock. One pair of fork handlers serves
 * all locks:
 *
 *     LOCK_OVER_FORK(LOCK_EVENTS, was_interrupted, forget_in_child)
 *
 * No call that may wait, allocate or run code of the program is made while a lock is held. Lines
 * for stderr wait until the thread holds no lock (system/log.c).
 */
#ifndef STINT_LOCK_H
#define STINT_LOCK_H

#include <stdint.h>

enum lock_id {
#define LOCK(name, protects) LOCK_##name,
#include "lock_table.h"
#undef LOCK
    LOCK_COUNT
};

/* A thread is inside a lock from before it takes it until after it has released it, or for longer:
 * a visit. Its signal handlers check this: they must not wait for what they interrupted. The count
 * is 1, or 2 where a visit takes the lock and for lock_enter in a handler that looked first. */
void lock_enter(enum lock_id id);
void lock_leave(enum lock_id id);
unsigned lock_inside(enum lock_id id);
/* In the child of a fork: the interrupted call is no longer inside. */
void lock_outside(enum lock_id id);

/* Enters and takes it; releases and leaves it. */
void lock_take(enum lock_id id);
void lock_release(enum lock_id id);
/* The lock alone, in a visit. lock_try: 0, or -1 if another thread has it. */
void lock_hold(enum lock_id id);
int lock_try(enum lock_id id);
void lock_drop(enum lock_id id);

/* Whether the calling thread holds a lock, takes one or releases one. */
int lock_any_held(void);
/* `call` is made once, by a thread that has released its last lock: at the latest by the caller,
 * which holds one. */
void lock_when_free(void (*call)(void));

/* Inside during calls into other code, with or without the lock. Cancellation is disabled: a
 * cancelled thread would leave unfinished what it began. Keeps errno. */
struct lock_visit {
    int error;
    int cancel;
};
struct lock_visit lock_visit_begin(enum lock_id id);
void lock_visit_end(enum lock_id id, struct lock_visit v);

/* A new lock, and this thread is outside: in the child of a fork, when nothing of the parent's call
 * is left. */
void lock_renew(enum lock_id id);

/* Processes made without fork handlers, by _Fork or the system call. From lock_fork_watch on the
 * word is 0 there (but not where the memory is shared, as by vfork), and the first look does what
 * the fork handler in the child would have done. */
extern uint32_t *lock_process_word; /* both are atomic */
void lock_fork_watch(void);
void lock_fork_unseen(void);
static inline void lock_look(void) {
    const uint32_t *word = __atomic_load_n(&lock_process_word, __ATOMIC_ACQUIRE);
    if (!__atomic_load_n(word, __ATOMIC_RELAXED)) {
        lock_fork_unseen();
    }
}

/* The calls of a lock's owner around fork. */
struct lock_fork {
    /* Before any lock is taken: whether this thread may have this one further out. NULL: whether it
     * is inside. */
    int (*interrupted)(void);
    /* In the child, while the locks are still held; held: this one was taken for the fork. It was
     * not if the thread is inside, and without fork handlers. */
    void (*in_child)(int held);
};
void lock_over_fork(enum lock_id id, const struct lock_fork *calls);

/* At file scope, once a lock. At load, not at first use: a fork under way on another thread would
 * miss it. */
#define LOCK_OVER_FORK(id, interrupted, in_child)                                                  \
    __attribute__((constructor)) static void watch_fork_##id(void) {                               \
        static const struct lock_fork calls = {interrupted, in_child};                             \
        lock_over_fork(id, &calls);                                                                \
    }

#endif
