/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a profile leaves behind as a file.
 */
#ifndef STINT_PROFILER_FILE_H
#define STINT_PROFILER_FILE_H

/* "*.json": the interval's trace for Chrome; any other: the run so far, as a run file. The pattern
 * is that of STINT_OUTPUT. 0, or -1 after one line. */
int profiler_file(const char *pattern);

#endif
