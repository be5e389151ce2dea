/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of capture.c: the table of open ranges, windows of steps, and the calls that start and
 * stop an outside profiler. Private to this folder and its tests.
 */
#ifndef STINT_CAPTURE_PRIVATE_H
#define STINT_CAPTURE_PRIVATE_H

#include <pthread.h>
#include <stdint.h>

#include "base/api.h"
#include "capture_rules.h"
#include "gpu/gpu.h"

/* ---- The open capture ranges of the process (capture_ranges.c). The caller locks. */

#define CAPTURE_RANGES                                                                             \
    1024 /* open at once, nested ones included; of further ones only the balance is kept */

struct capture_range {
    const void *guard; /* its address; NULL: STINT_GPU_PROFILER_START */
    pthread_t thread;
    uint32_t generation;
    int rule;   /* the first that names it, -1 = none */
    int wanted; /* to be captured */
};

struct capture_ranges {
    uint32_t generation; /* forks that led here: ranges of an older one are the parent's */
    unsigned count;
    unsigned unlisted[2]; /* blocks, and starts, for which there was no room */
    struct capture_range open[CAPTURE_RANGES];
};

/* Whether one of them is to be captured. */
int capture_ranges_wanted(const struct capture_ranges *t);
/* wanted 0: not captured whatever the rules say, which count the entry in any case. */
void capture_ranges_open(struct capture_ranges *t, const void *guard, const char *name,
                         struct capture_rules *rules, int wanted);
/* guard NULL: the last start. -1 if there is no such range, nor one of the parent. */
int capture_ranges_close(struct capture_ranges *t, const void *guard);
/* None of the open ranges is to be captured. */
void capture_ranges_unwant(struct capture_ranges *t);

/* ---- Windows of steps (capture_window.c): of a schedule, or of the rules that go by steps. */

struct capture_window {
    uint64_t first;
    uint64_t last; /* UINT64_MAX = without end */
};

/* Whether a step is to be captured, and in which window; schedule NULL: by the rules. Each step
 * once, in order. */
int capture_window_at(const stint_schedule *schedule, struct capture_rules *rules, uint64_t step,
                      struct capture_window *w);
#define WINDOW_LABEL 64
void capture_window_label(const struct capture_window *w, char out[WINDOW_LABEL]);

/* ---- Outside profilers, through the GPU back end (capture_tool.c). No lock may be held: the calls
 * take long. */

enum tool_state {
    TOOL_OFF,
    TOOL_ON,
    TOOL_PENDING, /* there is no context yet */
    TOOL_VOID     /* not possible; a line said so */
};

/* Starts, or says in a line why not. Fills `context` with where. */
enum tool_state capture_tool_start(struct gpu_context *context);
/* Stops in the context of the start. */
void capture_tool_stop(const struct gpu_context *context);
/* The line of an outermost range or window; info NULL: none. */
void capture_tool_announce(const char *name, const char *info);
/* The line of a capture that stayed pending to its end. */
void capture_tool_missed(const char *name);

#endif
