/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program for each library: compare.c, floor.c, and a file that has these three.
 */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

/* Prepares the library; is called before the first scope. */
void compare_begin(void);

/* Runs n scopes with nothing in them. */
void compare_loop(long n);

/* Returns whether scopes were recorded: 1, 0, or -1 if the library does not tell. Called at the
 * end. */
int compare_recording(void);

#endif
