/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signal handlers that interrupt us after single instructions: one that does all a program does in
 * its API calls and steps, and one that forks and returns in both processes.
 */
#include "activity_made.h"
#include "forking.h"

/* ---- All that a tracer and a program do. */

static uint32_t next = 1;

static void work(void) {
    uint64_t at = activity_clock();
    struct activity_record launch = call("cudaLaunchKernel", next, at, at + 10);
    struct activity_record run = kernel("k", next, at + 20, at + 50);
    fake_advance(100);
    activity_launch(next);
    activity_begin();
    activity_add(&launch);
    activity_add(&run);
    activity_end();
    activity_step();
    activity_settle();
    ++next;
}

static unsigned handled;

/* Calls of a handler have other places in the table of launches (65 536 of them) than work's. */
#define OF_HANDLER 100000
#define HANDLER_CALLS 1000

/* The handler does not call begin, add and end: a signal handler must not. */
static void on_step(int number) {
    static int busy;
    (void)number;
    if (busy || ++handled % 7) {
        return;
    }
    busy = 1;
    REGISTER_TIMER("handler");
    activity_launch(OF_HANDLER + handled % HANDLER_CALLS);
    if (handled % 64 == 0) { /* each makes work of some hundred instructions */
        activity_step();
    }
    busy = 0;
}

TEST(activity_signal, after_every_instruction) {
    NEEDS_STEPPING(on_step);
    CHECK(!activity_open());
    fake_advance(1000);
    work();
    for (int i = 0; i < 3; ++i) {
        stepping(1);
        work();
        stepping(0);
    }
    work();
    CHECK(handled > 1000);
    const struct arena_activity *a = row(ACTIVITY_KERNEL, 0, "k");
    CHECK_EQ_U64(count_of(a), 5);
    CHECK_EQ_U64(a->launches, 5);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_UNKNOWN), 0);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total, 150);
}

/* ---- fork. */

static int opens; /* what is interrupted: the child may be open, or not */

/* Checks that the child has no activity of its parent, and can record its own. */
static void end_as_child(void) {
    work();
    uint64_t before = arena.base ? count_of(row(ACTIVITY_KERNEL, 0, "k")) : 0;
    int opened = !activity_open();
    work();
    _exit(before <= (opens ? 1 : 0) && opened &&
                  count_of(row(ACTIVITY_KERNEL, 0, "k")) == before + 1 &&
                  arena_header()->pid == (uint32_t)getpid()
              ? 0
              : 3);
}

TEST(activity_signal, fork_inside_known_work) {
    NEEDS_TRAP_FLAG();
    CHECK(!activity_open());
    work();
    fork_all_over(work, end_as_child);
    work();
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 3);
}

TEST(activity_signal, fork_inside_the_first_work) {
    NEEDS_TRAP_FLAG();
    CHECK(!activity_open());
    fork_all_over(work, end_as_child);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 1);
}

static void open_and_pause(void) {
    CHECK(!activity_open() || is_child);
    activity_pause();
}

static void fork_while_opening(void) {
    { REGISTER_TIMER("scope"); /* opens the arena */ }
    fork_all_over(open_and_pause, end_as_child);
}

/* The case runs in a child, which opens anew what is bound and loaded already. */
TEST(activity_signal, fork_inside_open) {
    NEEDS_TRAP_FLAG();
    CHECK(!activity_open());
    opens = 1;
    harness_in_child(fork_while_opening);
}
