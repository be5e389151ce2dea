/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a range of each interface that libstint-ranges.so records, as a multiple of a scope
 * with a name made at run time, in CPU time of the thread: the lowest of the rounds of each in
 * turn.
 *
 *     ranges_bench LIBRARY [ROUNDS]
 *     ranges_bench LIBRARY count
 *
 * The second form runs them, inside another range, for tests/bench/beside.py, which counts their
 * instructions under callgrind. The program calls the library as the static part of ITT, Kokkos, an
 * OpenMP runtime and a program of roctx do. The numbers are no test, as they depend on the machine.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/itt.h"
#include "adapters/ompt.h"
#include "bench/counted.h"
#include "stint/stint.h"

#define RANGES 20000
#define ROUNDS 201
#define NAMES 64

static char names[NAMES][32];
static int (*roctx_push)(const char *);
static int (*roctx_pop)(void);
static void (*kokkos_begin)(const char *, uint32_t, uint64_t *);
static void (*kokkos_end)(uint64_t);
static void (*fence_begin)(const char *, uint32_t, uint64_t *);
static void (*fence_end)(uint64_t);
static struct itt_domain *(*domain_create)(const char *);
static struct itt_string *(*string_create)(const char *);
static void (*task_begin)(const struct itt_domain *, struct itt_id, struct itt_id,
                          struct itt_string *);
static void (*task_end)(const struct itt_domain *);
static void (*omp_work)(int, int, union ompt_data *, union ompt_data *, uint64_t, const void *);

static double thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- The functions of the library. */

static void find(void *library, const char *name, void *pointer) {
    void *symbol = dlsym(library, name);
    if (!symbol) {
        printf("no %s\n", name);
        exit(1);
    }
    memcpy(pointer, &symbol, sizeof symbol);
}

static void find_itt(void *library) {
    void (*init)(struct itt_global *, int) = NULL;
    static struct itt_api list[] = {
        {"__itt_domain_create", (void **)(void *)&domain_create, NULL, NULL, 0},
        {"__itt_string_handle_create", (void **)(void *)&string_create, NULL, NULL, 0},
        {"__itt_task_begin", (void **)(void *)&task_begin, NULL, NULL, 0},
        {"__itt_task_end", (void **)(void *)&task_end, NULL, NULL, 0},
        {NULL, NULL, NULL, NULL, 0}};
    static struct itt_global global;
    global.api_list = list;
    find(library, "__itt_api_init", &init);
    init(&global, -1);
}

#define OMPT_WORK 20 /* of ompt_callbacks_t */

static int set_callback(int number, ompt_function function) {
    if (number == OMPT_WORK) {
        memcpy(&omp_work, &function, sizeof omp_work);
    }
    return 0;
}

static ompt_function look_up(const char *name) {
    return strcmp(name, "ompt_set_callback") ? NULL : (ompt_function)(void (*)(void))set_callback;
}

static void find_ompt(void *library) {
    struct ompt_tool *(*start)(unsigned, const char *) = NULL;
    find(library, "ompt_start_tool", &start);
    struct ompt_tool *tool = start(201811, "bench");
    if (!tool || !tool->initialize(look_up, 0, &tool->tool) || !omp_work) {
        puts("the library has no tool for OpenMP");
        exit(1);
    }
}

/* ---- What is measured. */

static void run_scopes(long n) {
    for (long i = 0; i < n; ++i) {
        STINT_TIMER_DYNAMIC((const char *)names[i % NAMES]);
    }
}

static void run_roctx(long n) {
    for (long i = 0; i < n; ++i) {
        roctx_push(names[i % NAMES]);
        roctx_pop();
    }
}

static void run_literals(long n) {
    for (long i = 0; i < n; ++i) {
        roctx_push(i % 2 ? "bench.ranges.odd" : "bench.ranges.even");
        roctx_pop();
    }
}

static void run_kokkos(long n) {
    uint64_t id;
    for (long i = 0; i < n; ++i) {
        kokkos_begin(names[i % NAMES], 0, &id);
        kokkos_end(id);
    }
}

static void run_fences(long n) {
    uint64_t id;
    for (long i = 0; i < n; ++i) {
        fence_begin(names[i % NAMES], 0, &id);
        fence_end(id);
    }
}

static struct itt_domain *domain;
static struct itt_string *strings[NAMES];

static void run_itt(long n) {
    static const struct itt_id none = {0, 0, 0};
    for (long i = 0; i < n; ++i) {
        task_begin(domain, none, none, strings[i % NAMES]);
        task_end(domain);
    }
}

static void run_ompt(long n) {
    for (long i = 0; i < n; ++i) {
        omp_work(1, OMPT_BEGIN, NULL, NULL, 1, NULL);
        omp_work(1, OMPT_END, NULL, NULL, 1, NULL);
    }
}

static const struct {
    counted_loop *run;
    const char *title, *id;
} kinds[] = {{run_scopes, "STINT_TIMER_DYNAMIC", "dynamic"},
             {run_roctx, "roctx push and pop", "roctx"},
             {run_literals, "roctx, literals", "literal"},
             {run_kokkos, "Kokkos kernel", "kokkos"},
             {run_fences, "Kokkos fence", "fence"},
             {run_itt, "ITT task", "itt"},
             {run_ompt, "OpenMP loop", "ompt"}};
#define KINDS (sizeof kinds / sizeof *kinds)

static void count_kinds(void) {
    compiler_print();
    roctx_push("around");
    for (unsigned k = 0; k < KINDS; ++k) {
        count("ranges", kinds[k].id, kinds[k].run);
    }
    roctx_pop();
}

static int check_calls(uint64_t each) {
    stint_stat s;
    if (stint_stat_get(names[0], &s, sizeof s) || s.calls < 3 * each / NAMES) {
        puts("not all ranges were recorded");
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    double best[KINDS] = {0};
    int rounds = ROUNDS;
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (!library) {
        puts("usage: ranges_bench LIBRARY [ROUNDS|count]");
        return 2;
    }
    if (argc > 2) {
        rounds = strcmp(argv[2], "count") ? atoi(argv[2]) : 0;
    }
    find(library, "roctxRangePushA", &roctx_push);
    find(library, "roctxRangePop", &roctx_pop);
    find(library, "kokkosp_begin_parallel_for", &kokkos_begin);
    find(library, "kokkosp_end_parallel_for", &kokkos_end);
    find(library, "kokkosp_begin_fence", &fence_begin);
    find(library, "kokkosp_end_fence", &fence_end);
    find_itt(library);
    find_ompt(library);
    domain = domain_create("bench");
    for (int i = 0; i < NAMES; ++i) {
        snprintf(names[i], sizeof names[i], "bench.ranges.%03d", i);
        strings[i] = string_create(names[i]);
    }
    if (!rounds) {
        count_kinds();
        return 0;
    }
    for (int round = 0; round < rounds; ++round) {
        for (unsigned k = 0; k < KINDS; ++k) {
            double before = thread_ns();
            kinds[k].run(RANGES);
            double each = (thread_ns() - before) / RANGES;
            if (!round || each < best[k]) {
                best[k] = each;
            }
        }
    }
    for (unsigned k = 0; k < KINDS; ++k) {
        printf("%-20s %6.1f ns  %.2f\n", kinds[k].title, best[k], best[k] / best[0]);
    }
    return check_calls((uint64_t)rounds * RANGES);
}
