/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry's lock and the gate. The gate is a number every site's word and every thread
 * carries; advancing it sends each of them through the slow path once, where the new filter, level,
 * switch or arena is looked up.
 *
 * The lock guards registering: threads, sites, sets, names, settings. It is never held over a
 * scope, a report, a line on stderr or a call into user code, and never taken on the hot path.
 */
#ifndef STINT_REGISTRY_H
#define STINT_REGISTRY_H

#include <stdint.h>

struct arena_thread;

/* Takes the lock and makes the process ready (the hook prepare); returns with it held. */
void registry_lock(void);
void registry_unlock(void);
/* Whether the calling thread is inside: a signal handler must not wait for what it interrupted. */
int registry_held(void);
/* The calling thread reads the arena without the lock, for longer: a report. */
void registry_read_begin(void);
void registry_read_end(void);
int registry_reading(void);

/* The child of a fork in a signal handler that interrupted the library on this thread: the call
 * ends on the parent's state, then the hook forget_parent forgets it. */
void registry_inherit(void);
int registry_inherited(void);
/* Where such a call may end. */
void registry_settle(void);

/* Work that higher layers do for the registry. A NULL function is not called. */
struct registry_hooks {
    /* Under the lock, whenever it was taken: settings, clock and arena at the first call, an arena
     * again in the child of a fork. */
    void (*prepare)(void);
    /* The call that inherited the parent's state has ended: forget that state. */
    void (*forget_parent)(void);
    /* Under the lock: the thread with that record ends. */
    void (*thread_ends)(const struct arena_thread *record);
};
/* Once, before the first call of registry_lock; hooks must stay valid. */
void registry_set_hooks(const struct registry_hooks *hooks);

/* Under the lock: calls the hook thread_ends. */
void registry_thread_ends(const struct arena_thread *record);

/* The current gate; never 0 and never STINT_IMPL_SHUT. */
uint32_t registry_gate(void);
/* Under the lock, after a setting changed: a new gate for all threads. */
void registry_advance(void);
/* Under the lock: sites resolved under an older gate than now belong to an arena that is gone. */
void registry_arena_is_new(void);
uint32_t registry_arena_gate(void);

/* A thread that the gate is handed to. */
struct registry_thread {
    uint32_t *gate; /* STINT_IMPL_SHUT while its owner keeps it shut */
    struct registry_thread *next;
};
/* Under the lock. */
void registry_join(struct registry_thread *t);

/* In the child, at once or when what it inherited is over: no thread is left. */
void registry_forget(void);

#endif
