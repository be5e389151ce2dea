/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry points of activity.h: the activity lock, opening, forgetting in the child of a fork,
 * and the demangling of names.
 *
 * Implementation notes
 * - A thread in here has the registry's reader mark, too: the child of a fork by a signal handler
 * that interrupted it keeps the parent's arena until the interrupted call has ended.
 * - A program's thread must not wait while a buffer of records is read: steps go into a ring of
 * their own, which the holder of the lock empties.
 */
#include "activity.h"

#include <pthread.h>

#include "activity_private.h"
#include "base/errno_keep.h"
#include "record/registry.h"
#include "system/demangle.h"
#include "system/lock.h"

static int opened;            /* under the lock */
static uint32_t opened_under; /* the arena's gate then */
static uint64_t began_at;
/* The tables are the parent's, and still in use by an interrupted call. */
static int inherited_tables;
static int watching; /* between activity_open and activity_pause; relaxed */

/* ---- The lock. */

/* How often the thread is inside; each nested activity_begin counts. */
static unsigned activity_get_depth(void) {
    return lock_inside(LOCK_ACTIVITY);
}

/* How the thread was before. */
struct visit {
    int cancel;
    int reading;
};
static struct visit holder; /* of the lock */

static void activity_forget_tables(void) {
    STINT_IMPL_STORE(&watching, 0);
    activity_steps_forget();
    opened = 0;
    inherited_tables = 0;
    activity_launch_forget();
    activity_call_forget();
    activity_line_forget();
    activity_memory_forget();
    activity_lane_forget();
    activity_source_forget();
    activity_rows_forget();
    activity_text_forget();
    activity_device_forget();
}

/* A thread cancelled in here would never release the lock. The reader's mark is set whenever the
 * thread is inside the lock: a fork must not find one without the other. */
static struct visit activity_enter(void) {
    struct visit v = {.reading = registry_reading()};
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &v.cancel);
    registry_read_begin();
    lock_enter(LOCK_ACTIVITY);
    return v;
}

static void activity_leave(struct visit v) {
    lock_leave(LOCK_ACTIVITY);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (!v.reading) {
        registry_read_end();
    }
    pthread_setcancelstate(v.cancel, NULL);
}

/* With the lock, just taken. Forgets tables of another arena. */
static void activity_note_holder(struct visit v) {
    holder = v;
    if (inherited_tables || (opened && (!arena.base || opened_under != registry_arena_gate()))) {
        activity_forget_tables();
    }
}

static void activity_lock(void) {
    struct visit v = activity_enter();
    lock_hold(LOCK_ACTIVITY);
    activity_note_holder(v);
}

static int activity_try_lock(void) {
    struct visit v = activity_enter();
    if (lock_try(LOCK_ACTIVITY)) {
        activity_leave(v);
        return -1;
    }
    activity_note_holder(v);
    return 0;
}

static void activity_unlock(void) {
    struct visit v = holder;
    if (inherited_tables) {
        activity_forget_tables();
    }
    lock_drop(LOCK_ACTIVITY);
    activity_leave(v);
}

static void activity_forget_in_child(int held) {
    if (held) {
        activity_forget_tables();
    } else {
        inherited_tables = 1; /* the interrupted call ends first */
    }
}

LOCK_OVER_FORK(LOCK_ACTIVITY, NULL, activity_forget_in_child)

/* ---- */

uint64_t activity_clock(void) {
    const struct arena_header *h = arena_header();
    if (!h) {
        return 1;
    }
    return activity_ns_in(h, clock_ticks());
}

/* 0, or -1 without memory for a table or the arena. */
static int activity_open_tables(void) {
    if (!arena.base) {
        return -1;
    }
    int failed = activity_launch_open() || activity_call_open() || activity_line_open() ||
                 activity_memory_open() || activity_rows_open() || activity_text_open();
    if (failed) {
        activity_forget_tables();
        return -1;
    }
    opened_under = registry_arena_gate();
    opened = 1;
    return 0;
}

int activity_open(void) {
    ERRNO_KEEP;
    char name[8];
    if (activity_get_depth() || registry_held()) {
        return -1;
    }
    (void)demangle(name, sizeof name, "_Z1fv"); /* loads its library, with no lock held */
    registry_lock();                            /* opens the arena if nothing was recorded yet */
    registry_unlock();
    activity_lock();
    int result = 0;
    if (!opened) {
        result = activity_open_tables();
    }
    activity_launch_begin(clock_ticks());
    STINT_IMPL_STORE(&watching, !result);
    activity_unlock();
    return result;
}

/* In a signal handler of a thread that is inside: no effect until the handler's activity_end. */
void activity_begin(void) {
    if (activity_get_depth()) {
        lock_enter(LOCK_ACTIVITY);
        return;
    }
    activity_lock();
    began_at = activity_clock();
    activity_launch_now(clock_ticks());
}

static int activity_may_add(void) {
    return activity_get_depth() == 1 && opened;
}

/* Releases the lock for the demangling, which allocates memory. NULL: all was forgotten during
 * that. */
static const struct activity_text *activity_add_name(const char *name) {
    char words[ARENA_NAME_BYTES + 2]; /* one more than is kept, to see that it was cut */
    struct visit v = holder;
    uint64_t began = began_at;
    lock_drop(LOCK_ACTIVITY);
    const char *text = words;
    if (demangle(words, sizeof words, name)) {
        text = name;
    }
    lock_hold(LOCK_ACTIVITY);
    activity_note_holder(v);
    began_at = began;
    if (!opened) {
        return NULL;
    }
    const struct activity_text *found = activity_text_find(name);
    if (found) { /* another thread has added it since */
        return found;
    }
    return activity_text_add(name, text);
}

void activity_add(const struct activity_record *r) {
    if (!activity_may_add()) {
        return;
    }
    const struct activity_text *name = activity_text_find(r->name);
    if (!name) {
        name = activity_add_name(r->name);
    }
    if (name) {
        activity_steps_take(activity_line_step);
        activity_book(r, name, began_at);
    }
}

void activity_end(void) {
    if (activity_get_depth() > 1) {
        lock_leave(LOCK_ACTIVITY);
    } else if (activity_get_depth()) {
        activity_unlock();
    }
}

int activity_knows_device(uint32_t number) {
    if (!activity_may_add()) {
        return 0;
    }
    const struct activity_gpu *g = activity_device_find(number);
    return g && g->described;
}

void activity_device(uint32_t number, const struct gpu_device *d) {
    if (activity_may_add()) {
        activity_device_get(number, d);
    }
}

/* ---- The time line. */

static void activity_settle_line(int pause) {
    if (activity_get_depth()) {
        return;
    }
    activity_lock();
    if (opened) {
        activity_book_rest(pause);
        activity_steps_take(activity_line_step);
        if (pause) {
            activity_line_break();
        } else {
            activity_line_settle();
        }
    }
    activity_unlock();
}

void activity_settle(void) {
    activity_settle_line(0);
}

void activity_pause(void) {
    STINT_IMPL_STORE(&watching, 0);
    activity_settle_line(1);
}

/* The ring must be emptied before it is full; a holder of the lock does that in any case. */
void activity_step(void) {
    if (!STINT_IMPL_LOAD(&watching) || !activity_steps_put(activity_clock()) ||
        activity_get_depth() || activity_try_lock()) {
        return;
    }
    if (opened) {
        activity_steps_take(activity_line_step);
    }
    activity_unlock();
}
