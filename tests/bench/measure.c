/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - The floor (two unfenced clock reads and a store) is measured right before every repetition of
 *   every variant, in the same thread: the machine's clock speed and its other users change from
 *   one second to the next, much less within 10 ms. Ratios are formed pair by pair.
 * - The variants take turns, one repetition each.
 * - Every scope that runs is counted here too, and compared with what stint counted at the end.
 */
#include "bench.h"
#include "floor.h"
#include "kernel.h"
#include "many.h"

#include <pthread.h>
#include <sched.h>

#include <stint/stint.h>

#define REPETITION_NS 5e6 /* long against reading the CPU time, 200 ns */
#define REPETITIONS 21
#define UNIT 64 /* loops take multiples of it */
#define QUICK_REPETITIONS 3
#define QUICK_SCOPES (4 * UNIT)

#define VARIANT(id) kernel_##id,
static const struct kernel *(*const variants[])(void) = {KERNEL_VARIANTS(VARIANT)};
#define VARIANT_COUNT (sizeof variants / sizeof variants[0])

#define CASE(id, names) {#id, names},
static const struct {
    const char *id;
    unsigned names;
} cases[] = {KERNEL_CASES(CASE)};

struct body bench_body = {.state = 1};

static int quick, repetitions;
static FILE *out;
static int cpus[2] = {-1, -1};
static uint64_t ran[VARIANT_COUNT][CASE_COUNT];

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

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0) {
        CPU_SET((size_t)cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
}

static __attribute__((noinline)) void body_plain(long n) {
    for (long i = 0; i < n; ++i) {
        body_work();
    }
}

static __attribute__((noinline)) void body_floor(long n) {
    volatile uint64_t sink = 0;
    for (long i = 0; i < n; ++i) {
        uint64_t start = STINT_IMPL_TICKS();
        body_work();
        sink = STINT_IMPL_TICKS() - start;
    }
    (void)sink;
}

/* Returns how many scopes fill a repetition. It runs some scopes to find out, and adds their number
 * to *runs. */
static long scopes_for(kernel_loop *loop, uint64_t *runs) {
    long probe = quick ? UNIT : 64 * UNIT;
    loop(probe);
    double each = bench_ns_each(loop, probe);
    *runs += 2 * (uint64_t)probe;
    long fit = (long)(REPETITION_NS / (each > 0.1 ? each : 0.1)) / UNIT * UNIT;
    return quick ? QUICK_SCOPES : fit + UNIT;
}

static void emit(const char *row, const char *kernel, int thread, int repetition, double reference,
                 double value) {
    fprintf(out, "time %s %s %d %d %.3f %.3f\n", row, kernel, thread, repetition, reference, value);
}

static uint64_t calls_of(const char *prefix, unsigned names, const char *number) {
    uint64_t calls = 0;
    for (unsigned i = 0; i < names; ++i) {
        char format[16], name[64];
        stint_stat stat;
        snprintf(format, sizeof format, "%%s.%s", number);
        snprintf(name, sizeof name, format, prefix, i);
        if (!stint_stat_get(name, &stat, sizeof stat)) {
            calls += stat.calls;
        }
    }
    return calls;
}

static void emit_counts(void) {
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        for (int c = 0; c < CASE_COUNT; ++c) {
            char prefix[32];
            const char *id = variants[v]()->id;
            snprintf(prefix, sizeof prefix, "%s.%s", id, cases[c].id);
            fprintf(out, "count %s %s %llu %llu\n", cases[c].id, id, (unsigned long long)ran[v][c],
                    (unsigned long long)calls_of(prefix, cases[c].names, "%02o"));
        }
    }
}

/* A loop for all variants against one reference. */
static void measure_row(const char *row, enum kernel_case which, kernel_loop *reference) {
    long n[VARIANT_COUNT];
    uint64_t ignored = 0;
    long reference_n = scopes_for(reference, &ignored);
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        n[v] = scopes_for(variants[v]()->run[which], &ran[v][which]);
    }
    for (int r = 0; r < repetitions; ++r) {
        for (size_t v = 0; v < VARIANT_COUNT; ++v) {
            double against = bench_ns_each(reference, reference_n);
            emit(row, variants[v]()->id, 0, r, against,
                 bench_ns_each(variants[v]()->run[which], n[v]));
            ran[v][which] += (uint64_t)n[v];
        }
    }
}

static void measure_off(void) {
    uint64_t before[VARIANT_COUNT];
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        before[v] = ran[v][CASE_one];
    }
    stint_timers_enable(0);
    measure_row("off", CASE_one, bench_floor_loop);
    stint_timers_enable(1);
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        ran[v][CASE_one] = before[v];
    }
}

/* Runs on a thread that starts when all timers are off, so that it has no recorder. */
static void *off_work(void *unused) {
    pin(cpus[0]);
    measure_row("off_thread", CASE_one, bench_floor_loop);
    return unused;
}

static void measure_off_thread(void) {
    pthread_t thread;
    uint64_t before[VARIANT_COUNT];
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        before[v] = ran[v][CASE_one];
        variants[v]()->run[CASE_one](UNIT);
        before[v] += UNIT;
    }
    stint_timers_enable(0);
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        variants[v]()->run[CASE_one](UNIT); /* the sites have been seen off */
    }
    if (!pthread_create(&thread, NULL, off_work, NULL)) {
        pthread_join(thread, NULL);
    }
    stint_timers_enable(1);
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        ran[v][CASE_one] = before[v];
    }
}

static void measure_body_floor(void) {
    uint64_t ignored = 0;
    long plain_n = scopes_for(body_plain, &ignored), n = scopes_for(body_floor, &ignored);
    for (int r = 0; r < repetitions; ++r) {
        double plain = bench_ns_each(body_plain, plain_n);
        emit("body_floor", "all", 0, r, plain, bench_ns_each(body_floor, n));
    }
}

/* ---- Two threads on one site -------------------------------------------------------------------
 */

struct pair {
    pthread_barrier_t barrier;
    kernel_loop *loop;
    long n, floor_n;
};

struct worker {
    struct pair *pair;
    int index;
    double reference[REPETITIONS], value[REPETITIONS];
};

static void *work(void *argument) {
    struct worker *w = argument;
    struct pair *p = w->pair;
    pin(cpus[w->index]);
    p->loop(UNIT);
    for (int r = 0; r < repetitions; ++r) {
        pthread_barrier_wait(&p->barrier);
        w->reference[r] = bench_ns_each(bench_floor_loop, p->floor_n);
        pthread_barrier_wait(&p->barrier);
        w->value[r] = bench_ns_each(p->loop, p->n);
    }
    return NULL;
}

static int measure_pair(struct pair *p, size_t v) {
    static struct worker w[2];
    pthread_t thread[2];
    pthread_barrier_init(&p->barrier, NULL, 2);
    for (int i = 0; i < 2; ++i) {
        w[i].pair = p;
        w[i].index = i;
        if (pthread_create(&thread[i], NULL, work, &w[i])) {
            return -1; /* the row will be missing; a first thread waits and ends with the process */
        }
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(thread[i], NULL);
        for (int r = 0; r < repetitions; ++r) {
            emit("threads", variants[v]()->id, i, r, w[i].reference[r], w[i].value[r]);
        }
    }
    ran[v][CASE_one] += 2 * (uint64_t)(UNIT + p->n * repetitions);
    pthread_barrier_destroy(&p->barrier);
    return 0;
}

static void measure_threads(void) {
    uint64_t ignored = 0;
    struct pair p = {.floor_n = scopes_for(bench_floor_loop, &ignored)};
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        p.loop = variants[v]()->run[CASE_one];
        p.n = scopes_for(p.loop, &ran[v][CASE_one]);
        if (measure_pair(&p, v)) {
            return;
        }
    }
}

/* ---- Code, and the program of 300 functions ----------------------------------------------------
 */

static void emit_bytes(void) {
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        emit("bytes", variants[v]()->id, 0, 0, 1, variants[v]()->scope_bytes);
    }
}

static uint64_t many_result;

static double many_ns(uint64_t (*run)(long), long passes) {
    double start = bench_now_ns();
    many_result += run(passes);
    return (bench_now_ns() - start) / (double)(passes * MANY_SCOPES);
}

/* Measures two programs with many scopes against the same program without timers. */
static void measure_many(void) {
    static const struct {
        const char *id;
        uint64_t (*run)(long);
        size_t (*bytes)(void);
    } programs[] = {{"exe1", many_run_1, many_bytes_1}, {"exe2", many_run_2, many_bytes_2}};
    long passes = quick ? 2 : (long)(REPETITION_NS / MANY_SCOPES / many_ns(many_run_9, 20)) + 1;
    uint64_t scopes = 0;
    for (int r = -1; r < repetitions; ++r) { /* -1: nodes are made, caches filled */
        for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
            double off = many_ns(many_run_9, passes), on = many_ns(programs[i].run, passes);
            scopes += (uint64_t)(passes * MANY_SCOPES);
            if (r >= 0) {
                emit("many", programs[i].id, 0, r, off, on);
            }
        }
    }
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; ++i) {
        emit("many_bytes", programs[i].id, 0, 0, (double)many_bytes_9(),
             (double)programs[i].bytes());
    }
    fprintf(out, "count many all %llu %llu\n", (unsigned long long)scopes,
            (unsigned long long)calls_of("many", 300, "%03d"));
}

void measure(int config, int only_quick, FILE *to) {
    quick = only_quick;
    repetitions = quick ? QUICK_REPETITIONS : REPETITIONS;
    out = to;
    for (uint32_t i = 0; i < BODY_WORDS; ++i) {
        bench_body.table[i] = i * 2654435761u;
    }
    cpus_find();
    pin(cpus[0]);
    measure_row("one", CASE_one, bench_floor_loop);
    if (config > 1) {
        measure_row("nested", CASE_nested, bench_floor_loop);
        if (config == 2 && cpus[1] >= 0) {
            measure_threads();
        }
        measure_body_floor();
        measure_row("body", CASE_body, body_plain);
        emit_counts();
        return;
    }
    if (config) {
        measure_off();
        measure_off_thread();
        for (int c = CASE_one + 1; c < CASE_body; ++c) {
            measure_row(cases[c].id, (enum kernel_case)c, bench_floor_loop);
        }
        if (cpus[1] >= 0) {
            measure_threads();
        }
        emit_bytes();
    }
    measure_body_floor();
    measure_row("body", CASE_body, body_plain);
    measure_many();
    emit_counts();
}
