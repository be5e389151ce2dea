/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples without a scope: intervals of code, and times that the caller has read itself.
 */
#ifndef STINT_INTERVAL_SAMPLE_H
#define STINT_INTERVAL_SAMPLE_H

#include <stdint.h>

/* Adds a sample for a word of the arena there is or was. Enters the slow path for its first sample
 * on the thread only. 0, or -1 (off, or counted). */
int interval_sample_add(uint64_t word, uint32_t set, uint64_t start, uint64_t ticks);
/* The same for a time that was measured elsewhere, in the default set: it is kept in nanoseconds.
 * It ended at that tick. */
int interval_sample_add_ns(uint64_t word, uint64_t end, uint64_t ns);
/* Counts an interval of that word that begins (1), or ends (-1): one that is off or from before a
 * fork does not count. */
void interval_count_open(uint64_t word, int64_t more);

#endif
