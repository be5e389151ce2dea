/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording process: when it began, how it gets ready, what a fork does to it.
 */
#ifndef STINT_PROCESS_H
#define STINT_PROCESS_H

#include <stddef.h>
#include <stdint.h>

/* From the first of the library's constructors: connects the recorder to this file. */
void process_set_hooks(void);
/* From the library's constructor: the run begins. */
void process_started(void);
/* When the library is unloaded, after the exit report: the run is complete. */
void process_ends(void);
/* CLOCK_MONOTONIC_RAW of that moment; in the child of a fork, of its first scope. */
uint64_t process_start_ns(void);
/* In words, for reports: the GPU back end and tracer, and why they can do nothing; "" if neither was
 * asked for. Not under a lock: it takes the tracer's. */
void process_describe_gpu(char *out, size_t size);

#endif
