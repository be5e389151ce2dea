/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a back end may be looked for: the search calls the dynamic linker and allocates memory,
 * which a signal handler must not do.
 *
 * Implementation notes
 * - A thread is assumed to be in a signal handler if it blocks a signal: the kernel blocks the
 * signal of a handler while that runs, but for SA_NODEFER. Other threads block signals, too. So the
 *   driver must be missing as well, without which no context exists and no GPU scope could be
 *   measured; a thread that is not in a handler loses nothing.
 * - The dynamic linker can tell whether the driver is loaded, but takes its lock. The kernel's list
 * of mappings needs only calls that are async-signal-safe, and some 0.1 ms: every SEEK_NS at most.
 * To load the driver and to make a context takes longer than that.
 */
#include "gpu.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "system/calm.h"
#include "system/clock.h"

#define SEEK_NS 10000000u
#define SYMBOL_BYTES 128u

static uint64_t next_seek; /* ticks; relaxed */

static int seek_file_contains(int fd, const char *part) {
    char text[512];
    size_t length = strnlen(part, SYMBOL_BYTES), kept = 0;
    for (;;) {
        ssize_t got = read(fd, text + kept, sizeof text - kept);
        if (got <= 0) {
            return 0;
        }
        size_t have = kept + (size_t)got;
        if (memmem(text, have, part, length)) {
            return 1;
        }
        kept = u64_min(have, length - 1); /* the part may be cut there */
        memmove(text, text + have - kept, kept);
    }
}

static int seek_is_mapped(const char *part) {
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    int found = seek_file_contains(fd, part);
    close(fd);
    return found;
}

/* Whether a context may exist: the library of a back end is loaded, or it needs none. */
static int seek_is_any_loaded(void) {
    for (const struct gpu_backend *const *b = gpu_list(); b && *b; ++b) {
        if (!(*b)->of_queues && (!(*b)->library || seek_is_mapped((*b)->library()))) {
            return 1;
        }
    }
    return 0;
}

int gpu_may_seek(void) {
    if (!calm_thread_blocks_signal()) {
        return 1;
    }
    uint64_t now = clock_ticks();
    if (now < __atomic_load_n(&next_seek, __ATOMIC_RELAXED)) {
        return 0;
    }
    if (seek_is_any_loaded()) {
        return 1;
    }
    __atomic_store_n(&next_seek, now + clock_ticks_of_ns(SEEK_NS), __ATOMIC_RELAXED);
    return 0;
}
