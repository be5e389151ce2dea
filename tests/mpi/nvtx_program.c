/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rank that knows NVTX and neither stint nor MPI: nvtx_program MILLISECONDS. It prints the
 * nanoseconds that it measured inside and around its ranges.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nvtx3/nvToolsExt.h>

#define ROUNDS 3

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv) {
    int ms = argc > 1 ? atoi(argv[1]) : 1;
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    long long inside = 0, around = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        long long begin = now();
        nvtxRangePushA("forward");
        long long inner = now();
        nanosleep(&t, NULL);
        inside += now() - inner;
        nvtxRangePop();
        around += now() - begin;
    }
    printf("%lld %lld\n", inside, around);
    return 0;
}
