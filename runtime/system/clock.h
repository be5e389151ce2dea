/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. Scopes count ticks; everything a user sees is nanoseconds. The tick is the TSC (cntvct_el0
 * on Arm) when it is invariant and the kernel itself trusts it as clock source, else
 * CLOCK_MONOTONIC_RAW through the slow path.
 */
#ifndef STINT_CLOCK_H
#define STINT_CLOCK_H

#include <stdint.h>

#include "base/stamp.h"

enum clock_kind { CLOCK_KIND_COUNTER = 1, CLOCK_KIND_MONOTONIC = 2 };

/* Where CLOCK_MONOTONIC_RAW is read: clock_gettime; the system call, where clock_gettime fails or
 * returns the same time again and again; clock_gettime although neither advances. */
enum clock_source { CLOCK_SOURCE_LIBC, CLOCK_SOURCE_KERNEL, CLOCK_SOURCE_FROZEN };

/* Once, before any other call. wanted: 0 automatic, 1 the counter, 2 monotonic. Takes a bounded
 * number of readings. After CLOCK_SOURCE_KERNEL earlier results of clock_ns are of another
 * clock. */
enum clock_source clock_init(int wanted);
enum clock_kind clock_kind(void);
/* One word for a report: "tsc", "cntvct", "monotonic". */
const char *clock_name(void);
uint64_t clock_ticks(void);
void clock_stamp(struct clock_stamp *out);
/* Ticks per microsecond in 24.8 fixed point, measured at clock_init; good to about 0.1 %. */
uint64_t clock_ticks_per_us(void);
/* CLOCK_MONOTONIC_RAW in nanoseconds. */
uint64_t clock_ns(void);
/* The tick of a moment given in clock_ns() / 1000; UINT64_MAX or a moment to come: now. */
uint64_t clock_ticks_at(uint64_t us);
/* Ticks for a duration, and a duration for ticks. */
uint64_t clock_ticks_of_ns(uint64_t ns);
uint64_t clock_ns_of_ticks(uint64_t ticks);

#endif
