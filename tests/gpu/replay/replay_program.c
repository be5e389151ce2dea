/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_program PROFILE OUT.json PPM [SEED]: replays a profile (cupti_replay.h) and exports what
 * the library made of it. CUPTI's clock runs faster than the recorder's by so many millionths. With
 * a seed, the work of the GPU comes late and in any order, with a report after each part. The clock
 * is the fake one, or the real one, which needs as long as the profile.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cupti_replay.h"
#include "stint/stint.h"
#ifndef REPLAY_REAL_CLOCK
#include "activity/tracer.h"
#include "fake_clock.h"
#endif

#define APART UINT64_C(1700000000000000000) /* CUPTI's clock shows the time of day */
#define MILLION 1000000u
#define PARTS 9

static uint64_t faster; /* millionths */

#ifdef REPLAY_REAL_CLOCK
static uint64_t replay_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void replay_wait(uint64_t ns) {
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_nsec = (long)(ns % 1000000000u)};
    while (nanosleep(&left, &left)) {
    }
}

/* The shared library exports no more than the public functions. */
static int replay_start(void) {
    return stint_profiler_start("All", "Default");
}

static void replay_flush(void) {
    stint_gpu_flush();
}
#else
static uint64_t replay_ns(void) {
    return stint_fake_ticks();
}

static void replay_wait(uint64_t ns) {
    fake_advance(ns);
}

static int replay_start(void) {
    return tracer_start();
}

static void replay_flush(void) {
    tracer_flush(0);
}
#endif

static uint64_t replay_clock(void) {
    uint64_t ns = replay_ns();
    return APART + ns + ns / MILLION * faster;
}

static void replay_report(void) {
    replay_wait(1000);
    replay_flush();
}

int main(int argc, char **argv) {
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "replay_program PROFILE OUT.json PPM [SEED]\n");
        return 2;
    }
    setenv("STINT_CUPTI_LIB", CUPTI_REPLAY_LIBRARY, 1);
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so", 1);
    faster = strtoull(argv[3], NULL, 10);
    cupti_replay_set_clock(replay_clock);
    long count = cupti_replay_read(argv[1]);
    if (count < 0 || replay_start()) {
        return 1;
    }
    replay_wait(cupti_replay_span() + 1000);
    uint64_t delivered;
    if (argc == 5) {
        delivered = cupti_replay_deliver_late(strtoull(argv[4], NULL, 10), PARTS, replay_report);
    } else {
        delivered = cupti_replay_deliver(1);
    }
    replay_flush();
    if (delivered != (uint64_t)count) {
        fprintf(stderr, "replay_program: %ld records read, %llu delivered\n", count,
                (unsigned long long)delivered);
        return 1;
    }
    return stint_export(argv[2], "json") != 0;
}
