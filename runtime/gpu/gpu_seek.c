/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A thread is taken to be in a signal handler if it blocks a signal: the kernel blocks the signal
 *   of a handler while that runs, but for SA_NODEFER. Other threads block signals, too. So the
 *   driver must be missing as well, without which no context exists and no GPU scope could be
 *   measured; a thread that is in no handler loses nothing.
 * - The loader would tell whether the driver is loaded, under its lock. The kernel's list of mappings
 *   takes calls alone that are async-signal-safe, and some 0.1 ms: every SEEK_NS at most. To load
 *   the driver and to make a context takes longer than that.
 */
#include "gpu_seek.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"

#define SEEK_NS 10000000u
#define DEFAULT_NAME "/libcuda.so" /* the file's own name goes on with the version */
#define NAME_BYTES 128u

static uint64_t next_seek; /* ticks; relaxed */

static int blocks_signal(void) {
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

/* What the path of the driver has in it. */
static const char *name_part(void) {
    const char *last = config.cuda_lib ? strrchr(config.cuda_lib, '/') : NULL;
    if (last) {
        return last;
    }
    return config.cuda_lib ? config.cuda_lib : DEFAULT_NAME;
}

static int has_in_file(int fd, const char *part) {
    char text[512];
    size_t want = strnlen(part, NAME_BYTES), kept = 0;
    for (;;) {
        ssize_t got = read(fd, text + kept, sizeof text - kept);
        if (got <= 0) {
            return 0;
        }
        size_t have = kept + (size_t)got;
        if (memmem(text, have, part, want)) {
            return 1;
        }
        kept = have < want ? have : want - 1; /* it may be cut there */
        memmove(text, text + have - kept, kept);
    }
}

static int is_driver_loaded(void) {
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    int loaded = has_in_file(fd, name_part());
    close(fd);
    return loaded;
}

int gpu_may_seek(void) {
    if (!blocks_signal()) {
        return 1;
    }
    uint64_t now = clock_ticks();
    if (now < __atomic_load_n(&next_seek, __ATOMIC_RELAXED)) {
        return 0;
    }
    if (is_driver_loaded()) {
        return 1;
    }
    __atomic_store_n(&next_seek, now + clock_ticks_of_ns(SEEK_NS), __ATOMIC_RELAXED);
    return 0;
}
