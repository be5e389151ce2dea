/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only file with mutexes and fork handlers (tests/lock_check.py).
 *
 * Implementation notes
 * - What a thread has is in one thread-local structure that its signal handlers read, too. They
 *   leave it as they found it, so plain loads and stores of the owner are enough. A lock counts as
 *   held from before it is taken until after it has been released.
 */
#include "lock.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#ifdef STINT_LOCK_CHECK
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#endif

#include "base/scratch.h"

static pthread_mutex_t mutexes[LOCK_COUNT] = {
#define LOCK(name, protects) PTHREAD_MUTEX_INITIALIZER,
#include "lock_table.h"
#undef LOCK
};

static const struct lock_fork *over_fork[LOCK_COUNT];
static uint32_t unwatched = 1;
uint32_t *lock_process_word = &unwatched;
static void (*when_free)(void); /* any thread that holds a lock; atomic */

/* Owner only. */
static __thread struct {
    uint8_t inside[LOCK_COUNT];
    uint16_t held;     /* a bit per lock */
    uint16_t for_fork; /* taken by the fork under way; likewise */
} here __attribute__((tls_model("initial-exec")));

static void fence_signals(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* ---- The order. */

#ifdef STINT_LOCK_CHECK
static const char *const lock_names[LOCK_COUNT] = {
#define LOCK(name, protects) #name,
#include "lock_table.h"
#undef LOCK
};

static void check_order(enum lock_id id) {
    char line[200];
    unsigned later = (unsigned)here.held >> id;
    if (later) {
        unsigned other = id + (unsigned)__builtin_ctz(later);
        int n = snprintf(line, sizeof line,
                         "stint: lock order: %s is taken by a thread that holds %s "
                         "(runtime/system/lock_table.h)\n",
                         lock_names[id], lock_names[other]);
        ssize_t written = write(STDERR_FILENO, line, (size_t)n);
        (void)written;
        abort();
    }
}
#else
static void check_order(enum lock_id id) {
    (void)id;
}
#endif

/* ---- Inside. */

void lock_enter(enum lock_id id) {
    ++here.inside[id];
    fence_signals();
}

void lock_leave(enum lock_id id) {
    fence_signals();
    if (here.inside[id]) { /* 0: the child of a fork that forgot it */
        --here.inside[id];
    }
}

unsigned lock_inside(enum lock_id id) {
    return here.inside[id];
}

/* ---- The lock itself. */

static void set_held(enum lock_id id) {
    here.held = (uint16_t)(here.held | 1u << id);
    fence_signals();
}

static void clear_held(enum lock_id id) {
    here.held = (uint16_t)(here.held & ~(1u << id));
}

static void mutex_lock(enum lock_id id) {
    set_held(id);
    pthread_mutex_lock(&mutexes[id]);
}

static void mutex_unlock(enum lock_id id) {
    pthread_mutex_unlock(&mutexes[id]);
    fence_signals();
    clear_held(id);
}

static void call_if_free(void) {
    if (!here.held && __atomic_load_n(&when_free, __ATOMIC_RELAXED)) {
        void (*call)(void) = __atomic_exchange_n(&when_free, NULL, __ATOMIC_ACQ_REL);
        if (call) {
            call();
        }
    }
}

void lock_hold(enum lock_id id) {
    check_order(id);
    mutex_lock(id);
}

int lock_try(enum lock_id id) {
    uint16_t before = here.held;
    set_held(id);
    if (pthread_mutex_trylock(&mutexes[id])) {
        here.held = before;
        return -1;
    }
    return 0;
}

void lock_drop(enum lock_id id) {
    mutex_unlock(id);
    call_if_free();
}

void lock_take(enum lock_id id) {
    lock_look();
    lock_enter(id);
    lock_hold(id);
}

/* Outside before the call: a handler's scopes need not be lost while it waits. */
void lock_release(enum lock_id id) {
    mutex_unlock(id);
    lock_leave(id);
    call_if_free();
}

int lock_any_held(void) {
    return here.held != 0;
}

void lock_when_free(void (*call)(void)) {
    __atomic_store_n(&when_free, call, __ATOMIC_RELEASE);
}

struct lock_visit lock_visit_begin(enum lock_id id) {
    struct lock_visit v = {.error = errno};
    lock_look();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &v.cancel);
    lock_enter(id);
    return v;
}

void lock_visit_end(enum lock_id id, struct lock_visit v) {
    lock_leave(id);
    pthread_setcancelstate(v.cancel, NULL);
    errno = v.error;
}

void lock_outside(enum lock_id id) {
    clear_held(id);
    here.inside[id] = 0;
}

void lock_renew(enum lock_id id) {
    pthread_mutex_init(&mutexes[id], NULL);
    lock_outside(id);
}

/* ---- fork. */

void lock_over_fork(enum lock_id id, const struct lock_fork *calls) {
    over_fork[id] = calls;
}

static int lock_is_interrupted(int id) {
    const struct lock_fork *calls = over_fork[id];
    if (calls && calls->interrupted) {
        return calls->interrupted();
    }
    return here.inside[id] != 0;
}

static int is_taken(int id) {
    return here.for_fork >> id & 1;
}

/* All are asked before the first is taken: what one of them is interrupted in may be told by
 * another one's mark. */
static void choose_for_fork(void) {
    unsigned take = 0;
    for (int id = 0; id < LOCK_COUNT; ++id) {
        if (!lock_is_interrupted(id)) {
            take |= 1u << id;
        }
    }
    here.for_fork = (uint16_t)take;
}

static void before_fork(void) {
    lock_look();
    choose_for_fork();
    for (int id = 0; id < LOCK_COUNT; ++id) {
        if (is_taken(id)) {
            lock_enter((enum lock_id)id);
            mutex_lock((enum lock_id)id);
        }
    }
}

static void give_back(int id) {
    mutex_unlock((enum lock_id)id);
    lock_leave((enum lock_id)id);
}

static void after_fork_parent(void) {
    for (int id = LOCK_COUNT - 1; id >= 0; --id) {
        if (is_taken(id)) {
            give_back(id);
        }
    }
    here.for_fork = 0;
    call_if_free();
}

/* `inside` of what is not taken is left to the interrupted call. */
static void after_fork_child(void) {
    __atomic_store_n(lock_process_word, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&when_free, NULL, __ATOMIC_RELAXED); /* the parent's */
    for (int id = 0; id < LOCK_COUNT; ++id) {
        if (over_fork[id] && over_fork[id]->in_child) {
            over_fork[id]->in_child(is_taken(id));
        }
    }
    for (int id = LOCK_COUNT - 1; id >= 0; --id) {
        if (is_taken(id)) {
            give_back(id);
        } else {
            pthread_mutex_init(&mutexes[id], NULL);
        }
    }
    here.for_fork = 0;
}

void lock_fork_watch(void) {
    if (lock_process_word == &unwatched) {
        uint32_t *word = pages_get_wiped(sizeof *word);
        if (word) {
            *word = 1;
            __atomic_store_n(&lock_process_word, word, __ATOMIC_RELEASE);
        }
    }
}

/* No lock counts as taken: other threads of the parent may have had it. */
void lock_fork_unseen(void) {
    choose_for_fork();
    here.for_fork = 0;
    after_fork_child();
}

/* Early in the module's own constructors: nothing of the library runs before. */
__attribute__((constructor(101))) static void watch_forks(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
