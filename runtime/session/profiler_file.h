/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that is written at the end of a profile.
 */
#ifndef STINT_PROFILER_FILE_H
#define STINT_PROFILER_FILE_H

/* "*.json": the trace of the interval in Chrome's format; any other name: a run file of the run so far.
 * %p, %h and %r as in STINT_OUTPUT. 0, or -1 after one line. */
int profiler_file(const char *pattern);

#endif
