/* SPDX-License-Identifier: Apache-2.0 */
#include "registry.h"

#include <pthread.h>
#include <stddef.h>

#include "stint/detail/impl_layout.h"
#include "system/lock.h"

static uint32_t gate = 1; /* 0 is what an untouched site carries */
static uint32_t arena_gate = 1;
static struct registry_thread *threads;
static const struct registry_hooks *hooks; /* written once, by a constructor */

static int inherited; /* there is one thread then */

static __thread char reading __attribute__((tls_model("initial-exec")));
static __thread char cancel_state __attribute__((tls_model("initial-exec")));

void registry_set_hooks(const struct registry_hooks *h) {
    hooks = h;
}

void registry_thread_ends(const struct arena_thread *record) {
    if (hooks && hooks->thread_ends) {
        hooks->thread_ends(record);
    }
}

/* Cancellation is disabled: a thread cancelled while it reads a file would never release the
 * lock. */
void registry_lock(void) {
    int state;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    lock_take(LOCK_REGISTRY);
    cancel_state = (char)state;
    if (hooks && hooks->prepare) {
        hooks->prepare();
    }
}

void registry_unlock(void) {
    int state = cancel_state;
    lock_release(LOCK_REGISTRY);
    registry_settle();
    pthread_setcancelstate(state, NULL);
}

int registry_held(void) {
    return lock_inside(LOCK_REGISTRY) != 0;
}

void registry_read_begin(void) {
    reading = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

void registry_read_end(void) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    reading = 0;
    registry_settle();
}

int registry_reading(void) {
    return reading;
}

void registry_inherit(void) {
    inherited = 1;
}

int registry_inherited(void) {
    return inherited;
}

void registry_settle(void) {
    if (inherited && !registry_held() && !reading) {
        if (hooks && hooks->forget_parent) {
            hooks->forget_parent();
        }
    }
}

uint32_t registry_gate(void) {
    lock_look();
    return __atomic_load_n(&gate, __ATOMIC_SEQ_CST);
}

/* A thread that is shut reads the gate when it opens again (thread.c). */
static void thread_give_gate(struct registry_thread *t, uint32_t next) {
    uint32_t have = __atomic_load_n(t->gate, __ATOMIC_SEQ_CST);
    while (
        have != STINT_IMPL_SHUT &&
        !__atomic_compare_exchange_n(t->gate, &have, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

void registry_advance(void) {
    uint32_t next = gate + 1;
    if (next == STINT_IMPL_GATES) {
        next = 1;
    }
    __atomic_store_n(&gate, next, __ATOMIC_SEQ_CST);
    for (struct registry_thread *t = threads; t; t = t->next) {
        thread_give_gate(t, next);
    }
}

void registry_arena_is_new(void) {
    registry_advance();
    __atomic_store_n(&arena_gate, gate, __ATOMIC_RELAXED);
}

uint32_t registry_arena_gate(void) {
    return __atomic_load_n(&arena_gate, __ATOMIC_RELAXED);
}

void registry_join(struct registry_thread *t) {
    t->next = threads;
    threads = t;
}

void registry_forget(void) {
    threads = NULL;
    inherited = 0;
    registry_advance();
}
