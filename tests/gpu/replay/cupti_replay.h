/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libcupti that delivers the records of a recorded profile (data/README.md). The
 * records are the structs of the toolkit's headers; the version, the names of functions and
 * the stepping from record to record are those of the installed libcupti. No GPU is used.
 *
 * A program loads it as CUPTI (STINT_CUPTI_LIB=CUPTI_REPLAY_LIBRARY), links it, too, and calls:
 *
 *     cupti_replay_read("profile.txt");     // not compressed
 *     fake_advance(cupti_replay_span());    // so that the records are in the past
 *     cupti_replay_deliver(1);              // through the callbacks that were registered
 *
 * Assumptions, all from cupti_activity.h: times are those of a registered timestamp callback, else
 * of the clock of cuptiGetTimestamp; only kinds that are enabled are delivered; a buffer's records
 * follow each other without gaps. Not from two threads at once.
 */
#ifndef STINT_TESTS_CUPTI_REPLAY_H
#define STINT_TESTS_CUPTI_REPLAY_H

#include <stdint.h>

#pragma GCC visibility push(default)

/* Replaces the profile that was read before. The number of records, or -1 after a line on stderr.
 */
long cupti_replay_read(const char *path);
/* The time from the start of the profile to its end, ns. */
uint64_t cupti_replay_span(void);
/* Sets the clock that cuptiGetTimestamp returns, ns; it is CLOCK_REALTIME until then. */
void cupti_replay_set_clock(uint64_t (*clock)(void));
/* The profile `times` times, one after the other; the last one ends now. The number of records
 * delivered. */
uint64_t cupti_replay_deliver(unsigned times);
/* The profile once. The work of the GPU comes in an order that depends on the seed, in as many
 * parts as that, each in buffers of its own after which `between` is called. */
uint64_t cupti_replay_deliver_late(uint64_t seed, unsigned parts, void (*between)(void));

#pragma GCC visibility pop

#endif
