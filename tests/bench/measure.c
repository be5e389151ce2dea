/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - The floor (two unfenced clock reads and a store) is measured right before every repetition of
 *   every variant, in the same thread: the machine's clock speed and its other users change from
 *   one second to the next, much less within 10 ms. Ratios are formed per pair.
 * - The variants take turns, one repetition each.
 * - A repetition is REPETITION_NS long: shorter than a scheduler's slice, long against a clock read.
 */
#include "bench.h"
#include "kernel.h"
#include "many.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <stint/stint.h>

#define REPETITION_NS 5e6
#define REPETITIONS 21
#define SCOPES 64 /* loops take multiples of it */
#define QUICK_REPETITIONS 3
#define QUICK_SCOPES (4 * SCOPES)

struct body bench_body = {.state = 1};

static int quick;
static FILE *out;
static int cpus[2] = {-1, -1};

#define VARIANT(id) kernel_##id,
static const struct kernel *(*const variants[])(void) = {KERNEL_VARIANTS(VARIANT)};
#define VARIANT_COUNT (sizeof variants / sizeof variants[0])

#define CASE(id, names) {#id, names},
static const struct {
    const char *id;
    unsigned names;
} cases[] = {KERNEL_CASES(CASE)};

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0) {
        CPU_SET((size_t)cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
}

static void cpus_find(void) {
    cpu_set_t set;
    int found = 0;
    if (sched_getaffinity(0, sizeof set, &set)) {
        return;
    }
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; ++cpu) {
        if (CPU_ISSET((size_t)cpu, &set)) {
            cpus[found++] = cpu;
        }
    }
}

static __attribute__((noinline)) void floor_loop(long n) {
    static volatile uint64_t sink; /* shared by two threads: no other line must be dearer */
    volatile uint64_t *to = &sink;
    volatile uint64_t mine[16];
    to = mine;
    for (long i = 0; i < n; ++i) {
        uint64_t start = STINT_IMPL_TICKS();
        __asm__ volatile("");
        *to = STINT_IMPL_TICKS() - start;
    }
}

static __attribute__((noinline)) void body_plain(long n) {
    for (long i = 0; i < n; ++i) {
        body_work();
    }
}

static __attribute__((noinline)) void body_floor(long n) {
    volatile uint64_t sink;
    for (long i = 0; i < n; ++i) {
        uint64_t start = STINT_IMPL_TICKS();
        body_work();
        sink = STINT_IMPL_TICKS() - start;
    }
    (void)sink;
}

static double ns_each(kernel_loop *loop, long n) {
    double start = now_ns();
    loop(n);
    return (now_ns() - start) / (double)n;
}

/* How many scopes fill a repetition; runs them to find out. *ran grows by what ran. */
static long scopes_for(kernel_loop *loop, uint64_t *ran) {
    long n = quick ? SCOPES : 256 * SCOPES;
    loop(n);
    double each = ns_each(loop, n);
    *ran += 2 * (uint64_t)n;
    long want = (long)(REPETITION_NS / (each > 0.01 ? each : 0.01));
    return quick ? QUICK_SCOPES : want / SCOPES * SCOPES + SCOPES;
}

static void emit(const char *row, const char *kernel, int thread, int repetition, double reference,
                 double value) {
    fprintf(out, "time %s %s %d %d %.4f %.4f\n", row, kernel, thread, repetition, reference, value);
}

static void emit_count(const char *row, const char *kernel, uint64_t ran, unsigned names) {
    uint64_t calls = 0;
    for (unsigned i = 0; i < names; ++i) {
        char name[32];
        stint_stat stat;
        snprintf(name, sizeof name, "%s.%s.%02o", kernel, row, i);
        if (!stint_stat_get(name, &stat)) {
            calls += stat.calls;
        }
    }
    fprintf(out, "count %s %s %llu %llu\n", row, kernel, (unsigned long long)ran,
            (unsigned long long)calls);
}

static int repetitions(void) {
    return quick ? QUICK_REPETITIONS : REPETITIONS;
}

/* One row for all variants. reference: the loop it is compared with. */
static void row_measure(const char *row, enum kernel_case which, kernel_loop *reference) {
    long n[VARIANT_COUNT];
    uint64_t unused = 0;
    long reference_n = scopes_for(reference, &unused);
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        n[v] = scopes_for(variants[v]()->run[which], &unused);
    }
    for (int r = 0; r < repetitions(); ++r) {
        for (size_t v = 0; v < VARIANT_COUNT; ++v) {
            double against = ns_each(reference, reference_n);
            emit(row, variants[v]()->id, 0, r, against,
                 ns_each(variants[v]()->run[which], n[v]));
        }
    }
}

/* The same with one loop for all, e.g. the floor itself. */
static void row_common(const char *row, kernel_loop *loop, kernel_loop *reference) {
    uint64_t unused = 0;
    long reference_n = scopes_for(reference, &unused), n = scopes_for(loop, &unused);
    for (int r = 0; r < repetitions(); ++r) {
        double against = ns_each(reference, reference_n);
        emit(row, "all", 0, r, against, ns_each(loop, n));
    }
}
