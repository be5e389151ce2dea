/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the file of a profile, at its end: a run file or a Chrome trace. A run file is a copy of
 * the arena, made while other threads record. Its header is copied first, so that records which the
 * body contains in addition are not in any list; the copied header says that the run ends now,
 * because nothing will be written to the copy.
 */
#include "profiler.h"

#include <string.h>

#include "arena/arena.h"
#include "base/api.h"
#include "base/arithmetic.h"
#include "base/scratch.h"
#include "export/export.h"
#include "gpu/gpu.h"
#include "interval/interval.h"
#include "session/gpu_about.h"
#include "system/config.h"
#include "system/log.h"
#include "system/target.h"

#define WHO "stint_profiler_stop"

static int profile_report_no_memory(void) {
    log_error(WHO ": no memory");
    return STINT_ERROR_NO_MEMORY;
}

/* ---- A run file. */

#define WORD sizeof(uint64_t)

/* Copies word by word, because other threads write: every field is either old or new. Records that
 * are not yet published are not in any list; the thread sanitizer cannot know that. */
__attribute__((no_sanitize("thread"))) static void words_copy(void *to, const void *from,
                                                              size_t bytes) {
    const volatile uint64_t *in = from;
    uint64_t *out = to;
    for (size_t i = 0; i < bytes / WORD; ++i) {
        out[i] = in[i];
    }
}

struct run_copy {
    struct arena_header head;
    uint64_t piece[512];
};

static void run_copy_write(struct sink *to, struct run_copy *c) {
    size_t size = sizeof c->head;
    words_copy(&c->head, arena.base, size);
    clock_stamp(&c->head.end);
    sink_put(to, (const char *)&c->head, size);
    for (uint64_t at = size; at < c->head.used; at += sizeof c->piece) {
        size_t bytes = (size_t)u64_min(c->head.used - at, sizeof c->piece);
        words_copy(c->piece, arena.base + at, bytes);
        sink_put(to, (const char *)c->piece, bytes);
    }
}

static int profile_put_run(struct sink *to, void *unused) {
    struct run_copy *copy = pages_get(sizeof *copy);
    _Static_assert(sizeof copy->head % WORD == 0 && STINT_IMPL_UNIT % WORD == 0, "whole words");
    (void)unused;
    if (!copy || !arena.base) {
        pages_put(copy, sizeof *copy);
        return profile_report_no_memory();
    }
    run_copy_write(to, copy);
    pages_put(copy, sizeof *copy);
    return 0;
}

/* ---- A trace. */

/* Leaves out the calls that ended before the interval began. */
static void trace_drop_older(struct run *r) {
    const struct snapshot *s = &r->snapshot;
    uint64_t now = s->now.monotonic_ns - s->start_ns;
    r->trace.from_ns = saturating_subtract(now, s->wall_ns);
}

static int profile_put_trace(struct sink *to, void *unused) {
    struct run r;
    char gpu[160];
    (void)unused;
    memset(&r, 0, sizeof r);
    /* Before the interval's lock is taken: it takes a lock of a lower rank. */
    gpu_about_describe(gpu, sizeof gpu);
    if (interval_open(&r.snapshot, 0)) {
        return profile_report_no_memory();
    }
    run_read_about(&r);
    r.gpu = gpu; /* as it is now */
    int failed = run_trace(&r);
    if (!failed) {
        trace_drop_older(&r);
        failed = export_chrome(to, &r);
    }
    interval_close(&r.snapshot);
    if (failed) {
        return profile_report_no_memory();
    }
    return 0;
}

static int path_is_json(const char *pattern) {
    size_t length = strlen(pattern);
    return length >= 5 && !strcmp(pattern + length - 5, ".json");
}

int profiler_file(const char *pattern) {
    if (!path_is_json(pattern)) {
        return target_write(WHO, pattern, REPLACE_BY_RUN, 0600, profile_put_run, NULL);
    }
    if (!config.trace.bytes) {
        log_error(WHO ": cannot write %.500s: no calls were kept; STINT_TRACE=16M keeps them",
                  pattern);
        return STINT_ERROR_NOT_AVAILABLE;
    }
    return target_write(WHO, pattern, REPLACE_WHOLE, 0666, profile_put_trace, NULL);
}
