/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siglongjmp out of a signal handler, after every instruction of a known scope: what it left open
 * is closed by the next scope around it, and counted.
 */
#include <setjmp.h>

#include "stepping.h"

static sigjmp_buf back;
static unsigned seen, jump_at;
static volatile unsigned jumps;

static void jump_out(int number) {
    (void)number;
    if (++seen == jump_at) {
        siglongjmp(back, 1); /* with the mask, and without the trap flag */
    }
}

static void inner(void) {
    REGISTER_TIMER("inner");
    fake_advance(1);
}

/* One that closes by itself around one that may be cut off anywhere. */
static void attempt(void) {
    REGISTER_TIMER("outer");
    if (sigsetjmp(back, 1) == 0) {
        seen = 0;
        stepping(1);
        inner();
        stepping(0);
    } else {
        jumps = jumps + 1;
    }
    fake_advance(10);
}

TEST(threads_signal, siglongjmp_out_of_a_scope_at_every_instruction) {
    NEEDS_STEPPING(jump_out);
    attempt(); /* the first use is the slow path, which nobody may jump out of */
    attempt();
    unsigned instructions = seen, before = (unsigned)calls_of("inner");
    CHECK(instructions > 20);
    for (jump_at = 1; jump_at <= instructions; ++jump_at) {
        attempt();
        CHECK_EQ_U64(open_scopes(), 0);
    }
    CHECK_EQ_U64(jumps, instructions);
    CHECK_EQ_U64(calls_of("outer"), 2 + instructions);
    CHECK_EQ_U64(stat_of("outer").samples, 2 + instructions);
    uint64_t recorded = calls_of("inner") - before;
    CHECK(recorded > 0 && lost(STINT_STATUS_ABANDONED) > 0);
    CHECK(recorded + lost(STINT_STATUS_ABANDONED) <= instructions);
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_ABANDONED));
}

HARNESS_MAIN()
