/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that takes a given time by the GPU's own clock.
 */
#ifndef STINT_TESTS_GPU_REAL_SPIN_H
#define STINT_TESTS_GPU_REAL_SPIN_H

#include <cuda_runtime.h>

static inline __device__ unsigned long long real_ns() {
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

/* One thread that does nothing for ns nanoseconds; *took, if given, gets what it was in the end. */
static __global__ void real_spin_kernel(unsigned long long ns, unsigned long long *took) {
    const unsigned long long start = real_ns();
    unsigned long long now = start;
    while (now - start < ns) {
        now = real_ns();
    }
    if (took) {
        *took = now - start;
    }
}

#endif
