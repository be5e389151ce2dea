/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording process: when it began, how it gets ready, what a fork does to it.
 */
#ifndef STINT_PROCESS_H
#define STINT_PROCESS_H

#include <stdint.h>

/* From the library's constructor: the run begins. */
void process_started(void);
/* When the library is unloaded, after the exit report: the run is complete. */
void process_ends(void);
/* CLOCK_MONOTONIC_RAW of that moment; in the child of a fork, of its first scope. */
uint64_t process_start_ns(void);

#endif
