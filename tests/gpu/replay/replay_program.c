/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_program TAPE OUT.json PPM [SEED]: plays a tape (tape_play.h) and exports what the library
 * made of it: a scope around each outermost call that is on it. CUPTI's clock runs faster than the
 * recorder's by so many millionths. With a seed, the work of the GPU comes late and in any order,
 * with a report after each part. The clock is the fake one, or the real one, which needs as long as
 * the tape.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stint/stint.h"
#include "tape_play.h"
#ifndef REPLAY_REAL_CLOCK
#include "activity/tracer.h"
#include "fake_clock.h"
#endif

#define MILLION 1000000u
#define PARTS 9

static uint64_t faster; /* millionths */
static uint64_t begun;

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

static void replay_finish(void) {
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

/* Calls of the driver that may be within one of the runtime are held until the end. */
static void replay_finish(void) {
    tracer_stop();
}
#endif

static uint64_t replay_clock(void) {
    uint64_t ns = replay_ns();
    return ns + ns / MILLION * faster;
}

static void replay_report(void) {
    replay_wait(1000);
    replay_flush();
}

static void replay_wait_until(uint64_t ns) {
    uint64_t now = replay_ns() - begun;
    if (ns > now) {
        replay_wait(ns - now);
    }
}

static __thread const char *scope;

static void replay_begin(const char *name) {
    scope = name;
    stint_scope_begin(scope);
}

static void replay_end(void) {
    stint_scope_end(scope);
}

static uint64_t replay_records(const char *seed) {
    replay_wait(tape_span() + 1000);
    if (seed) {
        return tape_deliver_late(strtoull(seed, NULL, 10), PARTS, replay_report);
    }
    return tape_deliver(1);
}

int main(int argc, char **argv) {
    static const struct tape_ops ops = {replay_wait_until, replay_begin, replay_end};
    if (argc != 4 && argc != 5) {
        fprintf(stderr, "replay_program TAPE OUT.json PPM [SEED]\n");
        return 2;
    }
    setenv("STINT_CUPTI_LIB", TAPE_PLAYER, 1);
    setenv("STINT_CUDA_LIB", "/nonexistent/libcuda.so", 1);
    faster = strtoull(argv[3], NULL, 10);
    tape_set_clock(replay_clock);
    long count = tape_load(argv[1]);
    if (count < 0 || replay_start()) {
        return 1;
    }
    begun = replay_ns();
    if (tape_count_calls()) {
        tape_play(&ops);
    } else if (replay_records(argv[4]) != (uint64_t)count) {
        fprintf(stderr, "replay_program: not all of %ld records were delivered\n", count);
        return 1;
    }
    replay_wait(1000);
    replay_finish();
    return stint_export(argv[2], "json") != 0;
}
