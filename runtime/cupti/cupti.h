/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI as a tracer: found at run time (libcupti.so.13, .12, .11.8 …, or STINT_CUPTI_LIB), asked
 * politely, and left alone where it is missing, too old, without privilege or held by another tool;
 * why is in cupti_describe. Nothing here is called unless somebody asked for it: STINT_GPU=cupti,
 * stint_profiler_start.
 *
 * Any thread, no lock of ours held over a call out; not from a signal handler.
 */
#ifndef STINT_CUPTI_H
#define STINT_CUPTI_H

#include <stddef.h>

/* Subscribes and switches the activity kinds on; nests, as ranges do. 0, or -1 after one line on
 * stderr, the first time, that says why not; then there is nothing to stop. 0, too, where another
 * thread is at it. */
int cupti_start(void);
/* The last one switches all kinds off, takes over what is complete and unsubscribes: tracing that
 * goes on costs the program 10 to 20 %. Records that complete later come with a flush. */
void cupti_stop(void);
/* Takes over the records that are complete; force: also those that are not, after the program's own
 * synchronisation. Nothing unless it was on. */
void cupti_flush(int force);
int cupti_is_on(void);
/* In words, for reports: "cupti 13.0: 12345 records, 0.8 % of the run" or why it can do nothing; ""
 * if nobody asked for it. */
void cupti_describe(char *out, size_t size);

/* From the library's constructor: starts for STINT_GPU=cupti, before CUDA is initialised. */
void cupti_at_load(void);
/* With STINT_GPU=cupti and STINT_CAPTURE: a capture begins, ends. One thread at a time. */
void cupti_capture(int on);

#endif
