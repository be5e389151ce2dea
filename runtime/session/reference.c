/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of shift, xor and multiply, in which each step depends on the previous one: about five
 * cycles per turn on current processors, without memory accesses, not vectorisable. The shortest of
 * the tries is the one that was not interrupted.
 */
#include "about.h"

#include "base/arithmetic.h"
#include "system/clock.h"

#define TURNS 8192 /* about 14 us at 3 GHz: 1000 times as long as reading the clock */
#define TRIES 6

#if defined(STINT_IMPL_FAKE_CLOCK)
uint32_t reference_ps(void) {
    return 1000; /* the same expected screens on every machine */
}
#else
static uint64_t reference_try(void) {
    uint64_t start = clock_ns(), v = start | 1;
    for (int i = 0; i < TURNS; ++i) {
        v = (v ^ v >> 29) * 0x9e3779b97f4a7c15u;
        __asm__ volatile("" : "+r"(v)); /* the compiler must not simplify the chain */
    }
    return clock_ns() - start;
}

uint32_t reference_ps(void) {
    uint64_t best = UINT32_MAX / 1000 * TURNS;
    for (int i = 0; i < TRIES; ++i) {
        uint64_t ns = reference_try();
        best = u64_min(best, ns);
    }
    return (uint32_t)(best * 1000 / TURNS);
}
#endif
