/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture ranges as the layers above see them.
 */
#ifndef STINT_CAPTURE_H
#define STINT_CAPTURE_H

#include "base/api.h"
#include "tracer.h"

/* From the library's constructor: GPU scopes then report that a context may exist. They do until a
 * range, step or GPU scope has determined whether the program's first step is to be captured. */
void capture_set_hooks(void);
/* Open and close a range; guard NULL: STINT_GPU_PROFILER_START and STOP. Any thread; keep errno. */
void capture_begin_range(const void *guard, const char *name, const char *info);
void capture_end_range(const void *guard);

/* A capture waits for a GPU context. Relaxed. */
extern int capture_is_pending;
/* In whatever takes a slow path: retries a capture, or a tracer, that waits for a GPU context. */
void capture_look_now(void);
static inline void capture_look(void) {
    if (__atomic_load_n(&capture_is_pending, __ATOMIC_RELAXED) || tracer_is_waiting()) {
        capture_look_now();
    }
}

/* Step number `begun` has begun, for rules and the schedule. */
void capture_step(uint64_t begun);
/* Captures by the schedule from this step on; NULL: ends the use of a schedule. */
void capture_schedule(const stint_schedule *schedule, stint_ready_fn ready, void *data,
                      uint64_t step);

/* ---- schedule.c: which phase of a stint_schedule a step falls into. */

enum schedule_phase { SCHEDULE_OFF, SCHEDULE_READY, SCHEDULE_RECORD };

/* The phase of a step; *first gets the first step of its round's record phase, 0 outside rounds. */
enum schedule_phase schedule_phase_of(const stint_schedule *s, uint64_t step, uint64_t *first);

#endif
