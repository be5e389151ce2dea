/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the cost of a measured call with STINT_RUSAGE=1, and with the software counters of
 * STINT_COUNTERS, against the system calls that it makes. On the fake clock every call is long
 * enough to be measured. usage_bench [calls]: few calls check that it runs, and the numbers mean
 * little. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "counters/perf.h"
#include "counters/perf_abi.h"
#include "stint/stint.h"

#define ROUNDS 21

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void usage_calls(void) {
    struct rusage usage;
    struct timespec cpu;
    getrusage(RUSAGE_THREAD, &usage);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
}

static struct perf_group group;

static void counter_calls(void) {
    uint64_t data[3 + COUNTER_EVENTS], id;
    if (perf_kernel.get_id(group.event[0].fd, &id) ||
        read(group.event[0].fd, data, sizeof data) <= 0) {
        abort();
    }
}

static double calls_ns(long n, void (*calls)(void)) {
    double from = now_ns();
    for (long i = 0; i < n; ++i) {
        calls(); /* at the begin */
        calls(); /* and at the end */
    }
    return (now_ns() - from) / (double)n;
}

static double scopes_ns(long n) {
    double from = now_ns();
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER("measured");
    }
    return (now_ns() - from) / (double)n;
}

static int is_less(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_one(const char *variable, const char *value, long n) {
    double ratios[ROUNDS], bare[ROUNDS];
    void (*calls)(void) = usage_calls;
    if (!strcmp(variable, "STINT_COUNTERS")) {
        calls = counter_calls;
        if (perf_open(&group, COUNTER_GROUP_SOFTWARE)) {
            printf("%-24s not measured: no software counters here\n", variable);
            return;
        }
    }
    setenv(variable, value, 1);
    scopes_ns(10);
    for (int i = 0; i < ROUNDS; ++i) { /* pairs: the machine's speed changes */
        bare[i] = calls_ns(n, calls);
        ratios[i] = scopes_ns(n) / bare[i];
    }
    qsort(ratios, ROUNDS, sizeof *ratios, is_less);
    qsort(bare, ROUNDS, sizeof *bare, is_less);
    printf("%-24s %.2f of its system calls (%.2f to %.2f), which take %.0f ns\n", variable,
           ratios[ROUNDS / 2], ratios[ROUNDS / 4], ratios[ROUNDS * 3 / 4], bare[ROUNDS / 2]);
}

/* Each in a process of its own, as settings are read once. */
int main(int argc, char **argv) {
    static const char *const variables[][2] = {{"STINT_RUSAGE", "1"},
                                               {"STINT_COUNTERS", "page-faults"}};
    long n = argc > 1 ? atol(argv[1]) : 20000;
    for (int i = 0; i < 2; ++i) {
        int status = -1;
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            measure_one(variables[i][0], variables[i][1], n);
            fflush(stdout);
            _exit(0);
        }
        if (waitpid(child, &status, 0) != child || status) {
            return 1;
        }
    }
    return 0;
}
