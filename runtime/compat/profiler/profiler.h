/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiler of PaddlePaddle's fluid, from stint_profiler_start to stint_profiler_stop: an
 * interval with its own level, tracing, and the fluid report at its end. stint.h describes
 * the calls.
 */
#ifndef STINT_PROFILER_H
#define STINT_PROFILER_H

/* Writes the file of a profile (profiler_file.c). "*.json": the trace of the interval in Chrome's
 * format; any other name: a run file of the run so far. %p, %h and %r as in STINT_OUTPUT. 0, or -1
 * after one line. */
int profiler_file(const char *pattern);

#endif
