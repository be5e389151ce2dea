/* SPDX-License-Identifier: Apache-2.0 */
/*
 * siglongjmp out of a signal handler, after every instruction of a known scope, interval or added
 * sample: what it left open is closed by the next scope around it, and counted; all that comes
 * later is recorded. And a handler that adds to the very interval it interrupted.
 */
#include <setjmp.h>

#include "record/node.h"
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

/* Opens a scope that closes by itself around `inner`, which a jump may cut off anywhere. */
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
    node_raw_samples = 0; /* the inline path */
    attempt();            /* the first use is the slow path, which no handler may jump out of */
    attempt(); /* the second finds the node for the third, and leaves it a sample to count */
    attempt();
    unsigned instructions = seen, before = (unsigned)calls_of("inner");
    CHECK(instructions > 20);
    for (jump_at = 1; jump_at <= instructions; ++jump_at) {
        attempt();
        CHECK_EQ_U64(open_scopes(), 0);
    }
    CHECK_EQ_U64(jumps, instructions);
    CHECK_EQ_U64(calls_of("outer"), 3 + instructions);
    CHECK_EQ_U64(stat_of("outer").samples, 3 + instructions);
    uint64_t sampled = stat_of("inner").samples - before,
             left = calls_of("inner") - before - sampled;
    CHECK(sampled > 0 && left > 0);
    CHECK(left <= lost(STINT_STATUS_ABANDONED));
    CHECK(sampled + lost(STINT_STATUS_ABANDONED) <= instructions);
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_ABANDONED));
}

/* Makes attempts that are left after each instruction. The call of each is counted once from the
 * instruction on that has opened its scope, as left or as one that ended. others: calls of that
 * name that each attempt makes besides. Returns how many calls were not counted. */
static unsigned leave_at_every_instruction(const char *name, void (*attempts)(void),
                                           uint64_t others) {
    unsigned instructions = seen, missed = 0;
    int has_begun = 0;
    CHECK(instructions > 20);
    for (jump_at = 1; jump_at <= instructions; ++jump_at) {
        uint64_t before = calls_of(name) + others;
        attempts();
        uint64_t more = calls_of(name) - before;
        CHECK(more <= 1);
        has_begun |= more != 0;
        missed += has_begun && !more;
        CHECK_EQ_U64(open_scopes(), 0);
    }
    CHECK(has_begun);
    CHECK(calls_of(name) - stat_of(name).samples > 20);
    return missed;
}

TEST(threads_signal, a_call_left_at_any_instruction_is_counted_once) {
    NEEDS_STEPPING(jump_out);
    node_raw_samples = 0; /* the inline path */
    attempt();
    attempt();
    attempt();
    CHECK_EQ_U64(leave_at_every_instruction("inner", attempt, 0), 0);
}

/* Not inlined, so that its guards lie downwards, as those of calls do. */
static __attribute__((noinline)) void recurse(int depth) {
    REGISTER_TIMER("recurse");
    if (depth) {
        stepping(1);
        recurse(depth - 1);
        stepping(0);
    }
    fake_advance(1);
}

static void recurse_around(int depth);

static __attribute__((noinline)) void recurse_through(int depth) {
    REGISTER_TIMER("recurse");
    if (depth) {
        recurse_around(depth);
    }
    fake_advance(1);
}

static __attribute__((noinline)) void recurse_around(int depth) {
    REGISTER_TIMER("around");
    stepping(1);
    recurse_through(depth - 1);
    stepping(0);
}

/* As a compiler that inlines a recursion lays the guards out. */
static void recurse_upwards(int depth) {
    stint_impl_opened guards[2];
    static struct stint_impl_site site = {"recurse", __FILE__, __func__, __LINE__, 0, 0, 0, 0};
    guards[0] = stint_impl_begin(&guards[0], &site, 0);
    if (depth) {
        stepping(1);
        guards[1] = stint_impl_begin(&guards[1], &site, 0);
        fake_advance(1);
        stint_impl_end(&guards[1]);
        stepping(0);
    }
    stint_impl_end(&guards[0]);
}

/* The call around the inner one is left with it. */
static void leave_recursion(void (*attempts)(void)) {
    node_raw_samples = 0;
    attempts();
    attempts();
    attempts();
    CHECK_EQ_U64(leave_at_every_instruction("recurse", attempts, 1), 0);
}

#define ATTEMPT_RECURSION(function)                                                                \
    static void attempt_##function(void) {                                                         \
        REGISTER_TIMER("outer");                                                                   \
        if (sigsetjmp(back, 1) == 0) {                                                             \
            seen = 0;                                                                              \
            function(1);                                                                           \
        }                                                                                          \
    }
ATTEMPT_RECURSION(recurse)
ATTEMPT_RECURSION(recurse_through)
ATTEMPT_RECURSION(recurse_upwards)

TEST(threads_signal, a_recursive_call_left_at_any_instruction_is_counted_once) {
    NEEDS_STEPPING(jump_out);
    leave_recursion(attempt_recurse);
}

TEST(threads_signal, a_recursive_call_in_another_scope_left_at_any_instruction_is_counted_once) {
    NEEDS_STEPPING(jump_out);
    leave_recursion(attempt_recurse_through);
}

TEST(threads_signal, a_recursive_call_with_a_higher_guard_left_at_any_instruction_is_counted_once) {
    NEEDS_STEPPING(jump_out);
    leave_recursion(attempt_recurse_upwards);
}

/* ---- Intervals and samples: nothing is open. */

#define LENGTH 5u /* ns of each */
/* Instructions at most from a sample's first change to its last: 62 with gcc's undefined behaviour
 * sanitizer. */
#define UNFINISHED 96

static void handle_once(void) {
    stint_timer t;
    TIMER_BEGIN(t, "once");
    fake_advance(LENGTH);
    TIMER_END(t);
}

static void named_once(void) {
    stint_scope_begin("once");
    fake_advance(LENGTH);
    stint_scope_end("once");
}

static void sample_once(void) {
    stint_sample_add("once", LENGTH);
}

static void step_once(void) {
    fake_advance(LENGTH);
    stint_step();
}

static void attempt_of(void (*once)(void)) {
    REGISTER_TIMER("outer");
    if (sigsetjmp(back, 1) == 0) {
        seen = 0;
        stepping(1);
        once();
        stepping(0);
    } else {
        jumps = jumps + 1;
    }
}

/* Each sample has its time, and at most the one that was left has it without being counted. */
static void check_whole(const char *name, uint64_t left) {
    stint_stat s = stat_of(name);
    CHECK(s.total_ns >= s.samples * LENGTH);
    CHECK(s.total_ns <= (s.samples + left) * LENGTH);
    CHECK_EQ_U64(s.min_ns, LENGTH);
    uint64_t average = (s.total_ns + s.samples - 1) / s.samples; /* the maximum is never below it */
    CHECK_EQ_U64(s.max_ns, average > LENGTH ? average : LENGTH);
    CHECK_EQ_U64(s.first_ns, LENGTH);
    CHECK(s.calls - s.samples <= lost(STINT_STATUS_ABANDONED)); /* those that were left */
}

/* is_scope: its call is counted from the instruction on that has opened it. */
static void jump_out_of(void (*once)(void), const char *name, int is_scope) {
    uint64_t least = 0;
    /* A node that needs a histogram takes the slow path, which no handler may jump out of. An
     * unfinished sample can have taken one of the node's own places, so the histogram would be due
     * at one of the jumps. Without such places it exists beforehand. */
    node_raw_samples = 0;
    once(); /* the first use is the slow path, here and inside of another scope */
    attempt_of(once);
    attempt_of(once);
    unsigned instructions = seen;
    CHECK(instructions > 20);
    for (jump_at = 1; jump_at <= instructions; ++jump_at) {
        uint64_t before = calls_of(name);
        attempt_of(once);
        uint64_t more = calls_of(name) - before;
        CHECK(more <= 1 && more >= least);
        if (is_scope) {
            least = more;
        }
        CHECK_EQ_U64(open_scopes(), 0);
    }
    CHECK_EQ_U64(jumps, instructions);
    uint64_t before = calls_of(name), abandoned = lost(STINT_STATUS_ABANDONED);
    for (int i = 0; i < 100; ++i) {
        once();
    }
    CHECK_EQ_U64(calls_of(name), before + 100);
    CHECK_EQ_U64(calls_of("outer"), 2 + instructions);
    CHECK_EQ_U64(lost_in_all(), abandoned);
    check_whole(name, UNFINISHED);
}

TEST(threads_signal, siglongjmp_out_of_an_interval_at_every_instruction) {
    NEEDS_STEPPING(jump_out);
    jump_out_of(handle_once, "once", 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(threads_signal, siglongjmp_out_of_a_scope_by_name_at_every_instruction) {
    NEEDS_STEPPING(jump_out);
    jump_out_of(named_once, "once", 1);
}

TEST(threads_signal, siglongjmp_out_of_an_added_sample_at_every_instruction) {
    NEEDS_STEPPING(jump_out);
    jump_out_of(sample_once, "once", 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(threads_signal, siglongjmp_out_of_a_step_at_every_instruction) {
    NEEDS_STEPPING(jump_out);
    step_once(); /* starts the first */
    jump_out_of(step_once, "stint_step", 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void add_once(int number) {
    (void)number;
    ++seen;
    handle_once();
}

TEST(threads_signal, an_interval_in_a_handler_at_every_instruction_of_the_same) {
    NEEDS_STEPPING(add_once);
    node_raw_samples = 0; /* the inline path */
    sample_once();
    for (int i = 0; i < 100; ++i) {
        stepping(1);
        sample_once();
        stepping(0);
    }
    stint_stat s = stat_of("once");
    CHECK(seen > 2000);
    CHECK_EQ_U64(s.calls, 101 + seen);
    CHECK_EQ_U64(s.total_ns, s.calls * LENGTH);
    CHECK(s.min_ns == LENGTH && s.max_ns == LENGTH);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* ---- Scopes of a handler while the interrupted code takes off those that a jump left open. */

static jmp_buf unwound;

static void named_in_handler(int number) {
    (void)number;
    ++seen;
    stint_scope_begin(
        "handler"); /* by name: the slow path each time, which looks for frames to drop */
    stint_scope_end("handler");
}

__attribute__((noinline)) static void leave_innermost(void) {
    REGISTER_TIMER("left.innermost");
    fake_advance(1);
    longjmp(unwound, 1);
}

__attribute__((noinline)) static void leave_inner(void) {
    REGISTER_TIMER("left.inner");
    leave_innermost();
    fake_advance(1);
}

__attribute__((noinline)) static void leave_outer(void) {
    REGISTER_TIMER("left.outer");
    leave_inner();
    fake_advance(1);
}

__attribute__((noinline)) static void open_in_its_place(void) {
    REGISTER_TIMER("inside");
    fake_advance(1);
    if (setjmp(unwound) == 0) {
        leave_outer();
    }
}

TEST(threads_signal, a_named_scope_in_a_handler_while_left_ones_are_taken_off) {
    NEEDS_STEPPING(named_in_handler);
    node_raw_samples = 0; /* the inline path */
    {
        REGISTER_TIMER("around");
        open_in_its_place();
        for (int i = 0; i < 50; ++i) {
            stepping(1);
            open_in_its_place(); /* its end takes off the three that were left */
            stepping(0);
        }
        fake_advance(1);
    }
    CHECK(seen > 2000);
    CHECK_EQ_U64(calls_of("handler"), seen);
    CHECK_EQ_U64(calls_of("around"), 1);
    CHECK_EQ_U64(calls_of("inside"), 51);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 3 * 51);
    CHECK_EQ_U64(lost_in_all(), lost(STINT_STATUS_ABANDONED));
    CHECK_EQ_U64(open_scopes(), 0);
}
