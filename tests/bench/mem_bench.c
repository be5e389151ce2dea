/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the time that libstint-mem.so adds to malloc and free of 64 bytes in a scope: the
 * difference to the calls of the C library in the same process. mem_bench [rounds]: few rounds
 * check that it runs, and the numbers mean little.
 *
 * "at once": the block is freed right after it was allocated, while so many others are in use. "in
 * any order": one of them, chosen at random, is freed and allocated anew; with a million of them
 * that is a matter of the caches, with and without the library. "one by one": the same, but which
 * block is next is read in the one before, so that no call begins before the memory of the last one
 * is there. A round is short, so that of many the fastest was not interrupted. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "stint/stint.h"

#define CALLS 2000
#define SIZE 64

typedef void *allocate_function(size_t size);
typedef void free_function(void *block);

struct way {
    allocate_function *allocate;
    free_function *release;
};

static void *block[1000000];

static double now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_at_once(const struct way *w, int rounds) {
    double best = 1e18;
    for (int round = 0; round < rounds; ++round) {
        double start = now_ns();
        for (int i = 0; i < CALLS; ++i) {
            void *volatile one = w->allocate(SIZE);
            w->release(one);
        }
        double each = (now_ns() - start) / CALLS;
        best = each < best ? each : best;
    }
    return best;
}

/* is_chain: one by one. */
static double best_any_order(const struct way *w, int rounds, unsigned count, int is_chain) {
    double best = 1e18;
    unsigned random = 1;
    for (int round = 0; round < rounds; ++round) {
        double start = now_ns();
        for (int i = 0; i < CALLS; ++i) {
            random = random * 1664525u + 1013904223u;
            unsigned at = (random >> 8) % count;
            if (is_chain) {
                random += *(unsigned char *)block[at]; /* 0 */
            }
            w->release(block[at]);
            block[at] = w->allocate(SIZE);
            *(unsigned char *)block[at] = 0;
        }
        double each = (now_ns() - start) / CALLS;
        best = each < best ? each : best;
    }
    return best;
}

static void print_times(const char *what, unsigned count, double counted, double bare) {
    printf("%8u blocks, %-12s %8.1f ns, without %8.1f ns, difference %6.1f ns\n", count, what,
           counted, bare, counted - bare);
}

static void measure(const struct way *counted, const struct way *bare, int rounds, unsigned count) {
    const struct way *const ways[] = {counted, bare};
    double once[2], order[2], chain[2];
    for (int i = 0; i < 2; ++i) {
        for (unsigned at = 0; at < count; ++at) {
            block[at] = ways[i]->allocate(SIZE);
            *(unsigned char *)block[at] = 0;
        }
        once[i] = best_at_once(ways[i], rounds);
        order[i] = best_any_order(ways[i], rounds, count, 0);
        chain[i] = best_any_order(ways[i], rounds, count, 1);
        for (unsigned at = 0; at < count; ++at) {
            ways[i]->release(block[at]);
        }
    }
    print_times("at once", count, once[0], once[1]);
    print_times("in any order", count, order[0], order[1]);
    print_times("one by one", count, chain[0], chain[1]);
}

/* POSIX has dlsym give functions as objects. */
static void find_function(void *place, void *library, const char *name) {
    *(void **)place = dlsym(library, name);
}

int main(int argc, char **argv) {
    struct way counted = {malloc, free}, bare = {NULL, NULL};
    int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    void *library = dlopen("libc.so.6", RTLD_NOW);
    if (library) {
        find_function(&bare.allocate, library, "malloc");
        find_function(&bare.release, library, "free");
    }
    if (!bare.allocate || !bare.release) {
        printf("no libc.so.6 here\n");
        return 77;
    }
    REGISTER_TIMER("bench");
    measure(&counted, &bare, rounds, 1000);
    measure(&counted, &bare, rounds, 1000000);
    return 0;
}
