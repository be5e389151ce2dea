/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of stint_fake: does not move until a test moves it. One tick is one nanosecond. Any
 * thread may read and move it.
 */
#ifndef STINT_TESTS_FAKE_CLOCK_H
#define STINT_TESTS_FAKE_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Starts at one second: a duration taken from 0 by mistake is seen. */
#define FAKE_START 1000000000u

extern uint64_t fake_now;  /* ns; other threads read it: set it before they start */
extern uint64_t fake_step; /* added by every read, after it; 0 at first */

/* Moves the time on; 0 does nothing, a wrapped negative number moves it back. */
void fake_advance(uint64_t ns);
/* Reads it without the step. */
uint64_t fake_read(void);
/* The hook the runtime and instrumented code read. */
uint64_t stint_fake_ticks(void);

#ifdef __cplusplus
}
#endif

#endif
