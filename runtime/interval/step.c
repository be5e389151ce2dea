/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps of the program: their number, their wall time, and the schedules that count them.
 * stint_step ends a step, in any thread.
 * - Each step is compared with the schedule once and in order, whichever thread ends it. What
 * follows from it is done without the lock: a reset and a report take milliseconds, and the
 * callback is code of the user.
 * - `closed` says whether the schedule pauses recording now. It is copied into the settings under
 * the registry's lock, so that the later state of two threads remains. The switch of
 * stint_timers_enable is a separate setting.
 */
#include <string.h>

#include "activity/activity.h"
#include "arena/arena.h"
#include "base/api.h"
#include "base/arithmetic.h"
#include "capture/capture.h"
#include "capture/tracer.h"
#include "gpu/event_pool.h"
#include "interval.h"
#include "model/baseline.h"
#include "record/interval_sample.h"
#include "record/recorder.h"
#include "step_windows.h"
#include "system/clock.h"
#include "system/config.h"
#include "system/lock.h"
#include "system/log.h"

static uint64_t steps_ended; /* ended steps; any thread */
static uint64_t last_at;     /* ticks of the last call, 0 = none; any thread */

static struct {
    int on;     /* read without the lock, relaxed */
    int closed; /* likewise */
    stint_schedule schedule;
    stint_ready_fn ready;
    void *data;
    uint64_t serial; /* of the schedule */
    uint64_t step;   /* looked at last */
    uint64_t since;  /* first step of the record phase that was recorded */
    enum schedule_phase phase;
} timers;

/* The child counts from 0 and records: the schedule and its callback belong to the parent. */
static void step_forget_in_child(int held) {
    (void)held;
    STINT_IMPL_STORE(&steps_ended, 0);
    STINT_IMPL_STORE(&last_at, 0);
    timers.on = timers.closed = config.closed = 0;
}

LOCK_OVER_FORK(LOCK_STEP, NULL, step_forget_in_child)

/* ---- Wall time, in the row stint_step. */

static struct stint_impl_site step_site = {
    .name = "stint_step", .file = "", .function = "", .role = STINT_ROLE_STEP};

static void step_add_sample(void) {
    /* Also prepares the process: the clock is not initialised before. */
    uint64_t word = recorder_site_word(&step_site);
    uint64_t at = clock_ticks();
    uint64_t before = __atomic_exchange_n(&last_at, at, __ATOMIC_RELAXED);
    struct arena_header *h = arena_header();
    if (h) {
        __atomic_fetch_add(&h->steps, 1, __ATOMIC_RELAXED);
        thread_seen(at);
    }
    /* at < before: two threads at the same time; the sample of the other one contains both steps */
    if (!before || at < before || site_is_off(word)) {
        return;
    }
    interval_sample_add(word, 0, before, at - before);
}

/* ---- The timers' schedule. */

struct change {
    int ended; /* a record phase, with first and last */
    int began;
    uint64_t first;
    uint64_t last;
    uint64_t serial;
    stint_ready_fn ready;
    void *data;
};

/* Under the lock. */
static struct change timers_look_at(uint64_t step) {
    uint64_t first;
    int recorded = timers.phase == SCHEDULE_RECORD;
    timers.step = step;
    timers.phase = schedule_phase_of(&timers.schedule, step, &first);
    int records = timers.phase == SCHEDULE_RECORD;
    struct change c = {
        .ended = recorded && (!records || first == step),
        .began = records && (!recorded || first == step),
        .first = timers.since,
        .last = step - 1,
        .serial = timers.serial,
        .ready = timers.ready,
        .data = timers.data,
    };
    if (c.began) {
        timers.since = step;
    }
    STINT_IMPL_STORE(&timers.closed, timers.phase == SCHEDULE_OFF);
    return c;
}

static void timers_apply_closed(void) {
    registry_lock();
    int closed = STINT_IMPL_LOAD(&timers.closed);
    if (config.closed != closed) {
        config.closed = closed;
        registry_advance();
    }
    registry_unlock();
}

static int timers_are_current(uint64_t serial) {
    lock_take(LOCK_STEP);
    int is = timers.on && timers.serial == serial;
    lock_release(LOCK_STEP);
    return is;
}

static void change_carry_out(const struct change *c) {
    timers_apply_closed();
    if (c->ended && c->ready) {
        c->ready(c->data, c->first, c->last);
    } else if (c->ended) {
        stint_report(NULL);
    }
    if (c->began && timers_are_current(c->serial)) {
        interval_reset(BASELINE_ALL_SETS);
    }
}

static int timers_go_on(uint64_t begun) {
    if (!STINT_IMPL_LOAD(&timers.on)) {
        return 0;
    }
    lock_take(LOCK_STEP);
    if (!timers.on || timers.step >= begun) {
        lock_release(LOCK_STEP);
        return 0;
    }
    struct change c = timers_look_at(timers.step + 1);
    lock_release(LOCK_STEP);
    change_carry_out(&c);
    return 1;
}

uint64_t stint_step(void) {
    FUNCTION_KEEP;
    uint64_t begun = __atomic_add_fetch(&steps_ended, 1, __ATOMIC_RELAXED);
    step_add_sample();
    step_windows_add(begun);
    event_pool_look(STINT_IMPL_LOAD(&last_at));
    activity_step();
    tracer_step();
    capture_step(begun); /* first, so that no capture contains the report of the timers */
    while (timers_go_on(begun)) {
    }
    STINT_IMPL_STORE(&last_at,
                     clock_ticks()); /* a step does not include the start of a tool or a report */
    return begun;
}

/* Members that the caller's structure does not have are 0; those that only it has must be 0. */
static int schedule_read(stint_schedule *out, const stint_schedule *given, size_t size,
                         const char *caller) {
    memset(out, 0, sizeof *out);
    if (!given) {
        return STINT_OK;
    }
    memcpy(out, given, u64_min(size, sizeof *out));
    for (size_t i = sizeof *out; i < size; ++i) {
        if (((const char *)given)[i]) {
            log_error("%s: a schedule of a newer version of stint than this library; ignored",
                      caller);
            return STINT_ERROR_NOT_AVAILABLE;
        }
    }
    if (!out->record) {
        log_error("%s: a schedule needs a record phase; ignored", caller);
        return STINT_ERROR_UNKNOWN;
    }
    return STINT_OK;
}

int stint_timers_schedule(const stint_schedule *schedule, size_t size, stint_ready_fn ready,
                          void *data) {
    FUNCTION_KEEP;
    struct change c = {0};
    stint_schedule read;
    int result = schedule_read(&read, schedule, size, "stint_timers_schedule");
    if (result) {
        return result;
    }
    lock_take(LOCK_STEP);
    STINT_IMPL_STORE(&timers.on, schedule != NULL);
    STINT_IMPL_STORE(&timers.closed, 0);
    timers.phase = SCHEDULE_OFF;
    timers.ready = ready;
    timers.data = data;
    ++timers.serial;
    if (schedule) {
        timers.schedule = read;
        c = timers_look_at(STINT_IMPL_LOAD(&steps_ended));
    }
    lock_release(LOCK_STEP);
    change_carry_out(&c);
    return STINT_OK;
}

int stint_capture_schedule(const stint_schedule *schedule, size_t size, stint_ready_fn ready,
                           void *data) {
    FUNCTION_KEEP;
    stint_schedule read;
    int result = schedule_read(&read, schedule, size, "stint_capture_schedule");
    if (result) {
        return result;
    }
    capture_schedule(schedule ? &read : NULL, ready, data, STINT_IMPL_LOAD(&steps_ended));
    return STINT_OK;
}
