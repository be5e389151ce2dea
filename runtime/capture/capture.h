/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture ranges as the layers above see them.
 */
#ifndef STINT_CAPTURE_H
#define STINT_CAPTURE_H

#include "base/api.h"

/* From the library's constructor: GPU scopes tell when a context may be there. Until a range, step or
 * GPU scope has looked whether the program's first step is one to capture, they always do. */
void capture_set_hooks(void);
/* A range opens and closes; guard NULL: GPU_PROFILER_START and STOP. Any thread; keep errno. */
void capture_begin_range(const void *guard, const char *name, const char *info);
void capture_end_range(const void *guard);

/* Step number `begun` has begun: rules and the schedule go by it. */
void capture_step(uint64_t begun);
/* Captures by the schedule from this step on, or with NULL no longer. */
void capture_schedule(const stint_schedule *schedule, stint_ready ready, void *data, uint64_t step);

#endif
