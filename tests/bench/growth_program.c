/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures a scope against their number: `growth_program depth|sites|threads N` prints the CPU time
 * of a scope and of the floor, in ns. depth: N different scopes inside each other. sites: N scopes
 * one after the other, from one call place. threads: one scope on N threads at a time. growth.py
 * runs it. The first calls of a node, which take the slow path, are not measured.
 */
#include "floor.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stint/stint.h>

#define SITES_MAX 100000
#define THREADS_MAX 256
#define WARM_UPS 40 /* more than the calls of a node that are kept one by one */
#define REPETITIONS 9
#define SCOPES 100000 /* of a repetition, at least */

static struct stint_impl_site sites[SITES_MAX];
static char names[SITES_MAX][16];
static int count;

static void scope_at(struct stint_impl_site *site) {
    stint_impl_opened guard __attribute__((cleanup(stint_impl_end)));
    guard = stint_impl_begin(&guard, site, 0);
    __asm__ volatile("");
}

static void run_sites(long n) {
    for (long done = 0; done < n; done += count) {
        for (int i = 0; i < count; ++i) {
            scope_at(&sites[i]);
        }
    }
}

static __attribute__((noinline)) void nest(int depth) {
    stint_impl_opened guard __attribute__((cleanup(stint_impl_end)));
    guard = stint_impl_begin(&guard, &sites[depth], 0);
    if (depth + 1 < count) {
        nest(depth + 1);
    }
    __asm__ volatile("");
}

static void run_depth(long n) {
    for (long done = 0; done < n; done += count) {
        nest(0);
    }
}

/* The least of the repetitions. */
static double measure(bench_loop *loop) {
    double least = 1e18;
    long n = (SCOPES + count - 1) / count * count;
    for (int i = 0; i < WARM_UPS; ++i) {
        loop(count);
    }
    for (int i = 0; i < REPETITIONS; ++i) {
        double ns = bench_ns_each(loop, n);
        if (ns < least) {
            least = ns;
        }
    }
    return least;
}

static void *thread_work(void *result) {
    *(double *)result = measure(run_sites);
    return NULL;
}

/* The mean of the threads. */
static double measure_threads(int threads) {
    static pthread_t thread[THREADS_MAX];
    static double each[THREADS_MAX];
    double sum = 0;
    count = 1;
    for (int i = 0; i < threads; ++i) {
        if (pthread_create(&thread[i], NULL, thread_work, &each[i])) {
            fputs("growth_program: cannot start a thread\n", stderr);
            exit(1);
        }
    }
    for (int i = 0; i < threads; ++i) {
        pthread_join(thread[i], NULL);
        sum += each[i] / threads;
    }
    return sum;
}

int main(int argc, char **argv) {
    const char *what = argc == 3 ? argv[1] : "";
    int is_depth = !strcmp(what, "depth"), is_threads = !strcmp(what, "threads");
    count = argc == 3 ? atoi(argv[2]) : 0;
    if ((!is_depth && !is_threads && strcmp(what, "sites")) || count < 1 || count > SITES_MAX ||
        (is_threads && count > THREADS_MAX)) {
        fputs("usage: growth_program depth|sites|threads N\n", stderr);
        return 2;
    }
    for (int i = 0; i < SITES_MAX; ++i) {
        snprintf(names[i], sizeof names[i], "site %d", i);
        sites[i] = (struct stint_impl_site){names[i], "growth_program.c", "", 1, 0, 0, 0, 0};
    }
    double ns = 0;
    if (is_threads) {
        ns = measure_threads(count);
    } else {
        ns = measure(is_depth ? run_depth : run_sites);
    }
    count = 1;
    printf("%.3f %.3f\n", ns, measure(bench_floor_loop));
    return 0;
}
