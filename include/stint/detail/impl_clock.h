/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_IMPL_TICKS(): the counter every scope reads twice. Unfenced: a fence costs 0.7 of the two
 * reads together and buys precision below what the reads themselves blur. Tests define the macro
 * on the command line, and then the inline path, the runtime and the goldens run on their clock.
 */
#ifndef STINT_IMPL_CLOCK_H
#define STINT_IMPL_CLOCK_H

#include "impl_types.h"

#ifdef STINT_IMPL_FAKE_CLOCK
/* One tick is one nanosecond; the test sets it (tests/fake_clock.h). */
#ifdef __cplusplus
extern "C" {
#endif
extern uint64_t stint_fake_ticks(void);
#ifdef __cplusplus
}
#endif
#define STINT_IMPL_TICKS() stint_fake_ticks()
#elif defined(__x86_64__)
STINT_IMPL_INLINE uint64_t stint_impl_ticks(void) {
    uint64_t low, high; /* the instruction clears the upper halves of both registers */
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return high << 32 | low;
}
/* The same less a start, in one instruction less than both of them. */
STINT_IMPL_INLINE uint64_t stint_impl_ticks_since(uint64_t start) {
    uint64_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (low - start) + (high << 32);
}
#define STINT_IMPL_TICKS() stint_impl_ticks()
#define STINT_IMPL_TICKS_SINCE(start) stint_impl_ticks_since(start)
#else
STINT_IMPL_INLINE uint64_t stint_impl_ticks(void) {
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#define STINT_IMPL_TICKS() stint_impl_ticks()
#endif
#ifndef STINT_IMPL_TICKS_SINCE
#define STINT_IMPL_TICKS_SINCE(start) (STINT_IMPL_TICKS() - (start))
#endif

#endif
