/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU capture ranges: what the open ranges, STINT_CAPTURE and the schedule request, and the
 * worker that starts and stops the tools accordingly.
 *
 * Implementation notes
 * - Whether to capture is computed from the tables (wanted), never kept: a fork in the middle of a
 *   change, which a signal handler may make, leaves nothing wrong behind.
 * - The lock covers the tables alone. A worker (base/worker.h) starts and stops the tools without it,
 *   so that no thread waits for a tool, and the last request holds.
 */
#include "capture.h"

#include <stdio.h>
#include <string.h>

#include "arena/arena.h"
#include "base/config.h"
#include "base/errno_keep.h"
#include "base/lock.h"
#include "base/scratch.h"
#include "base/worker.h"
#include "capture_ranges.h"
#include "capture_tool.h"
#include "capture_window.h"
#include "gpu/stream_timer.h"
#include "record/registry.h"
#include "record/watch.h"
#include "tracer/tracer.h"

#define LABEL_BYTES 301 /* of a name, as much as a line shows */

/* Of a step: a window; OPENING while the one before it is being stopped. */
enum place { OUTSIDE, OPENING, INSIDE };

static const struct worker_ops tool_worker;

static struct {
    struct capture_ranges ranges;

    struct {
        int on;    /* a schedule: nothing else matters */
        int known; /* step was looked at */
        uint64_t step;
        enum place place;
        uint64_t since; /* the window's first step that was captured */
        stint_schedule schedule;
        stint_ready ready;
        void *data;
    } by_step;

    struct worker tool;         /* its state is an enum tool_state */
    struct gpu_context context; /* of the start; the worker's */
    uint32_t window, served;    /* number of the last one wanted, and of the one `tool` is for */
    char label[LABEL_BYTES];    /* of `window` */
    char serving[LABEL_BYTES];  /* of `served`; the worker's */
} now = {.tool = {.ops = &tool_worker, .lock = LOCK_CAPTURE}};

static struct capture_rules *rules; /* NULL before the first use; release, acquire */
static int steps_matter;            /* a schedule or a rule goes by steps; relaxed */

/* ---- The lock. */

/* -1: this thread has it already, further out. */
static int lock_now(void) {
    if (lock_inside(LOCK_CAPTURE)) {
        return -1;
    }
    lock_take(LOCK_CAPTURE);
    return 0;
}

static void unlock_now(void) {
    lock_release(LOCK_CAPTURE);
}

/* The schedule is the parent's, its callback too; rules are the environment's and begin again. */
static void forget_in_child(int held) {
    (void)held;
    ++now.ranges.generation;
    memset(&now.by_step, 0, sizeof now.by_step);
    worker_forget(&now.tool, TOOL_OFF);
    __atomic_store_n(&stream_timer_context_wanted, 1, __ATOMIC_RELAXED);
    capture_rules_restart(rules);
    watch_forget();
}

LOCK_OVER_FORK(LOCK_CAPTURE, NULL, forget_in_child)

/* Settings and rules, once. -1: in a signal handler that interrupted the reading of them. */
static int prepare(void) {
    if (__atomic_load_n(&rules, __ATOMIC_ACQUIRE)) {
        return 0;
    }
    if (registry_held()) {
        return -1;
    }
    registry_lock();
    if (!rules) {
        struct capture_rules *all = capture_rules_get();
        __atomic_store_n(&steps_matter, all->by_steps, __ATOMIC_RELAXED);
        __atomic_store_n(&rules, all, __ATOMIC_RELEASE);
    }
    registry_unlock();
    return 0;
}

/* ---- What is wanted; under the lock. */

static int wanted(void) {
    return now.by_step.place == INSIDE || ranges_wanted(&now.ranges);
}

/* Whether that made it wanted: then there is a window, with a name. */
static int is_new_window(int before, const char *name) {
    if (before || !wanted()) {
        return 0;
    }
    ++now.window;
    snprintf(now.label, sizeof now.label, "%s", name);
    return 1;
}

/* ---- Starting and stopping the tools. */

enum tool_transition { TOOL_NO_TRANSITION, TOOL_START, TOOL_END };

/* A start that waits for a context is tried once in each worker_run. */
static enum tool_transition capture_next_transition(enum tool_state state, int is_first) {
    int want = wanted();
    if (state == TOOL_OFF) {
        return want ? TOOL_START : TOOL_NO_TRANSITION;
    }
    int is_missed = now.served != now.window && state != TOOL_ON;
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
        now.served = now.window;
        memcpy(now.serving, now.label, sizeof now.serving);
    }
    return (int)next;
}

static int capture_perform_transition(int transition, int state) {
    if (transition == TOOL_START) {
        if (state == TOOL_OFF) {
            tracer_capture(1);
        }
        return (int)tool_start(&now.context);
    }
    tracer_capture(0);
    if (state == TOOL_ON) {
        tool_stop(&now.context);
    } else if (state == TOOL_PENDING) {
        tool_missed(now.serving);
    }
    return TOOL_OFF;
}

static const struct worker_ops tool_worker = {.choose = capture_choose_transition,
                                              .perform = capture_perform_transition};

static void reconcile(void) {
    if (lock_now()) {
        return;
    }
    if (worker_run(&now.tool)) {
        int waits = now.tool.state == TOOL_PENDING;
        __atomic_store_n(&stream_timer_context_wanted, waits, __ATOMIC_RELAXED);
    }
    unlock_now();
}

/* ---- Steps. */

static void open_window(uint64_t step, const struct capture_window *w) {
    char label[WINDOW_LABEL];
    int opened = 0;
    window_label(w, label);
    if (lock_now()) {
        return;
    }
    if (now.by_step.place == OPENING && now.by_step.since == step) { /* and nobody went on */
        int before = wanted();
        now.by_step.place = INSIDE;
        opened = is_new_window(before, label);
    }
    unlock_now();
    if (opened) {
        tool_announce(label, NULL);
    }
    reconcile();
}

/* Goes on to a step, and lets go of the lock. The window before ends first, so that the tools see
 * two. */
static void go_to(uint64_t step) {
    struct capture_window w = {0, 0};
    now.by_step.step = step;
    now.by_step.known = 1;
    int covered = window_at(now.by_step.on ? &now.by_step.schedule : NULL, rules, step, &w);
    int ends = now.by_step.place != OUTSIDE && (!covered || w.first == step);
    int opens = covered && (ends || now.by_step.place == OUTSIDE);
    uint64_t since = now.by_step.since;
    stint_ready ready = now.by_step.on ? now.by_step.ready : NULL;
    void *data = now.by_step.data;
    if (opens) {
        now.by_step.place = OPENING;
        now.by_step.since = step;
    } else if (ends) {
        now.by_step.place = OUTSIDE;
    }
    unlock_now();
    if (ends) {
        reconcile();
        if (ready) {
            ready(data, since, step - 1);
        }
    }
    if (opens) {
        open_window(step, &w);
    }
}

static int go_on(uint64_t begun) {
    if (lock_now()) {
        return 0;
    }
    if (now.by_step.known && now.by_step.step >= begun) {
        unlock_now();
        return 0;
    }
    go_to(now.by_step.known ? now.by_step.step + 1 : begun);
    return 1;
}

void capture_step(uint64_t begun) {
    int waiting = __atomic_load_n(&stream_timer_context_wanted, __ATOMIC_RELAXED);
    if ((!waiting && !__atomic_load_n(&steps_matter, __ATOMIC_RELAXED)) || prepare()) {
        return;
    }
    while (__atomic_load_n(&steps_matter, __ATOMIC_RELAXED) && go_on(begun)) {
    }
    reconcile();
}

/* A capture that waits for a CUDA context may have one now. */
static void look_for_context(void) {
    ERRNO_KEEP;
    if (!prepare() && !lock_now()) {
        if (now.by_step.known) {
            unlock_now();
        } else {
            go_to(now.by_step.step); /* the program's first, and nobody has ended it yet */
        }
        reconcile();
    }
}

void capture_schedule(const stint_schedule *schedule, stint_ready ready, void *data,
                      uint64_t step) {
    if (prepare() || lock_now()) {
        return;
    }
    now.by_step.on = schedule != NULL;
    now.by_step.schedule = schedule ? *schedule : now.by_step.schedule;
    now.by_step.ready = ready;
    now.by_step.data = data;
    now.by_step.place = OUTSIDE;
    now.by_step.step = step > now.by_step.step ? step : now.by_step.step;
    now.by_step.known = 1;
    ranges_unwant(&now.ranges);
    __atomic_store_n(&steps_matter, 1, __ATOMIC_RELAXED);
    unlock_now();
    reconcile(); /* what another rule began ends here */
    if (lock_now()) {
        return;
    }
    if (now.by_step.place == OUTSIDE) {
        go_to(now.by_step.step);
    } else {
        unlock_now(); /* another thread's stint_step came first */
    }
}

void capture_set_hooks(void) {
    stream_timer_context_hook = look_for_context;
    __atomic_store_n(&stream_timer_context_wanted, 1, __ATOMIC_RELAXED);
}

/* ---- Ranges. */

void capture_begin_range(const void *guard, const char *name, const char *info) {
    ERRNO_KEEP;
    name = name ? name : "";
    stream_timer_seek_context();
    if (prepare() || lock_now()) {
        return;
    }
    int before = wanted();
    ranges_open(&now.ranges, guard, name, rules, !now.by_step.on);
    int opened = is_new_window(before, name);
    unlock_now();
    if (opened) {
        tool_announce(name, info);
    }
    reconcile();
}

void capture_end_range(const void *guard) {
    ERRNO_KEEP;
    if (lock_now()) {
        return;
    }
    int stray = ranges_close(&now.ranges, guard);
    unlock_now();
    if (stray) {
        arena_lose(STINT_STATUS_CAPTURE_UNBALANCED, 1);
    }
    reconcile();
}

/* What STINT_CAPTURE names and the program did not have, a misspelt name say, and a capture that
 * still waits. */
__attribute__((destructor)) static void at_exit(void) {
    ERRNO_KEEP;
    int used = config.capture || __atomic_load_n(&rules, __ATOMIC_ACQUIRE);
    if (used && !lock_any_held() && !prepare() && !lock_now()) {
        struct capture_rules *seen = pages_get(sizeof *seen);
        if (seen) {
            *seen = *rules;
        }
        uint64_t step = now.by_step.step;
        int silent = now.ranges.generation || now.by_step.on;
        int pending = now.tool.state == TOOL_PENDING && !now.tool.is_busy;
        unlock_now();
        if (!silent && seen) {
            capture_rules_say_unused(seen, step);
        }
        pages_put(seen, sizeof *seen);
        if (pending) {
            tool_missed(now.serving);
        }
    }
}
