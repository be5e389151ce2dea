/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are left by longjmp or the end of their thread: counted with their name, no sample. */
#include "harness_threads.h"
#include "record/left.h"

#include <setjmp.h>

#include "model/baseline.h"
#include "recorded.h"
#include "support.h"

static jmp_buf back;

__attribute__((noinline)) static void leave_inner(void) {
    REGISTER_TIMER("inner");
    fake_advance(3);
    longjmp(back, 1);
}

__attribute__((noinline)) static void leave_outer(void) {
    REGISTER_TIMER("outer");
    fake_advance(2);
    leave_inner();
}

static void catches(void) {
    REGISTER_TIMER("catches");
    if (setjmp(back) == 0) {
        leave_outer();
    }
    fake_advance(5);
}

/* The calls, and that so many of them were left, and so many have a sample. */
static void check_row(const char *name, uint64_t calls, uint64_t left, uint64_t samples) {
    const struct stint_row *r = row_now(name);
    CHECK_EQ_U64(r->calls, calls);
    CHECK_EQ_U64(r->extra->measure[MEASURE_LEFT_CALLS], left);
    CHECK_EQ_U64(r->samples, samples);
}

TEST(left, calls_are_counted_with_their_name) {
    for (int i = 0; i < 7; ++i) {
        catches();
    }
    check_row("inner", 7, 7, 0);
    check_row("outer", 7, 7, 0);
    check_row("catches", 7, 0, 7);
    CHECK_EQ_U64(stat_of("inner").total_ns, 0);
    CHECK_EQ_U64(stat_of("catches").total_ns, 7 * 10);
    CHECK_EQ_U64(stat_of("catches").self_ns, 7 * 10);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 14);
    CHECK_EQ_U64(lost_in_all(), 14);
}

static void returns_or_jumps(int jump) {
    REGISTER_TIMER("returns or jumps");
    fake_advance(4);
    if (jump) {
        longjmp(back, 1);
    }
}

static void calls_one(int jump) {
    REGISTER_TIMER("calls one");
    if (setjmp(back) == 0) {
        returns_or_jumps(jump);
    }
}

TEST(left, among_calls_that_return) {
    for (int i = 0; i < 100; ++i) {
        calls_one(i % 4 == 0);
    }
    check_row("returns or jumps", 100, 25, 75);
    CHECK_EQ_U64(stat_of("returns or jumps").total_ns, 75 * 4);
    CHECK_EQ_U64(stat_of("returns or jumps").min_ns, 4);
    CHECK_EQ_U64(stat_of("calls one").self_ns, 25 * 4);
}

static volatile int always = 1; /* gcc takes a way out that never returns for none */

static void recurses(int depth) {
    REGISTER_TIMER("recurses");
    fake_advance(1);
    if (depth > 1) {
        recurses(depth - 1);
    } else if (always) {
        longjmp(back, 1);
    }
}

static void catches_recursion(void) {
    REGISTER_TIMER("catches recursion");
    if (setjmp(back) == 0) {
        recurses(10);
    }
}

TEST(left, recursive_calls) {
    catches_recursion();
    catches_recursion();
    check_row("recurses", 20, 20, 0);
    char *text = report_of("table");
    CHECK(strstr(text, "recursion:") == NULL); /* no call was inside another one and ended */
}

TEST(left, a_reset_subtracts) {
    catches();
    stint_reset();
    catches();
    catches();
    check_row("inner", 2, 2, 0);
}

static void *ends_in_it(NO_ARG) {
    static stint_impl_opened guard;
    static struct stint_impl_site site = {.name = "of a thread"};
    guard = stint_impl_begin(&guard, &site, 0);
    return NULL;
}

TEST(left, by_the_end_of_the_thread) {
    thread_run(ends_in_it, NULL);
    check_row("of a thread", 1, 1, 0);
}

TEST(left, the_report_shows_them) {
    catches();
    char *text = report_of("table");
    CHECK(strstr(text, " left ") != NULL);
}

TEST(left, no_column_without) {
    timed("returns", 5);
    char *text = report_of("table");
    CHECK(strstr(text, " left ") == NULL);
}
