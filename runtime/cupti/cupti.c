/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When CUPTI is on: wishes are counted, and the thread that finds `busy` clear makes them true
 * without the lock, as in capture.c; no thread waits for another one's calls.
 *
 * At exit the driver may be gone before us. atexit handlers run backwards, so one that is registered
 * after the first launch runs before the driver's own; after it there is no CUPTI any more.
 */
#include "cupti.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "config/config.h"
#include "cupti_session.h"
#include "record/process.h"
#include "record/registry.h"

static struct {
    uint32_t wanted; /* starts less stops */
    int busy;
    int asked;
    int said;
    uint32_t generation;    /* forks */
    char why[CUPTI_REASON]; /* it is off; "" = nobody wants it */
} now;

static int is_on;     /* acquire, release */
static int was_on;    /* CUPTI can be called, and late records may come; likewise */
static int is_over;   /* the process ends, or is the child of one that had it; likewise */
static int capturing; /* a capture wants it; cupti_capture's */

/* ---- The lock. Inside is also who calls CUPTI without it: a signal handler makes no further call
 * there. */

static int get(const int *flag) {
    return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(int *flag, int value) {
    __atomic_store_n(flag, value, __ATOMIC_RELEASE);
}

/* CUDA after a fork is undefined: the child of a process that had CUPTI has none. */
static void forget_in_child(int held) {
    (void)held;
    if (cupti_session_is_used() || now.busy) {
        set(&is_over, 1);
        cupti_session_forget();
    }
    set(&is_on, 0);
    set(&was_on, 0);
    ++now.generation;
    now.wanted = 0;
    now.busy = now.asked = now.said = 0;
    now.why[0] = '\0';
}

LOCK_OVER_FORK(LOCK_CUPTI, NULL, forget_in_child)

/* ---- Making it so. */

static void at_exit(void);

/* From within a call that launched: the driver's own handlers are registered by then. */
static void at_launch(void) {
    atexit(at_exit);
}

static int should_be_on(void) {
    return now.wanted && !get(&is_over);
}

/* Without the lock. 0, or -1 with why it is still off. */
static int turn(int on, char why[CUPTI_REASON]) {
    if (on) {
        return cupti_session_open(why, at_launch);
    }
    set(&is_on, 0); /* first: no flush is to begin */
    cupti_session_close(get(&is_over));
    return 0;
}

/* With the lock, which it gives up meanwhile. */
static void bring_about(void) {
    char why[CUPTI_REASON] = "";
    uint32_t generation = now.generation;
    int bad = 0;
    if (now.busy) {
        return;
    }
    now.busy = 1;
    while (!bad && should_be_on() != get(&is_on)) {
        int on = should_be_on();
        lock_drop(LOCK_CUPTI);
        bad = turn(on, why);
        lock_hold(LOCK_CUPTI);
        if (generation != now.generation) {
            return; /* in the child of a fork that a signal handler made meanwhile */
        }
        set(&is_on, on && !bad);
        set(&was_on, get(&was_on) || (on && !bad));
        memcpy(now.why, why, sizeof now.why);
    }
    now.busy = 0;
}

static void at_exit(void) {
    struct lock_visit v = lock_visit_begin(LOCK_CUPTI);
    set(&is_over, 1);
    lock_hold(LOCK_CUPTI);
    int late = !get(&is_on) && get(&was_on) && !now.busy;
    bring_about();
    lock_drop(LOCK_CUPTI);
    if (late) {
        cupti_session_flush(1);
    }
    set(&was_on, 0);
    lock_visit_end(LOCK_CUPTI, v);
}

/* Settings and arena. */
static int prepare(void) {
    if (registry_held()) {
        return -1;
    }
    registry_lock();
    registry_unlock();
    return 0;
}

int cupti_start(void) {
    if (lock_inside(LOCK_CUPTI) || get(&is_over) || prepare()) {
        return -1;
    }
    struct lock_visit v = lock_visit_begin(LOCK_CUPTI);
    char why[CUPTI_REASON] = "";
    lock_hold(LOCK_CUPTI);
    now.asked = 1;
    ++now.wanted;
    bring_about();
    int failed = !get(&is_on) && !now.busy;
    if (failed && now.wanted) {
        --now.wanted;
    }
    if (failed && !now.said) {
        now.said = 1;
        memcpy(why, now.why, sizeof why);
    }
    lock_drop(LOCK_CUPTI);
    if (*why) {
        log_line("no GPU activities: %s; timers and captures go on", why);
    }
    lock_visit_end(LOCK_CUPTI, v);
    return failed ? -1 : 0;
}

void cupti_stop(void) {
    if (lock_inside(LOCK_CUPTI)) {
        return;
    }
    struct lock_visit v = lock_visit_begin(LOCK_CUPTI);
    lock_hold(LOCK_CUPTI);
    if (now.wanted) {
        --now.wanted;
        bring_about();
    }
    lock_drop(LOCK_CUPTI);
    lock_visit_end(LOCK_CUPTI, v);
}

void cupti_flush(int force) {
    if (get(&was_on) && !get(&is_over) && !lock_inside(LOCK_CUPTI)) {
        struct lock_visit v = lock_visit_begin(LOCK_CUPTI);
        cupti_session_flush(force);
        lock_visit_end(LOCK_CUPTI, v);
    }
}

int cupti_is_on(void) {
    return get(&is_on);
}

/* A thousand of the program's time; 0 where there is no time yet. */
static unsigned per_mille(uint64_t ticks) {
    uint64_t per_us = clock_ticks_per_us(); /* 24.8 */
    uint64_t run_us = (clock_ns() - process_start_ns()) / 1000;
    double us = per_us ? (double)ticks * 256 / (double)per_us : 0;
    return run_us ? (unsigned)(us * 1000 / (double)run_us + 0.5) : 0;
}

static void describe_session(char *out, size_t size) {
    struct cupti_session_sums s;
    char complaints[200];
    cupti_session_sums(&s);
    cupti_session_complaints(&s, complaints, sizeof complaints);
    unsigned share = per_mille(s.ticks);
    snprintf(out, size, "cupti %s: %" PRIu64 " records, %u.%u %% of the run%s", s.toolkit,
             s.records, share / 10, share % 10, complaints);
}

void cupti_describe(char *out, size_t size) {
    char why[CUPTI_REASON];
    if (size) {
        out[0] = '\0';
    }
    if (lock_inside(LOCK_CUPTI)) {
        return;
    }
    struct lock_visit v = lock_visit_begin(LOCK_CUPTI);
    lock_hold(LOCK_CUPTI);
    int asked = now.asked;
    memcpy(why, now.why, sizeof why);
    lock_drop(LOCK_CUPTI);
    if (asked && *why) {
        snprintf(out, size, "no cupti: %s", why);
    } else if (asked) {
        describe_session(out, size);
    }
    lock_visit_end(LOCK_CUPTI, v);
}

/* ---- Who wants it. */

void cupti_at_load(void) {
    const char *wanted = secure_getenv("STINT_GPU");
    if (wanted && !strcmp(wanted, "cupti") && !prepare() && config.gpu == CONFIG_GPU_CUPTI &&
        config.enable && !config.capture) {
        cupti_start();
    }
}

void cupti_capture(int on) {
    if (on && config.gpu == CONFIG_GPU_CUPTI && config.capture) {
        capturing = cupti_start() == 0;
    } else if (capturing) {
        capturing = 0;
        cupti_stop();
    }
}
