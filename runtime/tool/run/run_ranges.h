/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `stint run --ranges`: the environment by which the instrumentation of libraries finds
 * libstint-ranges.so.
 */
#ifndef STINT_RUN_RANGES_H
#define STINT_RUN_RANGES_H

#include <stdint.h>

#define RUN_RANGES 5 /* interfaces, in the order of the group `ranges` of gen/measures.ini */
#define RUN_RANGES_NVTX 1u
#define RUN_RANGES_OMPT 4u

/* The interfaces of a list, a bit each; NULL: all. 0: not such a list. */
uint32_t run_ranges_parse(const char *list);

/* Sets the variables of these interfaces that are not set, with a line for each that is. 0, or -1
 * after one line. */
int run_ranges_set(uint32_t wanted);

/* One line if the program has OpenMP of GCC, which has no interface for tools. */
void run_ranges_check(const char *program);

/* One line: how many ranges each of these interfaces has delivered. */
void run_ranges_say(uint32_t wanted, const uint64_t count[RUN_RANGES]);

#endif
