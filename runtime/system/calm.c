/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel sends both signals to the thread that writes. The thread blocks them while it writes,
 * and removes those that became pending during that. A signal that was pending before stays.
 */
#include "calm.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "base/errno_keep.h"

static const int quiet[] = {SIGPIPE, SIGXFSZ};
#define QUIET (sizeof quiet / sizeof *quiet)

void calm_start(struct calm *c) {
    ERRNO_KEEP;
    sigset_t block;
    sigemptyset(&block);
    for (size_t i = 0; i < QUIET; ++i) {
        sigaddset(&block, quiet[i]);
    }
    pthread_sigmask(SIG_BLOCK, &block, &c->before);
    sigpending(&c->waiting);
}

void calm_end(const struct calm *c) {
    ERRNO_KEEP;
    static const struct timespec at_once = {0, 0};
    sigset_t raised, one;
    sigpending(&raised);
    for (size_t i = 0; i < QUIET; ++i) {
        if (sigismember(&raised, quiet[i]) && !sigismember(&c->waiting, quiet[i])) {
            sigemptyset(&one);
            sigaddset(&one, quiet[i]);
            while (sigtimedwait(&one, NULL, &at_once) < 0 && errno == EINTR) {
            }
        }
    }
    pthread_sigmask(SIG_SETMASK, &c->before, NULL);
}

int calm_thread_blocks_signal(void) {
    sigset_t blocked;
    sigemptyset(&blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < NSIG; ++number) {
        if (sigismember(&blocked, number) == 1) {
            return 1;
        }
    }
    return 0;
}
