/* SPDX-License-Identifier: Apache-2.0 */
/*
 * activity_bench [RECORDS]: what a record of a tracer costs (default: 10^6 of each kind), and
 * noting a launch: in nanoseconds of CPU time and as a ratio to two clock reads and a store, best
 * of five. Kernels have names as the compiler mangles them, 64 of them with 40 to 300 bytes, on two
 * streams, in 16 scopes. The clock of the library is the tests' here: it costs nothing, so that a
 * launch costs a clock read more than is said.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "activity/activity.h"
#include "fake_clock.h"
#include "stint/stint.h"

#define ROUNDS 5
#define NAMES 64u
#define BATCH 64u

static char names[NAMES][320];
static uint32_t correlation;
static uint64_t records;
static uint64_t at;

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t counter(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t v;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
    return v;
#endif
}

static void floor_loop(void) {
    volatile uint64_t sink = 0;
    for (uint64_t i = 0; i < records; ++i) {
        uint64_t start = counter();
        __asm__ volatile("");
        sink = counter() - start;
    }
    (void)sink;
}

static void make_names(void) {
    for (uint32_t i = 0; i < NAMES; ++i) {
        int n = snprintf(names[i], sizeof names[i], "_Z%ukernel_number_%02u", 16 + i % 2, i);
        size_t want = 40 + i * 260 / NAMES;
        memset(names[i] + n, 'x', want - (size_t)n);
        names[i][want] = '\0';
    }
}

static struct activity_record next_kernel(uint64_t i) {
    at += 1000;
    return (struct activity_record){.kind = ACTIVITY_KERNEL,
                                    .correlation = correlation - (uint32_t)(i % 16),
                                    .context = 1,
                                    .stream = 7 + (uint32_t)(i % 2),
                                    .start = at,
                                    .end = at + 800,
                                    .name = names[i % NAMES],
                                    .grid = {132, 1, 1},
                                    .block = {256, 1, 1}};
}

static struct activity_record next_call(uint64_t i) {
    return (struct activity_record){.kind = ACTIVITY_API,
                                    .correlation = correlation - (uint32_t)(i % 16),
                                    .device = ACTIVITY_NO_DEVICE,
                                    .start = at + 1000 + i % 1000,
                                    .end = at + 1300 + i % 1000,
                                    .thread = 1,
                                    .name = "cudaLaunchKernel"};
}

static void add_all(struct activity_record (*next)(uint64_t i)) {
    fake_now = FAKE_START + at + 10000 * records;
    for (uint64_t i = 0; i < records;) {
        activity_begin();
        for (uint32_t k = 0; k < BATCH && i < records; ++k, ++i) {
            struct activity_record r = next(i);
            activity_add(&r);
        }
        activity_end();
    }
}

static void add_kernels(void) {
    add_all(next_kernel);
}

static void add_calls(void) {
    add_all(next_call);
}

static void launch(void) {
    for (uint64_t i = 0; i < records; ++i) {
        activity_launch(++correlation);
    }
}

static double best_of(void (*run)(void)) {
    double best = 1e300;
    for (int i = 0; i < ROUNDS; ++i) {
        double start = now_ns();
        run();
        double took = (now_ns() - start) / (double)records;
        best = took < best ? took : best;
    }
    return best;
}

static void show(const char *what, void (*run)(void)) {
    double least = best_of(floor_loop), took = best_of(run);
    printf("  %-14s %6.1f ns, %5.1f times the floor\n", what, took, took / least);
}

static void open_scopes(unsigned depth) {
    char name[16];
    snprintf(name, sizeof name, "scope%u", depth);
    REGISTER_TIMER_DYNAMIC(name);
    activity_launch(++correlation);
    if (depth < 15) {
        open_scopes(depth + 1);
    } else {
        show("kernel", add_kernels);
        show("API call", add_calls);
        show("launch", launch);
    }
}

static int measure(const char *title, const char *variable, const char *value) {
    int status = 1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        setenv(variable, value, 1);
        if (activity_open()) {
            _exit(1);
        }
        printf("%s\n", title);
        at = 1;
        open_scopes(0);
        fflush(stdout);
        _exit(0);
    }
    return child < 0 || waitpid(child, &status, 0) != child || status;
}

int main(int argc, char **argv) {
    records = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    make_names();
    int failed = !records || measure("default", "STINT_LEVEL", "0") ||
                 measure("with a trace of 64 MiB", "STINT_TRACE", "64M") ||
                 measure("without percentiles", "STINT_PERCENTILES", "0");
    if (failed) {
        fputs("activity_bench: no memory, or no records\n", stderr);
    }
    return failed;
}
