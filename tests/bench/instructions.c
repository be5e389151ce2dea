/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the loops of kernel.h for instructions.py, which counts under callgrind what each call of
 * instructions_counted executes. The number of scopes differs between calls, so that the difference
 * is what scopes execute and nothing else.
 */
#include "floor.h"
#include "kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

/* Scopes: the 64 sites of a loop have their histograms, and new minima and maxima are rare. */
#define WARM 8192
#define SHORT 128 /* scopes of a call; a multiple of 64 */
#define LONG 256
#define TIMES 25 /* the most frequent count is taken: a new maximum takes the slow path */

#define VARIANT(id) kernel_##id,
static const struct kernel *(*const variants[])(void) = {KERNEL_VARIANTS(VARIANT)};
#define VARIANT_COUNT (sizeof variants / sizeof variants[0])

#define CASE(id, names) #id,
static const char *const case_ids[] = {KERNEL_CASES(CASE)};

struct body bench_body = {.state = 1};

/* Replaces the C library's for the library, which seeds its hashes with these bytes: with the same
 * ones its searches have the same length in each run. */
unsigned long getauxval(unsigned long type) {
    static const uint64_t seed[2] = {1, 2};
    unsigned long (*next)(unsigned long);
    void *symbol = dlsym(RTLD_NEXT, "getauxval");
    memcpy(&next, &symbol, sizeof next);
    if (type == AT_RANDOM) {
        return (unsigned long)(uintptr_t)seed;
    }
    return next ? next(type) : 0;
}

/* Global: callgrind finds it by its name. Not inlined and not a tail call. */
__attribute__((noinline)) void instructions_counted(kernel_loop *loop, long n) {
    loop(n);
    __asm__ volatile("" ::: "memory");
}

/* Prints a line for each call, in the order of callgrind's parts. */
static void count(const char *variant, const char *id, kernel_loop *loop) {
    loop(WARM);
    for (int i = 0; i < TIMES; ++i) {
        for (long n = SHORT; n <= LONG; n += LONG - SHORT) {
            instructions_counted(loop, n);
            printf("%s %s %ld\n", variant, id, n);
        }
    }
}

static int is_wanted(const char *id, int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], id)) {
            return 1;
        }
    }
    return 0;
}

/* Prints the compiler and the processor, on which the limits depend. */
static void compiler_print(void) {
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

int main(int argc, char **argv) {
    compiler_print();
    if (is_wanted("floor", argc, argv)) {
        count("all", "floor", bench_floor_loop);
    }
    for (size_t v = 0; v < VARIANT_COUNT; ++v) {
        const struct kernel *k = variants[v]();
        for (int c = 0; c < CASE_COUNT; ++c) {
            if (is_wanted(case_ids[c], argc, argv)) {
                count(k->id, case_ids[c], k->run[c]);
            }
        }
    }
    return 0;
}
