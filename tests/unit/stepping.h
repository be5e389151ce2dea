/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signal handler after every single instruction, by the processor's trap flag: no window between
 * two instructions is left to chance.
 */
#ifndef STINT_TESTS_STEPPING_H
#define STINT_TESTS_STEPPING_H

#include "record/cost.h"
#include "recorded.h"

#if defined(__x86_64__) && !SANITIZED
#define STEPPING 1
/* Below the red zone: the compiler may keep values there. */
#define STEP(change)                                                                               \
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change                                 \
                     " (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::                               \
                         : "memory", "cc")
HARNESS_FN void stepping(int on) {
    cost_rounds = 1; /* a report measures the cost: 54 000 instructions in 5 equal rounds */
    if (on) {
        STEP("orq $0x100,");
    } else {
        STEP("andq $~0x100,");
    }
}
#else
#define STEPPING 0
HARNESS_FN void stepping(int on) {
    (void)on;
}
#endif

HARNESS_FN void stepping_install(int number, void (*handler)(int)) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    CHECK(sigaction(number, &action, NULL) == 0);
}

/* Work to step through. */
HARNESS_FN void stepped_scopes(void) {
    REGISTER_TIMER("outer");
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("inner");
        fake_advance(1);
    }
}

#define NEEDS_TRAP_FLAG()                                                                          \
    if (!STEPPING) {                                                                               \
        SKIP("needs the trap flag of x86-64 and no sanitizer in between");                         \
    }

#define NEEDS_STEPPING(handler)                                                                    \
    NEEDS_TRAP_FLAG()                                                                              \
    stepping_install(SIGTRAP, handler)

#endif
