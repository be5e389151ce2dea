/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process's one lock and its gate. The gate is a number every site's word and every thread
 * carries; advancing it sends each of them through the slow path once, where the new filter, level,
 * switch or arena is looked up.
 *
 * The lock guards registering: threads, sites, sets, names, settings. It is never held over a
 * scope, a report or a call into user code, and never taken on the hot path.
 */
#ifndef STINT_REGISTRY_H
#define STINT_REGISTRY_H

#include <stdint.h>

/* Reads the environment, starts the clock, opens the arena: the first call does it, the first in
 * the child of a fork does it again. Takes the lock; returns with it held. */
void registry_lock(void);
void registry_unlock(void);

/* The current gate; never 0. */
uint32_t registry_gate(void);
/* Sites resolved under an older gate than this belong to an arena that is gone. */
uint32_t registry_arena_gate(void);
/* Under the lock, after a setting changed. */
void registry_advance(void);
/* Whether the run-time switch is on and there is an arena. */
int registry_recording(void);

/* Called once from the library's constructor: when the run began. */
void registry_started(void);
uint64_t registry_start_ns(void);

#endif
