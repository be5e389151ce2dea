/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what a scope costs in loops over 1 to 1024 call places, each at several alignments of
 * the code: `places_bench [--quick] LIBRARY...`, where each library is places.c at another
 * alignment. The floor is measured right before each repetition, in the same thread; the median of
 * the ratios is that of an alignment, and the worst of them is the figure: which one a program has,
 * a change anywhere in its code decides. --quick runs a few scopes. Scopes are counted here too,
 * and the exit status is 1 if stint counted others.
 */
#include "places.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stint/stint.h>

#define REPETITIONS 15
#define QUICK_REPETITIONS 3
#define SCOPES (1l << 17) /* of a repetition: about 3 ms */
#define QUICK_SCOPES 1024l
#define ALIGNMENTS_MAX 64

static const struct places_loops *alignments[ALIGNMENTS_MAX];
static int alignment_count;

#define COUNT(count, first, last) {count, "places." #count "." first, "places." #count "." last},
static const struct {
    long places;
    const char *first, *last;
} loops[PLACES_LOOPS] = {PLACES_COUNTS(COUNT)};

static long scopes = SCOPES;
static int repetitions = REPETITIONS;

static int compare_ratios(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Returns the median of the ratios to the floor. */
static double measure_loop(bench_loop *loop) {
    double ratio[REPETITIONS];
    loop(scopes);
    for (int r = 0; r < repetitions; ++r) {
        double floor_ns = bench_ns_each(bench_floor_loop, scopes);
        ratio[r] = bench_ns_each(loop, scopes) / floor_ns;
    }
    qsort(ratio, (size_t)repetitions, sizeof *ratio, compare_ratios);
    return ratio[repetitions / 2];
}

static int is_counted(const char *name, uint64_t calls) {
    stint_stat stat;
    if (!stint_stat_get(name, &stat, sizeof stat) && stat.calls == calls) {
        return 1;
    }
    fprintf(stderr, "places_bench: %s does not have %llu calls\n", name, (unsigned long long)calls);
    return 0;
}

static int measure_places(enum places which) {
    double ratio[ALIGNMENTS_MAX];
    int count = alignment_count;
    for (int a = 0; a < count; ++a) {
        ratio[a] = measure_loop(alignments[a]->run[which]);
    }
    qsort(ratio, (size_t)count, sizeof *ratio, compare_ratios);
    printf("%6ld %10.2f %10.2f %10.2f\n", loops[which].places, ratio[count - 1], ratio[count / 2],
           ratio[0]);
    uint64_t calls =
        (uint64_t)count * (uint64_t)(1 + repetitions) * (uint64_t)(scopes / loops[which].places);
    return is_counted(loops[which].first, calls) && is_counted(loops[which].last, calls);
}

static void pin_to_first_cpu(void) {
    cpu_set_t set;
    int cpu = 0;
    if (sched_getaffinity(0, sizeof set, &set)) {
        return;
    }
    while (cpu < CPU_SETSIZE && !CPU_ISSET((size_t)cpu, &set)) {
        ++cpu;
    }
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* 0, or -1 after a line. */
static int add_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct places_loops *found = NULL;
    if (library) {
        found = dlsym(library, PLACES_SYMBOL);
    }
    if (!found || alignment_count == ALIGNMENTS_MAX) {
        fprintf(stderr, "places_bench: %s: cannot be used\n", path);
        return -1;
    }
    alignments[alignment_count++] = found;
    return 0;
}

int main(int argc, char **argv) {
    int right = 1;
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], "--quick")) {
            scopes = QUICK_SCOPES;
            repetitions = QUICK_REPETITIONS;
        } else if (add_library(argv[i])) {
            return 2;
        }
    }
    if (!alignment_count) {
        fputs("usage: places_bench [--quick] LIBRARY...\n", stderr);
        return 2;
    }
    pin_to_first_cpu();
    printf("a scope at many call places, as a multiple of the floor (%.2f ns), medians of %d\n"
           "repetitions at each of %d alignments of the code\n"
           "places      worst     median       best\n",
           bench_ns_each(bench_floor_loop, scopes), repetitions, alignment_count);
    for (int which = 0; which < PLACES_LOOPS; ++which) {
        right &= measure_places((enum places)which);
        fflush(stdout);
    }
    return !right;
}
