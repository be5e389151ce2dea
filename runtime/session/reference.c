/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of shift, xor and multiply, in which each step depends on the previous one: about five
 * cycles per turn on current processors, without memory accesses, not vectorisable. The shortest of
 * the tries is the one that was not interrupted. What a long chain takes longer than a short one
 * has neither the reading of the clock nor the start of the loop in it.
 */
#include "about.h"

#include "base/arithmetic.h"
#include "system/clock.h"

#define TURNS 2048 /* more than in the short chain: about 3.5 us at 3 GHz */
#define TURNS_SHORT 64
#define TRIES 3

#if defined(STINT_IMPL_FAKE_CLOCK)
uint32_t reference_ps(void) {
    return 1000; /* the same expected screens on every machine */
}
#else
static uint64_t reference_try(int turns) {
    uint64_t start = clock_ns(), v = start | 1;
    for (int i = 0; i < turns; ++i) {
        v = (v ^ v >> 29) * 0x9e3779b97f4a7c15u;
        __asm__ volatile("" : "+r"(v)); /* the compiler must not simplify the chain */
    }
    return clock_ns() - start;
}

uint32_t reference_ps(void) {
    uint64_t best = UINT32_MAX / 1000 * TURNS, best_short = best;
    for (int i = 0; i < TRIES; ++i) {
        best_short = u64_min(best_short, reference_try(TURNS_SHORT));
        best = u64_min(best, reference_try(TURNS_SHORT + TURNS));
    }
    return (uint32_t)(saturating_subtract(best, best_short) * 1000 / TURNS);
}
#endif
