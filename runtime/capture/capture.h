/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture ranges as the rest of the runtime sees them.
 */
#ifndef STINT_CAPTURE_H
#define STINT_CAPTURE_H

#include "record/api.h"

/* Whether capture_poke may find something to do: a capture waits for a CUDA context, or nobody has
 * looked yet whether the program's first step is one to capture. Any thread, relaxed. */
extern int capture_waiting;
void capture_poke_waiting(void);

/* A GPU scope began: a capture that waits for a context may have found one. */
static inline void capture_poke(void) {
    if (__builtin_expect(__atomic_load_n(&capture_waiting, __ATOMIC_RELAXED), 0)) {
        capture_poke_waiting();
    }
}

/* Step number `begun` has begun: rules and the schedule go by it. */
void capture_step(uint64_t begun);
/* Captures by the schedule from this step on, or with NULL no longer. */
void capture_schedule(const stint_schedule *schedule, stint_ready ready, void *data, uint64_t step);

#endif
