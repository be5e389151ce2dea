/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signal handlers that interrupt us after single instructions: one that does all a program does in
 * its API calls and steps, and one that forks and returns in both processes.
 */
#include <ucontext.h>

#include "activity_made.h"
#include "stepping.h"

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

/* Not begin, add and end: those are no handler's business. */
static void on_step(int number) {
    static int busy;
    (void)number;
    if (busy || ++handled % 7) {
        return;
    }
    busy = 1;
    REGISTER_TIMER("handler");
    activity_launch(100000 + handled);
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

/* ---- fork. The n-th instruction is followed by one n / 40 further on. */

static unsigned seen, next_fork, forks, failed;
static int is_child;

static void run_freely(void *context) {
#if STEPPING
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
#endif
    (void)context;
}

static void fork_here(int number, siginfo_t *info, void *context) {
    int status = -1;
    (void)number;
    (void)info;
    if (++seen < next_fork) {
        return;
    }
    next_fork = seen + 1 + seen / 40;
    ++forks;
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        alarm(30);
        run_freely(context);
    } else if ((child < 0 || waitpid(child, &status, 0) != child || status) && !failed++) {
        dprintf(harness_fd, "instruction %u: status %#x\n", seen, (unsigned)status);
    }
}

static int opens; /* what is interrupted: the child may be open, or not */

/* It knows nothing of its parent's, and can do it all itself. */
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

static void fork_inside(void (*what)(void)) {
    struct sigaction action = {.sa_sigaction = fork_here, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
    stepping(1);
    what();
    stepping(0);
    if (is_child) {
        end_as_child();
    }
    CHECK(forks > 40);
    CHECK_EQ_U64(failed, 0);
}

#undef NEEDS_STEPPING
#define NEEDS_STEPPING()                                                                           \
    if (!STEPPING) {                                                                               \
        SKIP("needs the trap flag of x86-64 and no sanitizer in between");                         \
    }

TEST(activity_signal, fork_inside_known_work) {
    NEEDS_STEPPING();
    CHECK(!activity_open());
    work();
    fork_inside(work);
    work();
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 3);
}

TEST(activity_signal, fork_inside_the_first_work) {
    NEEDS_STEPPING();
    CHECK(!activity_open());
    fork_inside(work);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), 1);
}

static void open_and_pause(void) {
    CHECK(!activity_open() || is_child);
    activity_pause();
}

TEST(activity_signal, fork_inside_open) {
    NEEDS_STEPPING();
    CHECK(!activity_open()); /* loads what it needs */
    activity_forget();
    opens = 1;
    fork_inside(open_and_pause);
}

HARNESS_MAIN()
