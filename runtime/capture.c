/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU capture ranges: the outermost of the process starts and stops the tools, inner ones only
 * count.
 *
 * Implementation notes
 * - Open ranges are kept by address and thread, because a guard's bytes mean nothing after a goto
 * or longjmp: a range begun again at its own address replaces the stale one, an end that is not in
 * the table is ignored and counted.
 * - The lock covers the table alone; the driver is called and the line printed after it, so that no
 *   thread waits for a tool.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "api.h"
#include "arena.h"
#include "gpu.h"
#include "log.h"

#define OPEN_RANGES 1024 /* threads inside a range at once; one more is not counted */

struct range {
    const void *guard;
    pthread_t thread;
};

static struct {
    pthread_mutex_t lock;
    struct range open[OPEN_RANGES];
    unsigned open_count;
    unsigned started; /* by GPU_PROFILER_START */
} ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void) {
    pthread_mutex_lock(&ranges.lock);
}

static void after_fork_parent(void) {
    pthread_mutex_unlock(&ranges.lock);
}

static void after_fork_child(void) {
    ranges.open_count = 0;
    ranges.started = 0;
    pthread_mutex_unlock(&ranges.lock);
}

/* At load, not at first use: a fork under way on another thread would miss the handlers. */
__attribute__((constructor)) static void watch_fork(void) {
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static void lock_ranges(void) {
    pthread_mutex_lock(&ranges.lock);
}

static unsigned depth(void) {
    return ranges.open_count + ranges.started;
}

static struct range *find(const void *guard) {
    for (unsigned i = 0; i < ranges.open_count; ++i) {
        if (ranges.open[i].guard == guard && pthread_equal(ranges.open[i].thread, pthread_self())) {
            return &ranges.open[i];
        }
    }
    return NULL;
}

static void announce(const char *name, const char *info) {
    name = name ? name : "";
    if (info) {
        log_legacy("Enable GPU Profiler Stat: [%.300s] \"%.500s\"", name, info);
    } else {
        log_legacy("Enable GPU Profiler Stat: [%.300s]", name);
    }
    const struct gpu_ops *gpu = gpu_ops();
    if (gpu->reason) {
        log_line("nothing is captured: %s", gpu->reason);
    } else if (gpu->capture_start()) {
        log_line("nothing is captured: the driver refused to start");
    }
}

void stint_impl_capture_begin(void *guard, const char *name, const char *info) {
    int saved = errno;
    lock_ranges();
    unsigned before = depth();
    if (!find(guard) && ranges.open_count < OPEN_RANGES) {
        ranges.open[ranges.open_count].guard = guard;
        ranges.open[ranges.open_count++].thread = pthread_self();
    }
    int outermost = !before && depth();
    pthread_mutex_unlock(&ranges.lock);
    if (outermost) {
        announce(name, info);
    }
    errno = saved;
}

static void finish(int outermost, int stray) {
    if (stray) {
        arena_lose(STINT_STATUS_CAPTURE_UNBALANCED, 1);
    }
    if (outermost) {
        gpu_ops()->capture_stop();
    }
}

void stint_impl_capture_end(void *guard) {
    int saved = errno;
    lock_ranges();
    struct range *r = find(guard);
    int last = r && depth() == 1;
    if (r) {
        *r = ranges.open[--ranges.open_count];
    }
    pthread_mutex_unlock(&ranges.lock);
    finish(last, !r);
    errno = saved;
}

void stint_impl_capture_start(const char *name) {
    int saved = errno;
    lock_ranges();
    int outermost = !depth();
    ++ranges.started;
    pthread_mutex_unlock(&ranges.lock);
    if (outermost) {
        announce(name, NULL);
    }
    errno = saved;
}

void stint_impl_capture_stop(void) {
    int saved = errno;
    lock_ranges();
    int stray = !ranges.started;
    ranges.started -= !stray;
    int last = !stray && !depth();
    pthread_mutex_unlock(&ranges.lock);
    finish(last, stray);
    errno = saved;
}
