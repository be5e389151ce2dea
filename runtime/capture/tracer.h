/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the GPU is traced: starts and stops are counted, and the first tracer of the build's list
 * that can be opened is used (activity/tracer_ops.h). A tracer that is missing, too old, without
 * privilege or held by another tool is left alone; tracer_describe says why. Nothing is opened
 * unless it was asked for: STINT_GPU, stint_profiler_start.
 *
 * Any thread, no lock held over a call out; not from a signal handler.
 */
#ifndef STINT_TRACER_H
#define STINT_TRACER_H

#include <stddef.h>

#include "activity/tracer_ops.h"

/* The tracers to try, in order; the list ends with NULL and stays valid. Once, from the library's
 * constructor. Without it there is none. */
void tracer_set_list(const struct tracer_ops *const *list);

/* Opens a tracer; nests, as ranges do. 0, or -1 after one line on stderr, the first time, that says
 * why not; then there is nothing to stop. 0 also where another thread is opening it. */
int tracer_start(void);
/* The same, but waits until the program has initialised the GPU's library, which a tracer would do
 * otherwise: 0 then, too. Later tracer_start does not wait. */
int tracer_start_when_ready(void);
/* It may be initialised by now (is_certain: it is being). Costs next to nothing unless a tracer
 * waits. */
void tracer_look(int is_certain);
int tracer_is_waiting(void);
/* The last one closes the tracer: tracing that goes on costs the program 10 to 20 %. Records that
 * complete later come with a flush. */
void tracer_stop(void);
/* Takes over records; enum tracer_flush. Nothing unless a tracer was open. */
void tracer_flush(int how);
/* A step of the program ended. */
void tracer_step(void);
/* For tests. */
int tracer_is_on(void);
/* In words, for reports: "NAME 13.0: 12345 records, 0.8 % of the run" or why it can do nothing; ""
 * if it was never asked for. */
void tracer_describe(char *out, size_t size);

/* Calls the tracers' `prepare`; -1 if one of them returns that. */
int tracer_prepare_all(void);
/* From the library's constructor: if STINT_GPU asks for tracing, prepares, and starts when the
 * program uses the GPU. */
void tracer_at_load(void);
/* With STINT_GPU asking for tracing and STINT_CAPTURE: a capture begins, ends. One thread at a
 * time. */
void tracer_capture(int on);

#endif
