/* SPDX-License-Identifier: Apache-2.0 */
/* Measures instrumented code against the floor, two clock reads and a store: a marker of a source
 * line, a call of a function with one, and a call of a function that is a scope, both instrumented
 * and with a timer written by hand. lines_bench [loops]: few loops check that it runs, and the
 * numbers mean little. */
#include <stdio.h>
#include <stdlib.h>

#include "stint/lines.h"
#include "stint/stint.h"

STINT_LINES_FILE(0, "lines_bench.c", NULL, 2, 1, 2)

#define ROUNDS 21

static volatile uint64_t sink;

__attribute__((noinline)) static double floor_ticks(long n) {
    uint64_t start = STINT_IMPL_TICKS();
    for (long i = 0; i < n; ++i) {
        uint64_t before = STINT_IMPL_TICKS();
        sink = STINT_IMPL_TICKS() - before;
    }
    return (double)(STINT_IMPL_TICKS() - start) / (double)n;
}

__attribute__((noinline)) static double marker_ticks(long n) {
    STINT_LINES_FUNCTION(0)
    uint64_t start = STINT_IMPL_TICKS();
    for (long i = 0; i < n; i += 2) {
        STINT_LINE(0);
        STINT_LINE(1);
    }
    return (double)(STINT_IMPL_TICKS() - start) / (double)n;
}

__attribute__((noinline)) static void call_one(void) {
    STINT_LINES_FUNCTION(0)
    STINT_LINE(0);
}

__attribute__((noinline)) static double call_ticks(long n) {
    uint64_t start = STINT_IMPL_TICKS();
    for (long i = 0; i < n; ++i) {
        call_one();
    }
    return (double)(STINT_IMPL_TICKS() - start) / (double)n;
}

__attribute__((noinline)) static void call_instrumented(void) {
    STINT_INSTRUMENT_FUNCTION("call_instrumented")
    sink = 1;
}

__attribute__((noinline)) static void call_by_hand(void) {
    REGISTER_TIMER("call_by_hand");
    sink = 1;
}

__attribute__((noinline)) static double scope_ticks(void (*call)(void), long n) {
    uint64_t start = STINT_IMPL_TICKS();
    for (long i = 0; i < n; ++i) {
        call();
    }
    return (double)(STINT_IMPL_TICKS() - start) / (double)n;
}

static int is_less(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_median(const char *what, double *ratios) {
    qsort(ratios, ROUNDS, sizeof *ratios, is_less);
    printf("%-28s %.2f of the floor (%.2f to %.2f)\n", what, ratios[ROUNDS / 2], ratios[ROUNDS / 4],
           ratios[ROUNDS * 3 / 4]);
}

int main(int argc, char **argv) {
    double markers[ROUNDS], calls[ROUNDS], instrumented[ROUNDS], by_hand[ROUNDS];
    long n = argc > 1 ? atol(argv[1]) : 200000;
    call_one();                        /* its book is opened */
    for (int i = 0; i < ROUNDS; ++i) { /* pairs: the machine's speed changes */
        double least = floor_ticks(n);
        markers[i] = marker_ticks(n) / least;
        calls[i] = call_ticks(n) / least;
        instrumented[i] = scope_ticks(call_instrumented, n) / least;
        by_hand[i] = scope_ticks(call_by_hand, n) / least;
    }
    print_median("marker", markers);
    print_median("call with one marker", calls);
    print_median("call of an instrumented one", instrumented);
    print_median("call with REGISTER_TIMER", by_hand);
    return 0;
}
