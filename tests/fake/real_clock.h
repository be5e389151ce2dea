/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock the library ships with, compiled into this program under other names beside the fake
 * one it is linked to. Before all other headers.
 */
#ifndef STINT_TESTS_REAL_CLOCK_H
#define STINT_TESTS_REAL_CLOCK_H

#undef STINT_IMPL_FAKE_CLOCK
#define clock_init real_clock_init
#define clock_kind real_clock_kind
#define clock_name real_clock_name
#define clock_ticks real_clock_ticks
#define clock_stamp real_clock_stamp
#define clock_ticks_per_us real_clock_ticks_per_us
#define clock_ns real_clock_ns
#define clock_ticks_at real_clock_ticks_at
#define clock_ticks_of_ns real_clock_ticks_of_ns
#define clock_ns_of_ticks real_clock_ns_of_ticks
#include "system/clock.c"

#endif
