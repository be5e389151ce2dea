/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program for each library: compare.c, floor.c, and a file that has these three.
 */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

/* Before the first scope. */
void compare_begin(void);

/* n scopes with nothing in them. */
void compare_loop(long n);

/* Afterwards: are scopes recorded? 1, 0, or -1 where the library does not tell. */
int compare_recording(void);

#endif
