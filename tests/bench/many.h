/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The made-up program of many.py, three times: MANY_VARIANT is a STINT_INLINE, or 9 without timers.
 */
#ifndef BENCH_MANY_H
#define BENCH_MANY_H

#include <stddef.h>
#include <stdint.h>

#define MANY_SCOPES 390 /* a pass */

extern uint32_t many_table[1024];

extern uint64_t many_run_9(long passes), many_run_1(long passes), many_run_2(long passes);
/* Code of the 300 functions, without the local copies of begin and end. */
extern size_t many_bytes_9(void), many_bytes_1(void), many_bytes_2(void);

#ifdef MANY_VARIANT
#if MANY_VARIANT != 9
#define WITH_TIMER 1
#define STINT_INLINE MANY_VARIANT
#endif
#include <stint/stint.h>

#define MANY_JOIN_(a, b) a##b
#define MANY_JOIN(a, b) MANY_JOIN_(a, b)
#define MANY_TEXT_(x) #x
#define MANY_TEXT(x) MANY_TEXT_(x)
#define MANY_SECTION MANY_JOIN(bench_many_, MANY_VARIANT)
#define MANY(index) MANY_JOIN(MANY_JOIN(many_, MANY_VARIANT), _##index)
#define MANY_RUN MANY_JOIN(many_run_, MANY_VARIANT)
#define MANY_BYTES MANY_JOIN(many_bytes_, MANY_VARIANT)
#define MANY_START MANY_JOIN(__start_, MANY_SECTION)
#define MANY_STOP MANY_JOIN(__stop_, MANY_SECTION)
#define MANY_CODE __attribute__((noinline, section(MANY_TEXT(MANY_SECTION))))

extern const char MANY_START[], MANY_STOP[];
#endif

#endif
