/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU capture ranges: what the open ranges, STINT_CAPTURE and the schedule want, and the thread
 * that makes it so.
 *
 * Implementation notes
 * - Whether to capture is computed from the tables (wanted), never kept: a fork in the middle of a
 *   change, which a signal handler may make, leaves nothing wrong behind.
 * - The lock covers the tables alone. The thread that finds `busy` clear brings the tools to what
 *   is wanted without the lock and looks again until nothing changed meanwhile; all others leave
 *   their wish and go on, so that no thread waits for a tool, and the last wish wins.
 */
#include "capture.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "arena/arena.h"
#include "base/config.h"
#include "base/lock.h"
#include "base/scratch.h"
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

    int busy;
    enum tool_state tool;
    struct gpu_context context; /* of the start; the busy thread's */
    uint32_t window, served;    /* number of the last one wanted, and of the one `tool` is for */
    char label[LABEL_BYTES];    /* of `window` */
    char serving[LABEL_BYTES];  /* of `served`; the busy thread's */
} now;

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
    now.busy = 0;
    now.tool = TOOL_OFF;
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

/* ---- Making it so. */

enum deed { DEED_NONE, DEED_START, DEED_END };

/* again: a start that waits for a context is tried once more. */
static enum deed next_deed(int again) {
    int want = wanted();
    if (now.tool == TOOL_OFF) {
        return want ? DEED_START : DEED_NONE;
    }
    if (!want || (now.served != now.window && now.tool != TOOL_ON)) {
        return DEED_END;
    }
    return now.tool == TOOL_PENDING && again ? DEED_START : DEED_NONE;
}

static enum tool_state carry_out(enum deed deed, enum tool_state from) {
    if (deed == DEED_START) {
        if (from == TOOL_OFF) {
            tracer_capture(1);
        }
        return tool_start(&now.context);
    }
    tracer_capture(0);
    if (from == TOOL_ON) {
        tool_stop(&now.context);
    } else if (from == TOOL_PENDING) {
        tool_missed(now.serving);
    }
    return TOOL_OFF;
}

/* With the lock, which it lets go of. */
static void bring_about(void) {
    uint32_t generation = now.ranges.generation;
    enum deed deed;
    for (int again = 1; (deed = next_deed(again)); again = 0) {
        enum tool_state from = now.tool;
        if (deed == DEED_START) {
            now.served = now.window;
            memcpy(now.serving, now.label, sizeof now.serving);
        }
        unlock_now();
        enum tool_state to = carry_out(deed, from);
        if (lock_now() || generation != now.ranges.generation) {
            break; /* in the child of a fork that a signal handler made meanwhile */
        }
        now.tool = to;
    }
    if (generation == now.ranges.generation) {
        now.busy = 0;
        __atomic_store_n(&stream_timer_context_wanted, now.tool == TOOL_PENDING, __ATOMIC_RELAXED);
    }
    unlock_now();
}

/* A thread cancelled in here (a tool, a line) would stay busy for ever. */
static void reconcile(void) {
    int state;
    if (lock_now()) {
        return;
    }
    if (now.busy) {
        unlock_now();
        return;
    }
    now.busy = 1;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    bring_about();
    pthread_setcancelstate(state, NULL);
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
    int saved = errno;
    if (!prepare() && !lock_now()) {
        if (now.by_step.known) {
            unlock_now();
        } else {
            go_to(now.by_step.step); /* the program's first, and nobody has ended it yet */
        }
        reconcile();
    }
    errno = saved;
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
    int saved = errno;
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
    errno = saved;
}

void capture_end_range(const void *guard) {
    int saved = errno;
    if (lock_now()) {
        return;
    }
    int stray = ranges_close(&now.ranges, guard);
    unlock_now();
    if (stray) {
        arena_lose(STINT_STATUS_CAPTURE_UNBALANCED, 1);
    }
    reconcile();
    errno = saved;
}

/* What STINT_CAPTURE names and the program did not have, a misspelt name say, and a capture that
 * still waits. */
__attribute__((destructor)) static void at_exit(void) {
    int saved = errno;
    int used = config.capture || __atomic_load_n(&rules, __ATOMIC_ACQUIRE);
    if (used && !lock_any_held() && !prepare() && !lock_now()) {
        struct capture_rules *seen = pages_get(sizeof *seen);
        if (seen) {
            *seen = *rules;
        }
        uint64_t step = now.by_step.step;
        int silent = now.ranges.generation || now.by_step.on;
        int pending = now.tool == TOOL_PENDING && !now.busy;
        unlock_now();
        if (!silent && seen) {
            capture_rules_say_unused(seen, step);
        }
        pages_put(seen, sizeof *seen);
        if (pending) {
            tool_missed(now.serving);
        }
    }
    errno = saved;
}
