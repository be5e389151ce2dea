/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of the interval, and its start: one caller at a time, with the lock from
 * interval_open to interval_close. Reports, getters and resets call.
 */
#include "interval.h"

#include <pthread.h>
#include <stddef.h>

#include "arena/arena.h"
#include "base/histogram.h"
#include "capture/tracer.h"
#include "gpu/event_pool.h"
#include "model/baseline.h"
#include "name_index.h"
#include "record/registry.h"
#include "system/lock.h"
#include "system/log.h"

static struct baseline *current, *replaced; /* replaced: in use by the open snapshot */
static uint32_t baseline_gate;              /* of the arena that both refer to */

/* The memory of snapshots of one name: to map it each time would take most of the time. */
static struct scratch name_memory;
static struct histogram *name_histograms; /* in it, before the mark */
static struct scratch_mark name_mark;     /* of the open snapshot of a name */

/* ---- The lock. The registry's reader mark says which thread holds it. The mark exists because the
 * child of a fork during such a call keeps the parent's arena until the call has ended. */

LOCK_OVER_FORK(LOCK_INTERVAL, registry_reading, NULL)

static int holder_cancel_state; /* of the thread that holds the lock */

/* Disables cancellation: a thread that is cancelled while it writes a line would never release the
 * lock. -1: this is a signal handler that interrupted this thread while it held the lock. */
static int interval_lock(void) {
    int state;
    if (registry_reading()) {
        return -1;
    }
    registry_settle();
    registry_lock(); /* opens the arena if nothing was recorded yet */
    registry_unlock();
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    registry_read_begin();
    lock_hold(LOCK_INTERVAL);
    holder_cancel_state = state;
    if (baseline_gate != registry_arena_gate()) { /* they are of the parent's arena */
        baseline_free(replaced);
        baseline_free(current);
        current = replaced = NULL;
        name_index_forget();
        baseline_gate = registry_arena_gate();
    }
    return 0;
}

static void interval_unlock(void) {
    int state = holder_cancel_state;
    lock_drop(LOCK_INTERVAL);
    registry_read_end();
    pthread_setcancelstate(state, NULL);
}

/* Makes the snapshot the baseline. Nothing may have been subtracted from it. */
static void interval_start_over(const struct snapshot *s, uint32_t set) {
    struct baseline *next = baseline_new(s, set, current);
    if (!next) {
        log_error("no memory to reset: the interval continues");
        return;
    }
    replaced = current;
    current = next;
}

/* GPU times are collected before the lock is taken, because a tool may intercept the driver's
 * calls. */
static int interval_collect_and_lock(void) {
    event_pool_collect();
    tracer_flush(TRACER_COMPLETE);
    return interval_lock();
}

int interval_open(struct snapshot *s, int reset) {
    if (interval_collect_and_lock()) {
        return -1;
    }
    if (snapshot_take(s)) {
        interval_unlock();
        return -1;
    }
    const struct baseline *then = current;
    if (reset) {
        interval_start_over(s, BASELINE_ALL_SETS);
    }
    if (then) {
        baseline_subtract(then, s);
    }
    return 0;
}

/* Activities of GPUs count for all scopes around them: with one, the whole tree is read. 1: the
 * name was never recorded. */
static int interval_take_name(struct snapshot *s, uint32_t set, const char *name) {
    struct snapshot_choice choice = {.set = set, .join = !current, .memory = &name_memory};
    if (!arena.base || STINT_IMPL_LOAD(&arena_header()->first_activity) ||
        name_index_find(&choice, name)) {
        return snapshot_take(s);
    }
    if (!choice.count) {
        return 1;
    }
    if (!name_memory.chunks) {
        name_memory = (struct scratch){0};
        name_histograms = histograms_get(&name_memory, SNAPSHOT_HISTOGRAMS);
    }
    choice.histograms = name_histograms;
    name_mark = scratch_mark(&name_memory);
    int failed = snapshot_take_chosen(s, &choice);
    if (failed) {
        name_mark = (struct scratch_mark){0};
    }
    return failed;
}

int interval_open_name(struct snapshot *s, uint32_t set, const char *name) {
    if (interval_collect_and_lock()) {
        return -1;
    }
    int result = interval_take_name(s, set, name);
    if (result) {
        interval_unlock();
    } else if (current) {
        baseline_subtract(current, s);
    }
    return result;
}

void interval_close(struct snapshot *s) {
    scratch_release(&s->memory, name_mark);
    if (name_mark.chunks) {
        name_memory = s->memory;
        name_mark = (struct scratch_mark){0};
    }
    baseline_free(replaced);
    replaced = NULL;
    interval_unlock();
}

void interval_reset(uint32_t set) {
    struct snapshot s;
    if (interval_collect_and_lock()) {
        return;
    }
    if (snapshot_take(&s)) {
        log_error("no memory to reset: the interval continues");
        interval_unlock();
        return;
    }
    interval_start_over(&s, set);
    interval_close(&s);
}
