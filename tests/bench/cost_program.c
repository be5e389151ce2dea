/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cost_program KIND ITERATIONS: small programs that stint slows down by 5 % or more, for cost.py,
 * which builds this file with and without timers and compares the difference with the footer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stint/stint.h"

#define NOINLINE __attribute__((noinline))

static volatile double result;
static volatile int zero;

/* About `steps` times the latency of an addition. */
static inline __attribute__((always_inline)) void work(int steps) {
    double x = 1;
    for (int i = 0; i < steps; ++i) {
        x += 1e-9;
        __asm__ volatile("" : "+x"(x));
    }
    result = x;
}

NOINLINE static void leaf(int steps) {
    REGISTER_TIMER("leaf");
    work(steps);
}

NOINLINE static void short_scope(void) {
    leaf(40);
}

NOINLINE static void long_scope(void) {
    leaf(120);
}

NOINLINE static void inner(void) {
    REGISTER_TIMER("inner");
    work(30);
}

NOINLINE static void middle(void) {
    REGISTER_TIMER("middle");
    work(10);
    inner();
    work(10);
    inner();
}

NOINLINE static void nested(void) {
    REGISTER_TIMER("outer");
    work(20);
    middle();
}

#define SITE(n)                                                                                    \
    NOINLINE static void site_##n(void) {                                                          \
        REGISTER_TIMER("site " #n);                                                                \
        work(30 + n);                                                                              \
    }
SITE(0)
SITE(1)
SITE(2)
SITE(3)
SITE(4)
SITE(5)
SITE(6)
SITE(7)

NOINLINE static void sites(void) {
    static void (*const all[])(void) = {site_0, site_1, site_2, site_3,
                                        site_4, site_5, site_6, site_7};
    static unsigned next;
    all[next++ % 8]();
}

NOINLINE static void dynamic(void) {
    static const char *const names[] = {"one name", "another name", "a third one", "the last one"};
    static unsigned next;
    REGISTER_TIMER_DYNAMIC(names[next++ % 4]);
    work(40);
}

NOINLINE static void recurse(int depth) {
    REGISTER_TIMER("recurse");
    work(20);
    if (depth) {
        recurse(depth - 1);
    }
}

NOINLINE static void recursive(void) {
    recurse(7 + zero);
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"short", short_scope}, {"long", long_scope}, {"nested", nested},
             {"sites", sites},       {"dynamic", dynamic}, {"recursion", recursive}};

int main(int argc, char **argv) {
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; ++i) {
        if (!strcmp(kinds[i].name, argv[1])) {
            for (long n = atol(argv[2]); n > 0; --n) {
                kinds[i].run();
            }
            return 0;
        }
    }
    fprintf(stderr, "usage: cost_program short|long|nested|sites|dynamic|recursion ITERATIONS\n");
    return 2;
}
