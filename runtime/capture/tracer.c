/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a tracer is open: starts and stops are counted, and a worker (system/worker.h) opens or
 * closes the tracer without the lock; no thread waits for another one's calls. A thread in a call
 * of the tracer counts as inside the lock, so that its signal handlers make no further call there.
 *
 * At exit the driver may be unloaded before this library. atexit handlers run in reverse order, so
 * one that is registered after the first launch runs before the driver's own; after it no tracer is
 * called.
 */
#include "tracer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "arena/arena.h"
#include "record/registry.h"
#include "system/clock.h"
#include "system/config.h"
#include "system/lock.h"
#include "system/log.h"
#include "system/worker.h"

/* The worker's state. REFUSED: off, and the last attempt to open one failed. */
enum tracer_state { TRACER_OFF, TRACER_ON, TRACER_REFUSED };

static const struct worker_ops tracer_worker;

static struct {
    struct worker worker;
    uint32_t wanted;             /* starts less stops */
    int asked;                   /* a start was requested */
    int said;                    /* the line about a failure was written */
    int ready;                   /* a tracer may be opened */
    int at_load;                 /* wanted by the environment for the whole process */
    char why[TRACER_REASON];     /* it is off; "" = it was never asked for */
    char new_why[TRACER_REASON]; /* of the transition under way; the worker's */
} tracing = {.worker = {.ops = &tracer_worker, .lock = LOCK_TRACER}};

static const struct tracer_ops *const *tracer_list; /* written once, by a constructor */
static const struct tracer_ops *used;               /* the last that was open; release, acquire */
static int is_on;                                   /* acquire, release */
static int was_on;    /* it can be called, and late records may come; likewise */
static int is_over;   /* the process ends, or is the child of one that had it; likewise */
static int waits;     /* it is wanted and not ready; likewise */
static int capturing; /* a capture wants it; tracer_capture's */

static const struct tracer_ops *tracer_get_used(void) {
    return __atomic_load_n(&used, __ATOMIC_ACQUIRE);
}

void tracer_set_list(const struct tracer_ops *const *list) {
    tracer_list = list;
}

static int flag_get(const int *flag) {
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void flag_set(int *flag, int value) {
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* A GPU after a fork is undefined: the child of a process that had a tracer has none. One that
 * waited for the program to use the GPU waits in the child, too. */
static void tracer_forget_in_child(int held) {
    int goes_on = tracing.at_load && flag_get(&waits);
    (void)held;
    for (const struct tracer_ops *const *t = tracer_list; t && *t; ++t) {
        int was_called = *t == tracer_get_used();
        if ((*t)->is_used) {
            was_called = (*t)->is_used();
        }
        if (was_called || tracing.worker.is_busy) {
            flag_set(&is_over, 1);
            if ((*t)->forget) {
                (*t)->forget();
            }
        }
    }
    flag_set(&is_on, 0);
    flag_set(&was_on, 0);
    worker_forget(&tracing.worker, TRACER_OFF);
    tracing.wanted = goes_on && !flag_get(&is_over);
    tracing.asked = tracing.wanted != 0;
    flag_set(&waits, tracing.wanted != 0);
    tracing.said = 0;
    tracing.why[0] = '\0';
}

LOCK_OVER_FORK(LOCK_TRACER, NULL, tracer_forget_in_child)

/* ---- Opening and closing it. */

static void tracer_at_exit(void);

/* From within a call that launched: the driver's own handlers are registered by then. */
static void tracer_at_launch(void) {
    atexit(tracer_at_exit);
}

static int tracer_should_be_on(void) {
    return tracing.wanted && tracing.ready && !flag_get(&is_over);
}

static int tracer_is_ready(void) {
    for (const struct tracer_ops *const *t = tracer_list; t && *t; ++t) {
        if (!(*t)->is_ready || (*t)->is_ready()) {
            return 1;
        }
    }
    return !tracer_list || !*tracer_list; /* there is none to wait for */
}

/* The first tracer that opens. 0, or -1 with why the first of the list does not. */
static int tracer_open_first(char why[TRACER_REASON]) {
    char other[TRACER_REASON];
    snprintf(why, TRACER_REASON, "this build has no tracer");
    for (const struct tracer_ops *const *t = tracer_list; t && *t; ++t) {
        activity_use_words((*t)->words);
        if (!(*t)->open(t == tracer_list ? why : other, tracer_at_launch)) {
            __atomic_store_n(&used, *t, __ATOMIC_RELEASE);
            *why = '\0';
            return 0;
        }
    }
    return -1;
}

enum tracer_transition { TRACER_NO_TRANSITION, TRACER_OPEN, TRACER_CLOSE };

/* An attempt to open that failed is not repeated in the same worker_run. */
static int tracer_choose_transition(int state, int is_first) {
    int wanted = tracer_should_be_on();
    if (state == TRACER_ON && !wanted) {
        return TRACER_CLOSE;
    }
    if (state == TRACER_ON || !wanted || (state == TRACER_REFUSED && !is_first)) {
        return TRACER_NO_TRANSITION;
    }
    return TRACER_OPEN;
}

static int tracer_perform_transition(int transition, int state) {
    (void)state;
    tracing.new_why[0] = '\0';
    if (transition == TRACER_OPEN) {
        return tracer_open_first(tracing.new_why) ? TRACER_REFUSED : TRACER_ON;
    }
    flag_set(&is_on, 0); /* first: no flush is to begin */
    tracer_get_used()->close(flag_get(&is_over) ? TRACER_FORCED : TRACER_COMPLETE);
    return TRACER_OFF;
}

static void tracer_settle_transition(int state) {
    flag_set(&is_on, state == TRACER_ON);
    if (state == TRACER_ON) {
        flag_set(&was_on, 1);
    }
    memcpy(tracing.why, tracing.new_why, sizeof tracing.why);
}

static const struct worker_ops tracer_worker = {.choose = tracer_choose_transition,
                                                .perform = tracer_perform_transition,
                                                .settle = tracer_settle_transition};

static void tracer_flush_used(int how) {
    const struct tracer_ops *t = tracer_get_used();
    if (t && t->flush) {
        t->flush(how);
    }
}

static void tracer_at_exit(void) {
    struct lock_visit v = lock_visit_begin(LOCK_TRACER);
    flag_set(&is_over, 1);
    lock_take(LOCK_TRACER);
    int late = !flag_get(&is_on) && flag_get(&was_on) && !tracing.worker.is_busy;
    worker_run(&tracing.worker);
    lock_release(LOCK_TRACER);
    if (late) {
        tracer_flush_used(TRACER_FORCED);
    }
    flag_set(&was_on, 0);
    lock_visit_end(LOCK_TRACER, v);
}

/* Reads the settings and opens the arena. -1: in a signal handler that interrupted that. */
static int tracer_prepare(void) {
    if (registry_held()) {
        return -1;
    }
    registry_lock();
    registry_unlock();
    return 0;
}

/* After a worker_run, with the lock: whether a tracer that is wanted could not be opened. why: to
 * be said, the first time. */
static int tracer_has_failed(char why[TRACER_REASON]) {
    int failed = tracing.ready && !flag_get(&is_on) && !tracing.worker.is_busy;
    if (failed && !tracing.said) {
        tracing.said = 1;
        memcpy(why, tracing.why, TRACER_REASON);
    }
    return failed;
}

static void tracer_say_failed(const char *why) {
    if (*why) {
        log_warning("no GPU activities: %s; timers and captures go on", why);
    }
}

/* ready: a tracer may be opened tracing. */
static int tracer_request(int ready) {
    struct lock_visit v = lock_visit_begin(LOCK_TRACER);
    char why[TRACER_REASON] = "";
    lock_take(LOCK_TRACER);
    tracing.ready |= ready;
    tracing.asked = 1;
    if (arena.base) {
        STINT_IMPL_STORE(&arena_header()->tracer_requested, 1);
    }
    ++tracing.wanted;
    worker_run(&tracing.worker);
    int failed = tracer_has_failed(why);
    if (failed && tracing.wanted) {
        --tracing.wanted;
    }
    flag_set(&waits, tracing.wanted && !tracing.ready);
    lock_release(LOCK_TRACER);
    tracer_say_failed(why);
    lock_visit_end(LOCK_TRACER, v);
    return failed ? -1 : 0;
}

int tracer_start(void) {
    if (lock_inside(LOCK_TRACER) || flag_get(&is_over) || tracer_prepare()) {
        return -1;
    }
    return tracer_request(1);
}

int tracer_start_when_ready(void) {
    if (lock_inside(LOCK_TRACER) || flag_get(&is_over) || tracer_prepare()) {
        return -1;
    }
    return tracer_request(tracer_is_ready());
}

int tracer_is_waiting(void) {
    return flag_get(&waits);
}

void tracer_look(int is_certain) {
    char why[TRACER_REASON] = "";
    if (!flag_get(&waits) || lock_inside(LOCK_TRACER) || flag_get(&is_over)) {
        return;
    }
    if ((!is_certain && !tracer_is_ready()) || tracer_prepare()) {
        return;
    }
    struct lock_visit v = lock_visit_begin(LOCK_TRACER);
    lock_take(LOCK_TRACER);
    tracing.ready = 1;
    flag_set(&waits, 0);
    if (tracing.wanted) {
        worker_run(&tracing.worker);
        (void)tracer_has_failed(why); /* the stop that belongs to the start will come */
    }
    lock_release(LOCK_TRACER);
    tracer_say_failed(why);
    lock_visit_end(LOCK_TRACER, v);
}

void tracer_stop(void) {
    if (lock_inside(LOCK_TRACER)) {
        return;
    }
    struct lock_visit v = lock_visit_begin(LOCK_TRACER);
    lock_take(LOCK_TRACER);
    if (tracing.wanted) {
        --tracing.wanted;
        worker_run(&tracing.worker);
    }
    flag_set(&waits, tracing.wanted && !tracing.ready);
    lock_release(LOCK_TRACER);
    lock_visit_end(LOCK_TRACER, v);
}

void tracer_flush(int how) {
    if (flag_get(&was_on) && !flag_get(&is_over) && !lock_inside(LOCK_TRACER)) {
        struct lock_visit v = lock_visit_begin(LOCK_TRACER);
        tracer_flush_used(how);
        lock_visit_end(LOCK_TRACER, v);
    }
}

void tracer_step(void) {
    tracer_look(0);
    if (!flag_get(&is_on) || lock_inside(LOCK_TRACER)) {
        return;
    }
    const struct tracer_ops *t = tracer_get_used();
    if (t && t->step) {
        struct lock_visit v = lock_visit_begin(LOCK_TRACER);
        t->step();
        lock_visit_end(LOCK_TRACER, v);
    }
}

int tracer_is_on(void) {
    return flag_get(&is_on);
}

/* Ticks as thousandths of the run so far; 0 if that is unknown. */
static unsigned tracer_get_share(uint64_t ticks) {
    uint64_t per_us = clock_ticks_per_us(); /* 24.8 */
    if (!per_us || !arena.base) {
        return 0;
    }
    uint64_t run_us = (clock_ns() - arena_header()->process_start_ns) / 1000;
    if (!run_us) {
        return 0;
    }
    double us = (double)ticks * 256 / (double)per_us;
    return (unsigned)(us * 1000 / (double)run_us + 0.5);
}

static void tracer_describe_session(char *out, size_t size) {
    struct tracer_sums s = {0};
    const struct tracer_ops *t = tracer_get_used();
    if (!t->sums) {
        snprintf(out, size, "%s", t->name);
        return;
    }
    t->sums(&s);
    unsigned share = tracer_get_share(s.ticks);
    snprintf(out, size, "%s %s: %" PRIu64 " records, %u.%u %% of the run%s", t->name, s.version,
             s.records, share / 10, share % 10, s.complaints);
}

/* The tracer whose reason is reported. */
static const struct tracer_ops *tracer_get_first(void) {
    static const struct tracer_ops none = {.name = "tracer"};
    if (!tracer_list || !*tracer_list) {
        return &none;
    }
    return *tracer_list;
}

void tracer_describe(char *out, size_t size) {
    char why[TRACER_REASON];
    if (size) {
        out[0] = '\0';
    }
    if (lock_inside(LOCK_TRACER)) {
        return;
    }
    struct lock_visit v = lock_visit_begin(LOCK_TRACER);
    lock_take(LOCK_TRACER);
    int asked = tracing.asked;
    int unused = tracing.wanted && !tracing.ready;
    memcpy(why, tracing.why, sizeof why);
    lock_release(LOCK_TRACER);
    if (unused) {
        const struct tracer_ops *first = tracer_get_first();
        snprintf(out, size, "no %s: the program has not initialised %s", first->name,
                 gpu_words_platform(first->words));
    } else if (asked && *why) {
        snprintf(out, size, "no %s: %s", tracer_get_first()->name, why);
    } else if (asked && tracer_get_used()) {
        tracer_describe_session(out, size);
    }
    lock_visit_end(LOCK_TRACER, v);
}

/* ---- Requests by the environment. */

static int tracer_is_requested(void) {
    return config.gpu == CONFIG_GPU_TRACER || config.gpu == CONFIG_GPU_TRACER_ALL;
}

int tracer_prepare_all(void) {
    int result = 0;
    for (const struct tracer_ops *const *t = tracer_list; t && *t; ++t) {
        if ((*t)->prepare && (*t)->prepare()) {
            result = -1;
        }
    }
    return result;
}

/* The values that ask for tracing begin with that word; other programs open no arena here. */
static int tracer_may_be_requested(void) {
    static const char word[] =
#include "env_tracer_value.inc"
        ;
    const char *value = secure_getenv("STINT_GPU");
    return value && !strncmp(value, word, sizeof word - 1);
}

void tracer_at_load(void) {
    if (!tracer_may_be_requested() || tracer_prepare() || !tracer_is_requested() ||
        !config.enable) {
        return;
    }
    if (tracer_prepare_all() || config.capture) {
        return;
    }
    tracing.at_load = 1;
    tracer_start_when_ready();
}

void tracer_capture(int on) {
    if (on && tracer_is_requested() && config.capture) {
        capturing = tracer_start_when_ready() == 0;
    } else if (capturing) {
        capturing = 0;
        tracer_stop();
    }
}
