/* SPDX-License-Identifier: Apache-2.0 */
#include "floor.h"

#include <stdint.h>
#include <time.h>

#include <stint/stint.h>

double bench_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void bench_floor_loop(long n) {
    volatile uint64_t sink = 0;
    for (long i = 0; i < n; ++i) {
        uint64_t start = STINT_IMPL_TICKS();
        __asm__ volatile("");
        sink = STINT_IMPL_TICKS() - start;
    }
    (void)sink;
}

double bench_ns_each(bench_loop *loop, long n) {
    double start = bench_now_ns();
    loop(n);
    return (bench_now_ns() - start) / (double)n;
}
