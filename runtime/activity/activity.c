/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - The lock is never taken while the registry's is held, nor the other way round: a fork takes
 *   both in whatever order. The registry's reader mark stands for it: the child of a fork in a
 *   signal handler that interrupted us here keeps the parent's arena until we are done with it.
 * - A program's thread must not wait for a buffer of records to be read: steps go into a ring of
 *   their own that whoever has the lock empties.
 */
#include "activity.h"

#include <pthread.h>

#include "activity_book.h"
#include "activity_call.h"
#include "activity_device.h"
#include "activity_lane.h"
#include "activity_launch.h"
#include "activity_line.h"
#include "activity_memory.h"
#include "activity_rows.h"
#include "activity_steps.h"
#include "activity_text.h"
#include "activity_time.h"
#include "base/demangle.h"
#include "base/errno_keep.h"
#include "base/lock.h"
#include "record/registry.h"

static int opened;            /* under the lock */
static uint32_t opened_under; /* the arena's gate then */
static uint64_t began_at;
static int inherited; /* there is one thread then */
static int watching;  /* between activity_open and activity_pause; relaxed */

/* ---- The lock. How often the thread is inside also counts the activity_begin in there. */

static unsigned inside(void) {
    return lock_inside(LOCK_ACTIVITY);
}

/* How the thread was before. */
struct visit {
    int cancel;
    int reading;
};
static struct visit holder; /* of the lock */

static void forget(void) {
    STINT_IMPL_STORE(&watching, 0);
    activity_steps_forget();
    opened = 0;
    inherited = 0;
    activity_launch_forget();
    activity_call_forget();
    activity_line_forget();
    activity_memory_forget();
    activity_lane_forget();
    activity_rows_forget();
    activity_text_forget();
    activity_device_forget();
}

/* A thread cancelled in here would keep the lock for ever. The reader's mark is there whenever
 * the other is: a fork must not find one without the other. */
static struct visit enter(void) {
    struct visit v = {.reading = registry_reading()};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &v.cancel);
    registry_read_begin();
    lock_enter(LOCK_ACTIVITY);
    return v;
}

static void leave(struct visit v) {
    lock_leave(LOCK_ACTIVITY);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!v.reading) {
        registry_read_end();
    }
    pthread_setcancelstate(v.cancel, NULL);
}

/* Has the lock. */
static void take_over(struct visit v) {
    holder = v;
    if (inherited || (opened && (!arena.base || opened_under != registry_arena_gate()))) {
        forget();
    }
}

static void lock_activities(void) {
    struct visit v = enter();
    lock_hold(LOCK_ACTIVITY);
    take_over(v);
}

static int try_lock_activities(void) {
    struct visit v = enter();
    if (lock_try(LOCK_ACTIVITY)) {
        leave(v);
        return -1;
    }
    take_over(v);
    return 0;
}

static void unlock_activities(void) {
    struct visit v = holder;
    if (inherited) {
        forget();
    }
    lock_drop(LOCK_ACTIVITY);
    leave(v);
}

static void forget_in_child(int held) {
    if (held) {
        forget();
    } else {
        inherited = 1; /* the interrupted call ends first */
    }
}

LOCK_OVER_FORK(LOCK_ACTIVITY, NULL, forget_in_child)

void activity_forget(void) {
    if (inside()) {
        inherited = 1;
        return;
    }
    lock_activities();
    forget();
    unlock_activities();
}

/* ---- */

uint64_t activity_clock(void) {
    const struct arena_header *h = arena_header();
    return h ? activity_ns_in(h, clock_ticks()) : 1;
}

static int open_all(void) {
    int failed = activity_launch_open() || activity_call_open() || activity_line_open() ||
                 activity_memory_open() || activity_rows_open() || activity_text_open();
    if (failed) {
        forget();
        return -1;
    }
    opened_under = registry_arena_gate();
    opened = 1;
    return 0;
}

int activity_open(void) {
    ERRNO_KEEP;
    char name[8];
    if (inside() || registry_held()) {
        return -1;
    }
    (void)demangle(name, sizeof name, "_Z1fv"); /* loads what it needs, under no lock of ours */
    registry_lock();                            /* opens the arena if nothing was recorded yet */
    registry_unlock();
    lock_activities();
    int result = opened ? 0 : arena.base ? open_all() : -1;
    STINT_IMPL_STORE(&watching, !result);
    unlock_activities();
    return result;
}

/* In a signal handler of a thread that is in here: nothing until its own end. */
void activity_begin(void) {
    if (inside()) {
        lock_enter(LOCK_ACTIVITY);
        return;
    }
    lock_activities();
    began_at = activity_clock();
    activity_launch_now(clock_ticks());
}

static int may_add(void) {
    return inside() == 1 && opened;
}

/* Gives the lock up over the demangling, which allocates memory. NULL: all was forgotten meanwhile. */
static const struct activity_text *add_name(const char *name) {
    char words[ARENA_NAME_BYTES + 2]; /* one more than is kept, to see that it was cut */
    struct visit v = holder;
    uint64_t began = began_at;
    lock_drop(LOCK_ACTIVITY);
    const char *text = demangle(words, sizeof words, name) ? name : words;
    lock_hold(LOCK_ACTIVITY);
    take_over(v);
    began_at = began;
    if (!opened) {
        return NULL;
    }
    const struct activity_text *found = activity_text_find(name); /* another thread's */
    return found ? found : activity_text_add(name, text);
}

void activity_add(const struct activity_record *r) {
    if (!may_add()) {
        return;
    }
    const struct activity_text *name = activity_text_find(r->name);
    name = name ? name : add_name(r->name);
    if (name) {
        activity_steps_take(activity_line_step);
        activity_book(r, name, began_at);
    }
}

void activity_end(void) {
    if (inside() > 1) {
        lock_leave(LOCK_ACTIVITY);
    } else if (inside()) {
        unlock_activities();
    }
}

int activity_knows_device(uint32_t number) {
    const struct activity_gpu *g = may_add() ? activity_device_find(number) : NULL;
    return g && g->described;
}

void activity_device(uint32_t number, const struct gpu_device *d) {
    if (may_add()) {
        activity_device_get(number, d);
    }
}

/* ---- The time line. */

static void settle(int pause) {
    activity_book_rest();
    activity_steps_take(activity_line_step);
    if (pause) {
        activity_line_break();
    } else {
        activity_line_settle();
    }
}

void activity_settle(void) {
    if (!inside()) {
        lock_activities();
        if (opened) {
            settle(0);
        }
        unlock_activities();
    }
}

void activity_pause(void) {
    STINT_IMPL_STORE(&watching, 0);
    if (!inside()) {
        lock_activities();
        if (opened) {
            settle(1);
        }
        unlock_activities();
    }
}

/* Somebody must look before the ring is full; whoever has the lock does so anyway. */
void activity_step(void) {
    if (!STINT_IMPL_LOAD(&watching) || !activity_steps_put(activity_clock()) || inside() ||
        try_lock_activities()) {
        return;
    }
    if (opened) {
        activity_steps_take(activity_line_step);
    }
    unlock_activities();
}
