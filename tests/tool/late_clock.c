/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into the tool by tests that would wait for a time limit: CLOCK_MONOTONIC is a minute
 * later from the moment on at which the file LATE_CLOCK_FILE exists. poll returns early, which
 * poll(2) allows only at its timeout: its callers must look at the clock again.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LATER_SECONDS 60
#define POLL_MS 20

static int file_exists(void) {
    const char *path = getenv("LATE_CLOCK_FILE");
    return path && !access(path, F_OK);
}

int clock_gettime(clockid_t clock, struct timespec *t) {
    int failed = (int)syscall(SYS_clock_gettime, clock, t);
    if (!failed && clock == CLOCK_MONOTONIC && file_exists()) {
        t->tv_sec += LATER_SECONDS;
    }
    return failed;
}

int poll(struct pollfd *wanted, nfds_t count, int timeout_ms) {
    int (*next)(struct pollfd *, nfds_t, int);
    *(void **)&next = dlsym(RTLD_NEXT, "poll");
    if (timeout_ms < 0 || timeout_ms > POLL_MS) {
        timeout_ms = POLL_MS;
    }
    return next(wanted, count, timeout_ms);
}
