/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calling thread's CPU time, context switches and page faults.
 */
#ifndef STINT_USAGE_H
#define STINT_USAGE_H

#include <stdint.h>

/* All of them only grow on one thread. Times in nanoseconds. */
enum usage_value {
    USAGE_WALL, /* between the readings of the CPU time */
    USAGE_CPU,
    USAGE_VOLUNTARY, /* context switches because the thread waited */
    USAGE_INVOLUNTARY,
    USAGE_MINOR, /* page faults without and with a read from disk */
    USAGE_MAJOR,
    USAGE_VALUES
};

/* The thread's numbers in two parts, so that what is read between the two is not in its CPU time:
 * at the begin of a call first the counts, then the times, at its end the other way round. 0, or -1
 * where the kernel refuses. Async-signal-safe. */
int usage_read_counts(uint64_t *values);
int usage_read_times(uint64_t *values, int at_end);

#endif
