/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The origin's profiler, stint_profiler_start … stop: an interval with its own level, CUPTI beside
 * it, and the fluid report at its end. The user's side is in stint.h.
 */
#ifndef STINT_PROFILER_H
#define STINT_PROFILER_H

/* Whether one runs that is to end with the program. Not where a signal handler that ends the
 * program interrupted the profiler itself. */
int profiler_is_due(void);
/* Ends it, and prints it if anything was recorded. */
void profiler_at_end(void);

#endif
