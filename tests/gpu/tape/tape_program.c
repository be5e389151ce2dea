/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_program TAPE OUT.json PPM [SEED]: plays a tape (tape_play.h) and exports what the library
 * made of it: a scope around each outermost call that is on it. CUPTI's clock runs faster than the
 * recorder's by so many millionths. With a seed, the work of the GPU comes late and in any order,
 * with a report after each part. The clock is the fake one, or the real one (TAPE_REAL_CLOCK),
 * which needs as long as the tape.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stint/stint.h"
#include "tape_play.h"

#define MILLION 1000000u
#define PARTS 9

static uint64_t faster; /* millionths */
static uint64_t begun;
static __thread const char *scope;

#ifdef TAPE_REAL_CLOCK
static uint64_t tape_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void tape_wait(uint64_t ns) {
    struct timespec left = {.tv_sec = (time_t)(ns / 1000000000u),
                            .tv_nsec = (long)(ns % 1000000000u)};
    while (nanosleep(&left, &left)) {
    }
}
#else
#include "fake_clock.h"
#define tape_ns stint_fake_ticks
#define tape_wait fake_advance
#endif

static uint64_t tape_clock(void) {
    uint64_t ns = tape_ns();
    return ns + ns / MILLION * faster;
}

static void tape_report(void) {
    tape_wait(1000);
    stint_gpu_flush();
}

static void tape_wait_until(uint64_t ns) {
    uint64_t now = tape_ns() - begun;
    if (ns > now) {
        tape_wait(ns - now);
    }
}

static void tape_begin_scope(const char *name) {
    scope = name;
    stint_scope_begin(scope);
}

static void tape_end_scope(void) {
    stint_scope_end(scope);
}

int main(int argc, char **argv) {
    static const struct tape_ops ops = {tape_wait_until, tape_begin_scope, tape_end_scope};
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "tape_program TAPE OUT.json PPM [SEED]\n");
        return 2;
    }
    setenv("STINT_CUPTI_LIB", TAPE_PLAYER, 1);
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so", 1);
    faster = strtoull(argv[3], NULL, 10);
    tape_set_clock(tape_clock);
    long count = tape_load(argv[1]);
    if (count < 0 || stint_profiler_start("All", "Default")) {
        return 1;
    }
    begun = tape_ns();
    if (tape_count_calls()) {
        tape_play(&ops);
        tape_wait(1000);
    } else {
        tape_wait(tape_span() + 1000);
        uint64_t seed = argc == 5 ? strtoull(argv[4], NULL, 10) : 0;
        if (tape_deliver(seed, argc == 5 ? PARTS : 1, tape_report) != (uint64_t)count) {
            fprintf(stderr, "tape_program: not all of %ld records were delivered\n", count);
            return 1;
        }
    }
    /* Calls of the driver that may be within one of the runtime are held until the end. */
    stint_profiler_stop("total", NULL);
    return stint_export(argv[2], "json") != 0;
}
