/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs loops for instructions.py, which counts under callgrind what each call of
 * instructions_counted executes. The number of rounds differs between calls, so that the difference
 * is what rounds execute and nothing else. Included by one file of a program.
 */
#ifndef STINT_BENCH_COUNTED_H
#define STINT_BENCH_COUNTED_H

#include <stdio.h>

typedef void counted_loop(long n);

/* Scopes: the 64 sites of a loop have their histograms, and new minima and maxima are rare. */
#define WARM 8192
#define SHORT 128 /* scopes of a call; a multiple of 64 */
#define LONG 256
#define TIMES 25 /* the most frequent count is taken: a new maximum takes the slow path */

#ifdef __cplusplus
extern "C" void instructions_counted(counted_loop *loop, long n);
#endif

/* Global: callgrind finds it by its name. Not inlined and not a tail call. */
__attribute__((noinline)) void instructions_counted(counted_loop *loop, long n) {
    loop(n);
    __asm__ volatile("" ::: "memory");
}

/* Prints a line for each call, in the order of callgrind's parts. */
static inline void count(const char *variant, const char *id, counted_loop *loop) {
    loop(WARM);
    for (int i = 0; i < TIMES; ++i) {
        for (long n = SHORT; n <= LONG; n += LONG - SHORT) {
            instructions_counted(loop, n);
            printf("%s %s %ld\n", variant, id, n);
        }
    }
}

/* Prints the compiler and the processor, on which the limits depend. */
static inline void compiler_print(void) {
#if defined(__clang__)
    printf("clang %d", __clang_major__);
#elif defined(__GNUC__)
    printf("gcc %d", __GNUC__);
#endif
#if defined(__x86_64__)
    printf(" x86-64\n");
#else
    printf(" of another CPU\n");
#endif
}

#endif
