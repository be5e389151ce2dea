/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the cost of a scope of one library beside the floor. Each repetition of the scope comes
 * right after one of the floor, in the same thread. Prints a line for each, "time FLOOR SCOPE" in
 * ns, and then "recording 1", 0 or -1. ../compare.py starts these programs and makes a table of
 * them.
 */
#include "compare.h"

#include "../floor.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#define PROBE 4096
#define MAX_REPETITIONS 1000

/* Keeps the process on one CPU, because the counters of CPUs may differ. */
static void cpu_pin(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) {
        return;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET((size_t)cpu, &set)) {
            CPU_ZERO(&set);
            CPU_SET((size_t)cpu, &set);
            sched_setaffinity(0, sizeof set, &set);
            return;
        }
    }
}

static long scopes_fitting(bench_loop *loop, double ns) {
    loop(PROBE);
    double each = bench_ns_each(loop, PROBE);
    if (each < 0.1) {
        each = 0.1;
    }
    return (long)(ns / each) + 1;
}

int main(int argc, char **argv) {
    static double floors[MAX_REPETITIONS], scopes[MAX_REPETITIONS];
    if (argc != 3) {
        fputs("usage: compare_LIBRARY REPETITIONS MICROSECONDS-OF-EACH\n", stderr);
        return 2;
    }
    long repetitions = strtol(argv[1], NULL, 10);
    double ns = 1000 * strtod(argv[2], NULL);
    if (repetitions < 1 || repetitions > MAX_REPETITIONS || !(ns >= 1 && ns <= 1e9)) {
        fprintf(stderr, "%s: expected 1 to %d repetitions of up to a second\n", argv[0],
                MAX_REPETITIONS);
        return 2;
    }
    cpu_pin();
    compare_begin();
    long floor_n = scopes_fitting(bench_floor_loop, ns), n = scopes_fitting(compare_loop, ns);
    for (long r = 0; r < repetitions; ++r) {
        floors[r] = bench_ns_each(bench_floor_loop, floor_n);
        scopes[r] = bench_ns_each(compare_loop, n);
    }
    for (long r = 0; r < repetitions; ++r) {
        printf("time %.3f %.3f\n", floors[r], scopes[r]);
    }
    printf("recording %d\n", compare_recording());
    return 0;
}
