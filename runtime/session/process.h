/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording process: its start, its preparation for the first scope, fork, and its end.
 */
#ifndef STINT_PROCESS_H
#define STINT_PROCESS_H

#include <stddef.h>
#include <stdint.h>

struct arena_job;

/* Called by the first of the library's constructors: sets the hooks of the recorder. */
void process_set_hooks(void);
/* Called by the library's constructor: the run begins. */
void process_started(void);
/* Called by the library's destructor, after the exit report: the run is complete. */
void process_ends(void);
/* CLOCK_MONOTONIC_RAW at the start of the run; in the child of a fork, at its first scope. */
uint64_t process_start_ns(void);
/* The rank of the process in its job, and the number of ranks, where no launcher told. */
void process_rank_seen(uint32_t rank, uint32_t size);
/* The arena's record of the place in a job, made if need be. NULL: no room, or a signal handler
 * interrupted the registry. */
struct arena_job *process_job(void);
/* For reports: the names of the GPU back end and of the tracer, and why they do not work; "" if
 * neither was needed. Takes the tracer's lock: the caller must not hold a lock. */
void process_describe_gpu(char *out, size_t size);

/* The current speed of this processor, for comparing runs on machines of different speed:
 * picoseconds of one turn of a small integer loop, the minimum of a few tries. Takes about 100
 * us. */
uint32_t reference_ps(void);

#endif
