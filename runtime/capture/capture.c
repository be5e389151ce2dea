/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU capture ranges: what the open ranges, STINT_CAPTURE and the schedule request, and the worker
 * that starts and stops outside profilers ("tools") accordingly. Called by the entry points of
 * ranges and steps (session/entry.c, interval/step.c), and by GPU scopes while a capture waits for
 * a context.
 *
 * Implementation notes
 * - Whether to capture is computed from the tables (capture_is_wanted) and not stored: a fork by a
 *   signal handler in the middle of a change leaves no stored value that is wrong.
 * - The lock covers the tables alone. A worker (system/worker.h) starts and stops the tools without
 * it, so that no thread waits for a tool, and the last request holds.
 */
#include "capture.h"

#include <stdio.h>
#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/errno_keep.h"
#include "base/scratch.h"
#include "capture_private.h"
#include "gpu/gpu.h"
#include "gpu/stream_timer.h"
#include "record/registry.h"
#include "record/watch.h"
#include "system/calm.h"
#include "system/config.h"
#include "system/lock.h"
#include "system/worker.h"
#include "tracer.h"

#define LABEL_BYTES 301 /* of a name: as much as a line shows */

/* The step under way is in a window; OPENING: the window before it is being stopped. */
enum place { OUTSIDE, OPENING, INSIDE };

static const struct worker_ops tool_worker;

static struct {
    struct capture_ranges ranges;

    struct {
        int on;    /* there is a schedule: rules and ranges are ignored */
        int known; /* step is handled */
        uint64_t step;
        enum place place;
        uint64_t since; /* the window's first step that was captured */
        stint_schedule schedule;
        stint_ready_fn ready;
        void *data;
    } by_step;

    struct gpu_context context; /* of the start; the worker's */
    uint32_t window, served;   /* number of the last one wanted, and of the one the worker is for */
    char label[LABEL_BYTES];   /* of `window` */
    char serving[LABEL_BYTES]; /* of `served`; the worker's */
} capture_state;

/* Its state is an enum tool_state. */
static struct worker capture_worker = {.ops = &tool_worker, .lock = LOCK_CAPTURE};

static struct capture_rules *current_rules; /* NULL before the first use; release, acquire */
static int steps_matter;                    /* a schedule or a rule goes by steps; relaxed */
int capture_is_pending;

/* ---- The lock. */

/* -1: this thread holds it already, as this is a signal handler of it. */
static int capture_lock(void) {
    if (lock_inside(LOCK_CAPTURE)) {
        return -1;
    }
    lock_take(LOCK_CAPTURE);
    return 0;
}

/* The schedule and its callback are the parent's; rules are the environment's and start anew. */
static void capture_forget_in_child(int held) {
    (void)held;
    ++capture_state.ranges.generation;
    memset(&capture_state.by_step, 0, sizeof capture_state.by_step);
    worker_forget(&capture_worker, TOOL_OFF);
    __atomic_store_n(&capture_is_pending, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&stream_timer_context_wanted, 1, __ATOMIC_RELAXED);
    capture_rules_restart(current_rules);
    watch_forget();
}

LOCK_OVER_FORK(LOCK_CAPTURE, NULL, capture_forget_in_child)

/* Reads settings and rules, once. -1: in a signal handler that interrupted that. */
static int capture_prepare(void) {
    if (__atomic_load_n(&current_rules, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    if (registry_held()) {
        return -1;
    }
    registry_lock();
    if (!current_rules) {
        struct capture_rules *all = capture_rules_get();
        __atomic_store_n(&steps_matter, all->by_steps, __ATOMIC_RELAXED);
        __atomic_store_n(&current_rules, all, __ATOMIC_RELEASE);
    }
    registry_unlock();
    return 0;
}

/* ---- Whether to capture; under the lock. */

static int capture_is_wanted(void) {
    return capture_state.by_step.place == INSIDE || capture_ranges_wanted(&capture_state.ranges);
}

/* Begins a window of that name if a change has made a capture wanted; returns whether it did. */
static int capture_begin_window(int before, const char *name) {
    if (before || !capture_is_wanted()) {
        return 0;
    }
    ++capture_state.window;
    snprintf(capture_state.label, sizeof capture_state.label, "%s", name);
    return 1;
}

/* ---- Starting and stopping the tools. */

enum tool_transition { TOOL_NO_TRANSITION, TOOL_START, TOOL_END };

/* A start that waits for a context is tried once in each worker_run. */
static enum tool_transition capture_next_transition(enum tool_state state, int is_first) {
    int want = capture_is_wanted();
    if (state == TOOL_OFF && !want) {
        return TOOL_NO_TRANSITION;
    }
    if (state == TOOL_OFF) {
        return TOOL_START;
    }
    int is_missed = capture_state.served != capture_state.window && state != TOOL_ON;
    if (!want || is_missed) {
        return TOOL_END;
    }
    if (state == TOOL_PENDING && is_first) {
        return TOOL_START;
    }
    return TOOL_NO_TRANSITION;
}

static int capture_choose_transition(int state, int is_first) {
    enum tool_transition next = capture_next_transition((enum tool_state)state, is_first);
    if (next == TOOL_START) {
        capture_state.served = capture_state.window;
        memcpy(capture_state.serving, capture_state.label, sizeof capture_state.serving);
    }
    return (int)next;
}

static int capture_perform_transition(int transition, int state) {
    if (transition == TOOL_START) {
        if (state == TOOL_OFF) {
            tracer_capture(1);
        }
        return (int)capture_tool_start(&capture_state.context);
    }
    tracer_capture(0);
    if (state == TOOL_ON) {
        capture_tool_stop(&capture_state.context);
    } else if (state == TOOL_PENDING) {
        capture_tool_missed(capture_state.serving);
    }
    return TOOL_OFF;
}

static const struct worker_ops tool_worker = {.choose = capture_choose_transition,
                                              .perform = capture_perform_transition};

static void capture_reconcile(void) {
    if (capture_lock()) {
        return;
    }
    if (worker_run(&capture_worker)) {
        int pending = capture_worker.state == TOOL_PENDING;
        __atomic_store_n(&capture_is_pending, pending, __ATOMIC_RELAXED);
        __atomic_store_n(&stream_timer_context_wanted, pending || tracer_is_waiting(),
                         __ATOMIC_RELAXED);
    }
    lock_release(LOCK_CAPTURE);
}

/* ---- Steps. */

static void capture_open_window(uint64_t step, const struct capture_window *w) {
    char label[WINDOW_LABEL];
    int opened = 0;
    capture_window_label(w, label);
    if (capture_lock()) {
        return;
    }
    if (capture_state.by_step.place == OPENING &&
        capture_state.by_step.since == step) { /* still the step under way */
        int before = capture_is_wanted();
        capture_state.by_step.place = INSIDE;
        opened = capture_begin_window(before, label);
    }
    lock_release(LOCK_CAPTURE);
    if (opened) {
        capture_tool_announce(label, NULL);
    }
    capture_reconcile();
}

/* Makes `step` the step under way, and releases the lock. The window before ends first, so that the
 * tools see two captures. */
static void capture_go_to_step(uint64_t step) {
    struct capture_window w = {0, 0};
    capture_state.by_step.step = step;
    capture_state.by_step.known = 1;
    const stint_schedule *schedule = NULL;
    stint_ready_fn ready = NULL;
    if (capture_state.by_step.on) {
        schedule = &capture_state.by_step.schedule;
        ready = capture_state.by_step.ready;
    }
    int covered = capture_window_at(schedule, current_rules, step, &w);
    int ends = capture_state.by_step.place != OUTSIDE && (!covered || w.first == step);
    int opens = covered && (ends || capture_state.by_step.place == OUTSIDE);
    uint64_t since = capture_state.by_step.since;
    void *data = capture_state.by_step.data;
    if (opens) {
        capture_state.by_step.place = OPENING;
        capture_state.by_step.since = step;
    } else if (ends) {
        capture_state.by_step.place = OUTSIDE;
    }
    lock_release(LOCK_CAPTURE);
    if (ends) {
        capture_reconcile();
        if (ready) {
            ready(data, since, step - 1);
        }
    }
    if (opens) {
        capture_open_window(step, &w);
    }
}

static int capture_go_on(uint64_t begun) {
    if (capture_lock()) {
        return 0;
    }
    if (capture_state.by_step.known && capture_state.by_step.step >= begun) {
        lock_release(LOCK_CAPTURE);
        return 0;
    }
    if (capture_state.by_step.known) {
        begun = capture_state.by_step.step + 1;
    }
    capture_go_to_step(begun);
    return 1;
}

void capture_step(uint64_t begun) {
    int waiting = __atomic_load_n(&stream_timer_context_wanted, __ATOMIC_RELAXED);
    if ((!waiting && !__atomic_load_n(&steps_matter, __ATOMIC_RELAXED)) || capture_prepare()) {
        return;
    }
    while (__atomic_load_n(&steps_matter, __ATOMIC_RELAXED) && capture_go_on(begun)) {
    }
    capture_reconcile();
}

/* A capture, or a tracer, that waits for a GPU context may have one now. */
static void capture_look_for_context(void) {
    ERRNO_KEEP;
    tracer_look(0);
    if (!capture_prepare() && !capture_lock()) {
        if (capture_state.by_step.known) {
            lock_release(LOCK_CAPTURE);
        } else {
            capture_go_to_step(
                capture_state.by_step.step); /* the program's first step has not ended yet */
        }
        capture_reconcile();
    }
}

/* Not in what may be a signal handler: the driver's functions are not async-signal-safe. */
void capture_look_now(void) {
    if (!lock_any_held() && !calm_thread_blocks_signal()) {
        capture_look_for_context();
    }
}

void capture_schedule(const stint_schedule *schedule, stint_ready_fn ready, void *data,
                      uint64_t step) {
    if (capture_prepare() || capture_lock()) {
        return;
    }
    capture_state.by_step.on = schedule != NULL;
    if (schedule) {
        capture_state.by_step.schedule = *schedule;
    }
    capture_state.by_step.ready = ready;
    capture_state.by_step.data = data;
    capture_state.by_step.place = OUTSIDE;
    capture_state.by_step.step = u64_max(step, capture_state.by_step.step);
    capture_state.by_step.known = 1;
    capture_ranges_unwant(&capture_state.ranges);
    __atomic_store_n(&steps_matter, 1, __ATOMIC_RELAXED);
    lock_release(LOCK_CAPTURE);
    capture_reconcile(); /* ends a capture that a rule began */
    if (capture_lock()) {
        return;
    }
    if (capture_state.by_step.place == OUTSIDE) {
        capture_go_to_step(capture_state.by_step.step);
    } else {
        lock_release(LOCK_CAPTURE); /* another thread's stint_step came first */
    }
}

void capture_set_hooks(void) {
    stream_timer_context_hook = capture_look_for_context;
    __atomic_store_n(&stream_timer_context_wanted, 1, __ATOMIC_RELAXED);
}

/* ---- Ranges. */

void capture_begin_range(const void *guard, const char *name, const char *info) {
    ERRNO_KEEP;
    if (!name) {
        name = "";
    }
    stream_timer_seek_context();
    if (capture_prepare() || capture_lock()) {
        return;
    }
    int before = capture_is_wanted();
    capture_ranges_open(&capture_state.ranges, guard, name, current_rules,
                        !capture_state.by_step.on);
    int opened = capture_begin_window(before, name);
    lock_release(LOCK_CAPTURE);
    if (opened) {
        capture_tool_announce(name, info);
    }
    capture_reconcile();
}

void capture_end_range(const void *guard) {
    ERRNO_KEEP;
    if (capture_lock()) {
        return;
    }
    int stray = capture_ranges_close(&capture_state.ranges, guard);
    lock_release(LOCK_CAPTURE);
    if (stray) {
        arena_lose(STINT_STATUS_CAPTURE_UNBALANCED, 1);
    }
    capture_reconcile();
}

/* Reports names in STINT_CAPTURE that the program did not have, for example misspelt ones, and a
 * capture that still waits for a context. */
__attribute__((destructor)) static void capture_at_exit(void) {
    ERRNO_KEEP;
    int used = config.capture || __atomic_load_n(&current_rules, __ATOMIC_ACQUIRE);
    if (used && !lock_any_held() && !capture_prepare() && !capture_lock()) {
        struct capture_rules *seen = pages_get(sizeof *seen);
        if (seen) {
            *seen = *current_rules;
        }
        uint64_t step = capture_state.by_step.step;
        int silent = capture_state.ranges.generation || capture_state.by_step.on;
        int pending = capture_worker.state == TOOL_PENDING && !capture_worker.is_busy;
        lock_release(LOCK_CAPTURE);
        if (!silent && seen) {
            capture_rules_say_unused(seen, step);
        }
        pages_put(seen, sizeof *seen);
        if (pending) {
            capture_tool_missed(capture_state.serving);
        }
    }
}
