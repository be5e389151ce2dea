/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Twenty scopes that wait, and some more: diff_program [SLOW [COPIES [SEED [NAME [US]]]]]. Scope
 * number SLOW takes a tenth longer, there are COPIES copies or -COPIES scopes one within the other,
 * on the fake clock SEED draws the times, and a scope called NAME takes US microseconds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <stint/stint.h>

#ifdef STINT_IMPL_FAKE_CLOCK
#include "fake_clock.h"
#endif

enum { SCOPES = 20, CALLS = 150 };

static uint64_t randomness;

/* Waits 0.9 to 1.1 times `ns`, without a pattern. */
#ifdef STINT_IMPL_FAKE_CLOCK
static void wait_ns(uint64_t ns) {
    randomness = randomness * 6364136223846793005u + 1442695040888963407u;
    fake_advance(ns * 9 / 10 + ns * (randomness >> 56) / 1280);
}
#else
static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Waits by the clock, not by work, so that the speed of the processor does not matter. */
static void wait_ns(uint64_t ns) {
    uint64_t end = now_ns() + ns;
    while (now_ns() < end) {
    }
}
#endif

static void copy(void) {
    REGISTER_TIMER("copy");
    TIMER_BYTES(1000000);
    wait_ns(2000);
}

static void nest(int depth) {
    char name[32];
    snprintf(name, sizeof name, "nested %d", depth);
    REGISTER_TIMER_DYNAMIC(name);
    if (depth > 1) {
        nest(depth - 1);
    }
}

static void scope(int number, int slow) {
    char name[32];
    uint64_t ns = 2000 + 1000 * (uint64_t)number;
    snprintf(name, sizeof name, "scope %d", number);
    REGISTER_TIMER_DYNAMIC(name);
    wait_ns(number == slow ? ns + ns / 10 : ns);
}

int main(int argc, char **argv) {
    int slow = argc > 1 ? atoi(argv[1]) : -1;
    int copies = argc > 2 ? atoi(argv[2]) : 10;
    randomness = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    for (int i = 0; i < CALLS; ++i) {
        REGISTER_TIMER("round");
        for (int number = 0; number < SCOPES; ++number) {
            scope(number, slow);
        }
    }
    for (int i = 0; i < copies; ++i) {
        copy();
    }
    if (copies < 0) {
        nest(-copies);
    }
    for (int i = 0; argc > 4 && i < CALLS; ++i) {
        REGISTER_TIMER_DYNAMIC(argv[4]);
        wait_ns(argc > 5 ? strtoull(argv[5], NULL, 10) * 1000 : 5000);
    }
    if (copies == 0) {
        REGISTER_TIMER("without copies");
        wait_ns(1000);
    }
    return 0;
}
