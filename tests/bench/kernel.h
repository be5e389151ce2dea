/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops that are timed. kernel.c is compiled once per variant (STINT_INLINE 1 and 2, for the
 * executable and for a shared library, as C and as C++); every copy hands out its loops under its
 * own name.
 */
#ifndef BENCH_KERNEL_H
#define BENCH_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* exe: in the executable, lib: in a shared library, cxe and cxl: the same as C++; the digit is
 * STINT_INLINE. */
#define KERNEL_VARIANTS_C(X) X(exe1) X(exe2) X(lib1) X(lib2)
#ifdef BENCH_CXX
#define KERNEL_VARIANTS(X) KERNEL_VARIANTS_C(X) X(cxe1) X(cxe2) X(cxl1) X(cxl2)
#else
#define KERNEL_VARIANTS(X) KERNEL_VARIANTS_C(X)
#endif

/* id, distinct scope names */
#define KERNEL_CASES(X)                                                                            \
    X(one, 1)                                                                                      \
    X(nested, 4)                                                                                   \
    X(block, 4)                                                                                    \
    X(sites, 64)                                                                                   \
    X(parents, 3)                                                                                  \
    X(info, 1)                                                                                     \
    X(threshold, 1)                                                                                \
    X(recursion, 1)                                                                                \
    X(deep, 1)                                                                                     \
    X(mutual, 2)                                                                                   \
    X(dynamics, 64)                                                                                \
    X(body, 1)

#define KERNEL_CASE_ENUM(id, names) CASE_##id,
enum kernel_case { KERNEL_CASES(KERNEL_CASE_ENUM) CASE_COUNT };

/* A loop of n scopes; n is a multiple of 64. */
typedef void kernel_loop(long n);

struct kernel {
    const char *id; /* four characters: the names of 16 bytes begin with it */
    kernel_loop *run[CASE_COUNT];
    double scope_bytes; /* code of one scope */
};

#define KERNEL_DECLARE(id) extern const struct kernel *kernel_##id(void);
KERNEL_VARIANTS(KERNEL_DECLARE)

/* About 100 ns of real work over 24 KB: dependent multiplies, each leading to the next place of the
 * table. */
#define BODY_WORDS 6144
#define BODY_STEPS 24

struct body {
    uint64_t state;
    uint32_t table[BODY_WORDS];
};
extern struct body bench_body;

static inline void body_work(void) {
    uint64_t x = bench_body.state;
    for (int i = 0; i < BODY_STEPS; ++i) {
        x = (x ^ bench_body.table[(x >> 32) * BODY_WORDS >> 32]) * 0x9e3779b97f4a7c15u;
    }
    bench_body.state = x;
}

#ifdef __cplusplus
}
#endif

#endif
