/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what a scope costs where the processor is not at its best: `busy_bench [SECONDS]`.
 * - Where the topology shows another logical CPU of the same core, a thread on it is busy with
 *   additions, which need the execution units: the column "busy sibling".
 * - Virtual machines show no siblings, but other guests may be busy on them. So before and after
 *   each repetition a loop of independent additions is timed. Where it is slower than usual, the
 *   processor was shared: "disturbed". The repetitions of each state have quartiles of their own.
 * Each figure is formed from a repetition and one of its reference right before it, in the same
 * thread, in CPU time. Settings are read once per process, so each has a process: this program
 * again. The figures are no test.
 */
#include "floor.h"
#include "kernel.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stint/stint.h>

#define SCOPES 8000L /* of a repetition: 0.15 ms, which is short against the states */
#define PROBES 20000L
#define REPETITIONS_MAX 200000u
#define QUIET 1.02     /* times the usual time of the additions, at most */
#define DISTURBED 1.08 /* at least */
#define UNITS_ROUNDS 37

#define APART __attribute__((noinline))

struct body bench_body = {.state = 1};

/* ---- Loops. */

/* Additions and exclusive ors that do not depend on each other: they take all execution units. */
static inline uint64_t units_work(uint64_t x) {
    uint64_t a = x, b = x, c = x, d = x, e = x, f = x, g = x, h = x;
    for (int i = 0; i < UNITS_ROUNDS; ++i) {
        a += 3;
        b ^= 5;
        c += 7;
        d ^= 9;
        e += 11;
        f ^= 13;
        g += 15;
        h ^= 17;
        __asm__ volatile(""
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
    return a + b + c + d + e + f + g + h;
}

static volatile uint64_t sink;

APART static void units_plain(long n) {
    for (long i = 0; i < n; ++i) {
        sink = units_work((uint64_t)i);
    }
}

APART static void units_floor(long n) {
    for (long i = 0; i < n; ++i) {
        uint64_t start = STINT_IMPL_TICKS();
        sink = units_work((uint64_t)i);
        sink = STINT_IMPL_TICKS() - start;
    }
}

APART static void units_scope(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER("units");
        sink = units_work((uint64_t)i);
    }
}

APART static void latency_plain(long n) {
    for (long i = 0; i < n; ++i) {
        body_work();
    }
}

APART static void latency_floor(long n) {
    for (long i = 0; i < n; ++i) {
        uint64_t start = STINT_IMPL_TICKS();
        body_work();
        sink = STINT_IMPL_TICKS() - start;
    }
}

APART static void latency_scope(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER("latency");
        body_work();
    }
}

APART static void run_one(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER("one");
        __asm__ volatile("");
    }
}

APART static void nested_3(void) {
    REGISTER_TIMER("nested 3");
    __asm__ volatile("");
}
APART static void nested_2(void) {
    REGISTER_TIMER("nested 2");
    nested_3();
    __asm__ volatile("");
}
APART static void nested_1(void) {
    REGISTER_TIMER("nested 1");
    nested_2();
    __asm__ volatile("");
}
static void run_nested(long n) {
    for (long i = 0; i < n; i += 4) {
        REGISTER_TIMER("nested 0");
        nested_1();
    }
}

static volatile int deepest = 7;

APART static void recurse(int depth) {
    REGISTER_TIMER("recursion");
    if (depth < deepest) {
        recurse(depth + 1);
    }
    __asm__ volatile("");
}
static void run_recursion(long n) {
    for (long i = 0; i < n; i += 8) {
        recurse(0);
    }
}

/* ---- What is measured. */

enum figure { RATIO, ADDED_NS };

struct row {
    const char *title;
    int setting;
    bench_loop *reference, *loop;
    enum figure figure;
    int threads;
};

static const struct {
    const char *percentiles, *trace, *enable;
} settings[] = {{"1", "0", "0"}, {"0", "0", "1"}, {"1", "0", "1"}, {"1", "16M,touch", "1"}};
#define SETTINGS ((int)(sizeof settings / sizeof *settings))

static const struct row rows[] = {
    {"off", 0, bench_floor_loop, run_one, RATIO, 1},
    {"call tree", 1, bench_floor_loop, run_one, RATIO, 1},
    {"call tree, nested 4 deep", 1, bench_floor_loop, run_nested, RATIO, 1},
    {"+ percentiles (the default)", 2, bench_floor_loop, run_one, RATIO, 1},
    {"nested 4 deep", 2, bench_floor_loop, run_nested, RATIO, 1},
    {"recursion, 8 deep", 2, bench_floor_loop, run_recursion, RATIO, 1},
    {"2 threads on one site", 2, bench_floor_loop, run_one, RATIO, 2},
    {"latency-bound body: floor, + ns", 2, latency_plain, latency_floor, ADDED_NS, 1},
    {"latency-bound body: scope, + ns", 2, latency_plain, latency_scope, ADDED_NS, 1},
    {"execution-bound: floor, + ns", 2, units_plain, units_floor, ADDED_NS, 1},
    {"execution-bound: scope, + ns", 2, units_plain, units_scope, ADDED_NS, 1},
    {"+ trace ring", 3, bench_floor_loop, run_one, RATIO, 1},
    {"+ trace ring, nested 4 deep", 3, bench_floor_loop, run_nested, RATIO, 1},
    {"+ trace ring, 2 threads", 3, bench_floor_loop, run_one, RATIO, 2},
};
#define ROWS (sizeof rows / sizeof *rows)

/* ---- CPUs. */

/* cpu: the one that measures; other, sibling: -1 if there is none. */
static struct { int cpu, other, sibling; } cpus = {-1, -1, -1};

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* A list as "0,8" or "0-1"; returns an allowed CPU of it that is not `cpu`, or -1. */
static int find_sibling(int cpu, const cpu_set_t *allowed) {
    char name[96];
    int first, last, found = -1;
    snprintf(name, sizeof name, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *list = fopen(name, "r");
    while (list && found < 0 && fscanf(list, "%d", &first) == 1) {
        last = first;
        if (fscanf(list, "-%d", &last) != 1) {
            last = first;
        }
        for (int at = first; at <= last && at < CPU_SETSIZE && found < 0; ++at) {
            if (at != cpu && CPU_ISSET((size_t)at, allowed)) {
                found = at;
            }
        }
        if (fgetc(list) != ',') {
            break;
        }
    }
    if (list) {
        fclose(list);
    }
    return found;
}

static void cpus_find(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set)) {
        return;
    }
    for (int at = 0; at < CPU_SETSIZE; ++at) {
        if (!CPU_ISSET((size_t)at, &set)) {
            continue;
        }
        if (cpus.cpu < 0) {
            cpus.cpu = at;
            cpus.sibling = find_sibling(at, &set);
        } else if (cpus.other < 0 && at != cpus.sibling) {
            cpus.other = at;
        }
    }
}

/* ---- A second thread. */

static struct {
    pthread_t thread;
    bench_loop *loop;
    int cpu;
    int end; /* atomic */
} partner;

static void *partner_work(void *unused) {
    pin(partner.cpu);
    while (!__atomic_load_n(&partner.end, __ATOMIC_RELAXED)) {
        partner.loop(SCOPES);
    }
    return unused;
}

static int partner_start(int cpu, bench_loop *loop) {
    partner.cpu = cpu;
    partner.loop = loop;
    partner.end = 0;
    return pthread_create(&partner.thread, NULL, partner_work, NULL);
}

static void partner_end(void) {
    __atomic_store_n(&partner.end, 1, __ATOMIC_RELAXED);
    pthread_join(partner.thread, NULL);
}

/* ---- Repetitions. */

static struct {
    double figure[REPETITIONS_MAX];
    double probe[REPETITIONS_MAX]; /* the slower one of those before and after it */
    double sorted[REPETITIONS_MAX];
    uint32_t count;
} all;

static double seconds = 2; /* of each row */

static double probe_ns(void) {
    return bench_ns_each(units_plain, PROBES / UNITS_ROUNDS);
}

static void collect(const struct row *r) {
    double since = bench_now_ns();
    r->loop(SCOPES);
    all.count = 0;
    while (all.count < REPETITIONS_MAX && bench_now_ns() - since < seconds * 1e9) {
        double before = probe_ns();
        double reference = bench_ns_each(r->reference, SCOPES);
        double value = bench_ns_each(r->loop, SCOPES);
        double after = probe_ns();
        all.probe[all.count] = before > after ? before : after;
        all.figure[all.count++] = r->figure == RATIO ? value / reference : value - reference;
    }
}

static int compare_numbers(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The repetitions whose probe is in these limits. */
static void print_quartiles(double from, double to) {
    uint32_t n = 0;
    char text[64];
    for (uint32_t i = 0; i < all.count; ++i) {
        if (all.probe[i] >= from && all.probe[i] <= to) {
            all.sorted[n++] = all.figure[i];
        }
    }
    if (!n) {
        printf(" %26s", "none");
        return;
    }
    qsort(all.sorted, n, sizeof *all.sorted, compare_numbers);
    snprintf(text, sizeof text, "%.2f [%.2f .. %.2f] %u", all.sorted[n / 2], all.sorted[n / 4],
             all.sorted[n - 1 - n / 4], n);
    printf(" %26s", text);
}

static double find_usual_probe(void) {
    memcpy(all.sorted, all.probe, all.count * sizeof *all.sorted);
    qsort(all.sorted, all.count, sizeof *all.sorted, compare_numbers);
    return all.sorted[all.count / 10];
}

static void measure_busy_sibling(const struct row *r) {
    if (cpus.sibling < 0) {
        printf(" %26s\n", "no sibling shown");
        return;
    }
    if (r->threads > 1 || partner_start(cpus.sibling, units_plain)) {
        printf(" %26s\n", "not measured");
        return;
    }
    collect(r);
    partner_end();
    print_quartiles(0, 1e9);
    printf("\n");
}

static void measure_one_row(const struct row *r) {
    printf("%-32s", r->title);
    if (r->threads > 1 && (cpus.other < 0 || partner_start(cpus.other, r->loop))) {
        printf(" needs two CPUs\n");
        return;
    }
    collect(r);
    if (r->threads > 1) {
        partner_end();
    }
    double usual = find_usual_probe();
    print_quartiles(0, QUIET * usual);
    print_quartiles(DISTURBED * usual, 1e9);
    measure_busy_sibling(r);
    fflush(stdout);
}

static void measure_setting(int setting) {
    for (uint32_t i = 0; i < BODY_WORDS; ++i) {
        bench_body.table[i] = i * 2654435761u;
    }
    pin(cpus.cpu);
    for (size_t i = 0; i < ROWS; ++i) {
        if (rows[i].setting == setting) {
            measure_one_row(&rows[i]);
        }
    }
}

/* The exit status of this program, run again with a setting. */
static int run_setting(int setting, char *duration) {
    char number[2] = {(char)('0' + setting), 0};
    char *arguments[] = {"busy_bench", duration, number, NULL};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setenv("STINT_REPORT", "none", 1);
        setenv("STINT_PERCENTILES", settings[setting].percentiles, 1);
        setenv("STINT_TRACE", settings[setting].trace, 1);
        setenv("STINT_ENABLE", settings[setting].enable, 1);
        execv("/proc/self/exe", arguments);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) {
        fprintf(stderr, "busy_bench: %s\n", strerror(errno));
        return 1;
    }
    return status != 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    if (argc > 1) {
        seconds = atof(argv[1]);
    }
    if (argc > 3 || !(seconds > 0 && seconds < 3600)) {
        fputs("usage: busy_bench [SECONDS]   seconds for each row, 2 by default\n", stderr);
        return 2;
    }
    cpus_find();
    if (cpus.cpu < 0) {
        return 1;
    }
    if (argc == 3) {
        measure_setting(atoi(argv[2]));
        return 0;
    }
    printf("a scope as a multiple of the floor, or the ns that it adds to a body: median,\n"
           "quartiles, repetitions\n%-32s %26s %26s %26s\n",
           "", "quiet", "disturbed", "busy sibling");
    fflush(stdout);
    for (int setting = 0; setting < SETTINGS; ++setting) {
        failed |= run_setting(setting, argc > 1 ? argv[1] : "2");
    }
    return failed;
}
