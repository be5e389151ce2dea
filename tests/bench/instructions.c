/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs the loops of kernel.h for instructions.py, which counts under callgrind what each call of
 * instructions_counted executes. The number of scopes differs between calls, so that the difference
 * is what scopes execute and nothing else.
 */
#include "counted.h"
#include "floor.h"
#include "kernel.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

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

static int is_wanted(const char *id, int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], id)) {
            return 1;
        }
    }
    return 0;
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
