/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops that the benches time, one for each case of kernel.h. The file is compiled once per
 * variant, which KERNEL names; the compiler must not merge the scopes of a loop, so most bodies
 * contain an empty asm statement.
 */
#include "kernel.h"

#include <stdio.h>
#include <string.h>

#include <stint/stint.h>

/* KERNEL is the variant, e.g. exe2. */
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(scopes, number) TEXT(KERNEL) "." scopes "." number

#define EMPTY() __asm__ volatile("")
#define APART __attribute__((noinline))

static void run_one(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER(NAME("one", "00"));
        EMPTY();
    }
}

APART static void nested_3(void) {
    REGISTER_TIMER(NAME("nested", "03"));
    EMPTY();
}
APART static void nested_2(void) {
    REGISTER_TIMER(NAME("nested", "02"));
    nested_3();
    EMPTY();
}
APART static void nested_1(void) {
    REGISTER_TIMER(NAME("nested", "01"));
    nested_2();
    EMPTY();
}
APART static void nested_0(void) {
    REGISTER_TIMER(NAME("nested", "00"));
    nested_1();
    EMPTY();
}
static void run_nested(long n) {
    for (long i = 0; i < n; i += 4) {
        nested_0();
    }
}

/* Four guards in one stack frame, laid out as the compiler likes. */
static void run_block(long n) {
    for (long i = 0; i < n; i += 4) {
        REGISTER_TIMER(NAME("block", "00"));
        {
            REGISTER_TIMER(NAME("block", "01"));
            {
                REGISTER_TIMER(NAME("block", "02"));
                {
                    REGISTER_TIMER(NAME("block", "03"));
                    EMPTY();
                }
            }
        }
    }
}

#define SITE(scopes, number)                                                                       \
    {                                                                                              \
        REGISTER_TIMER(NAME(scopes, number));                                                      \
        EMPTY();                                                                                   \
    }
#define SITES_8(scopes, high)                                                                      \
    SITE(scopes, high "0")                                                                         \
    SITE(scopes, high "1")                                                                         \
    SITE(scopes, high "2")                                                                         \
    SITE(scopes, high "3")                                                                         \
    SITE(scopes, high "4")                                                                         \
    SITE(scopes, high "5")                                                                         \
    SITE(scopes, high "6")                                                                         \
    SITE(scopes, high "7")
#define SITES_32(scopes, a, b, c, d)                                                               \
    SITES_8(scopes, a) SITES_8(scopes, b) SITES_8(scopes, c) SITES_8(scopes, d)

static void run_sites(long n) {
    for (long i = 0; i < n; i += 64) {
        SITES_32("sites", "0", "1", "2", "3")
        SITES_32("sites", "4", "5", "6", "7")
    }
}

APART static void shared(void) {
    REGISTER_TIMER(NAME("parents", "02"));
    EMPTY();
}
static void run_parents(long n) {
    for (long i = 0; i < n; i += 4) {
        {
            REGISTER_TIMER(NAME("parents", "00"));
            shared();
        }
        {
            REGISTER_TIMER(NAME("parents", "01"));
            shared();
        }
    }
}

static void run_info(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER_INFO(NAME("info", "00"), "a note");
        EMPTY();
    }
}

/* A minute: no call of these takes so long. */
#define THRESHOLD_US 60000000

static void run_threshold(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER(NAME("threshold", "00"), THRESHOLD_US);
        EMPTY();
    }
}

/* volatile: the compiler must not turn eight calls into one function. */
static volatile int deepest = 7;

APART static void recurse(int depth) {
    REGISTER_TIMER(NAME("recursion", "00"));
    if (depth < deepest) {
        recurse(depth + 1);
    }
    EMPTY();
}
static void run_recursion(long n) {
    for (long i = 0; i < n; i += 8) {
        recurse(0);
    }
}

/* Deeper than what a table of the innermost scopes could hold. */
static volatile int deepest_deep = 63;

APART static void recurse_deep(int depth) {
    REGISTER_TIMER(NAME("deep", "00"));
    if (depth < deepest_deep) {
        recurse_deep(depth + 1);
    }
    EMPTY();
}
static void run_deep(long n) {
    for (long i = 0; i < n; i += 64) {
        recurse_deep(0);
    }
}

APART static void mutual_0(int depth);
APART static void mutual_1(int depth) {
    REGISTER_TIMER(NAME("mutual", "01"));
    if (depth < deepest) {
        mutual_0(depth + 1);
    }
    EMPTY();
}
APART static void mutual_0(int depth) {
    REGISTER_TIMER(NAME("mutual", "00"));
    mutual_1(depth + 1);
    EMPTY();
}
static void run_mutual(long n) {
    for (long i = 0; i < n; i += 8) {
        mutual_0(0);
    }
}

static void run_dynamics(long n) {
    static char names[64][17]; /* "exe2.dynamics.77" */
    if (!names[0][0]) {
        for (unsigned i = 0; i < 64; ++i) {
            snprintf(names[i], sizeof names[i], TEXT(KERNEL) ".dynamics.%02o", i);
        }
    }
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER_DYNAMIC(names[i & 63]);
        EMPTY();
    }
}

static void run_body(long n) {
    for (long i = 0; i < n; ++i) {
        REGISTER_TIMER(NAME("body", "00"));
        body_work();
    }
}

/* Never called: one function a section, so that the linker's section bounds tell its size. */
#define SECTION_32 JOIN(bench_32_, KERNEL)
#define SECTION_64 JOIN(bench_64_, KERNEL)
#define START(section) JOIN(__start_, section)
#define STOP(section) JOIN(__stop_, section)
extern const char START(SECTION_32)[], STOP(SECTION_32)[] __attribute__((visibility("hidden")));
extern const char START(SECTION_64)[], STOP(SECTION_64)[] __attribute__((visibility("hidden")));

__attribute__((noinline, used, section(TEXT(SECTION_32)))) static void bytes_32(void) {
    SITES_32("bytes", "0", "1", "2", "3")
}
__attribute__((noinline, used, section(TEXT(SECTION_64)))) static void bytes_64(void) {
    SITES_32("bytes", "0", "1", "2", "3")
    SITES_32("bytes", "4", "5", "6", "7")
}

#define RUN(id, names) run_##id,

const struct kernel *JOIN(kernel_, KERNEL)(void) {
    static struct kernel k = {TEXT(KERNEL), {KERNEL_CASES(RUN)}, 0};
    long more = (STOP(SECTION_64) - START(SECTION_64)) - (STOP(SECTION_32) - START(SECTION_32));
    k.scope_bytes = (double)more / 32;
    return &k;
}
