/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libcupti that says what a tape (tape.h) says, without any library of NVIDIA's: the double of
 * CUPTI with the tape's names, sizes and records. A program loads it as CUPTI
 * (STINT_CUPTI_LIB=TAPE_PLAYER), links it, too, and calls
 *
 *     tape_load("run.tape");
 *     tape_play(&ops);            // calls and buffers in their order, at their times, on threads
 *
 * or, for a tape of records alone, after the time of the tape has passed,
 *
 *     tape_deliver(0, 1, flush);  // its records, through the callbacks that were registered
 *
 * CUPTI's clock shows the tape's time: it begins at the first cuptiGetTimestamp and goes on as the
 * clock does that the program has set. Only kinds that are enabled are delivered. Not from two
 * threads at once.
 */
#ifndef STINT_TESTS_TAPE_PLAY_H
#define STINT_TESTS_TAPE_PLAY_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* Once. The number of records, or -1 after a line on stderr. */
long tape_load(const char *path);
/* Calls on the tape. */
long tape_count_calls(void);
/* From the first time to the last one, ns. */
uint64_t tape_span(void);
/* Any steady clock, ns; before the library uses CUPTI. */
void tape_set_clock(uint64_t (*clock)(void));

struct tape_ops {
    /* Waits until the tape's clock shows so many ns after its beginning. */
    void (*wait)(uint64_t ns);
    /* A call of the program begins, or ends, that is within no other of its thread. */
    void (*begin)(const char *name);
    void (*end)(void);
};
void tape_play(const struct tape_ops *ops);

/* All records, in so many parts, after each of which `between` is called. The seed says in which
 * part the work of the GPU comes. The number delivered. */
uint64_t tape_deliver(uint64_t seed, unsigned parts, void (*between)(void));

#pragma GCC visibility pop

#endif
