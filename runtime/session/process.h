/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording process: its start, its preparation for the first scope, fork, and its end.
 */
#ifndef STINT_PROCESS_H
#define STINT_PROCESS_H

#include <stdint.h>

/* Called by the first of the library's constructors: sets the hooks of the recorder. */
void process_set_hooks(void);
/* Called by the library's constructor: the run begins. */
void process_started(void);
/* Called by the library's destructor, after the exit report: the run is complete. */
void process_ends(void);
/* CLOCK_MONOTONIC_RAW at the start of the run; in the child of a fork, at its first scope. */
uint64_t process_start_ns(void);

#endif
