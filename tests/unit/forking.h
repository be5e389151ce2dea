/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork in a signal handler that interrupted the library on the same thread, after single
 * instructions all over a piece of work. The handler returns in both processes: the parent goes on
 * as if nothing had been, the child ends the interrupted call, whatever became of it, and then
 * shows that it can record on its own.
 */
#ifndef STINT_TESTS_FORKING_H
#define STINT_TESTS_FORKING_H

#include <ucontext.h>

#include "stepping.h"

/* The n-th instruction is followed by one n / POINTS further on: close to each other where the work
 * begins, and some hundreds in a million. */
#define POINTS 40u

static unsigned seen, next_fork, forks, failed;
static unsigned every_one; /* up to this instruction the fork is after each */
static int is_child;
static void (*lives_on)(void); /* what the child does before the handler returns, if anything */

HARNESS_FN void run_freely(void *context) {
#if STEPPING
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100;
#endif
    (void)context;
}

HARNESS_FN void fork_here(int number, siginfo_t *info, void *context) {
    int status = -1;
    (void)number;
    (void)info;
    if (++seen < next_fork) {
        return;
    }
    next_fork = seen + 1;
    if (seen >= every_one) {
        next_fork += seen / POINTS;
    }
    ++forks;
    pid_t child = fork();
    if (child == 0) {
        is_child = 1;
        alarm(harness_child_seconds());
        if (lives_on) {
            lives_on();
        }
        run_freely(context);
        return;
    }
    if ((child < 0 || waitpid(child, &status, 0) != child || status) && !failed++) {
        dprintf(harness_fd, "instruction %u: status %#x\n", seen, (unsigned)status);
    }
}

/* `end_as_child` does not return: it exits, with 0 if all is well. */
HARNESS_FN void fork_all_over(void (*work)(void), void (*end_as_child)(void)) {
    struct sigaction action = {.sa_sigaction = fork_here, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0);
    stepping(1);
    work();
    stepping(0);
    if (is_child) {
        end_as_child();
    }
    CHECK(forks > POINTS);
    CHECK_EQ_U64(failed, 0);
}

#endif
