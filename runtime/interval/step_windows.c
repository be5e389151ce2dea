/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of waiting scopes per window of steps, which tell in which part of a run a rank was late
 * (docs/scale.md). stint_step calls step_windows_add; recording a scope costs nothing more. For
 * programs that do not call stint_step there are sums by calls: the n-th call of a collective is
 * the same one in all ranks, and the wrappers of MPI end their waiting scopes here.
 * - At the end of a step each waiting node's total is compared with what it was before. A step that
 * another thread is working on, or that a signal handler ends inside of one, is left out: its time
 * is then in the next one. So the windows have all of the time up to the last step.
 * - The first step has what was recorded before it, too.
 * - By calls, what the end of a scope added to its node is added to the windows of its name, which
 * have all the threads of the process, in the order of the ends.
 * - Sums are in the arena (struct arena_windows), by name and set. All else is in the memory of the
 * process, under LOCK_STEP.
 */
#include "base/api.h"

#include "arena/arena.h"
#include "arena/windows.h"
#include "base/errno_keep.h"
#include "record/waits.h"
#include "session/place.h"
#include "step_windows.h"
#include "system/lock.h"

static int has_name_of(uint32_t site, uint32_t other) {
    const struct arena_text *a = arena_text_at(arena_site_at(site)->name);
    const struct arena_text *b = arena_text_at(arena_site_at(other)->name);
    return a->length == b->length && !memcmp(a->bytes, b->bytes, a->length);
}

static uint32_t make_windows(struct arena_job *job, const struct stint_impl_node *n, int by_calls) {
    uint32_t room = by_calls ? ARENA_CALL_WINDOWS : ARENA_WINDOWS;
    uint32_t unit = arena_get(windows_bytes(room), ARENA_RECORD);
    if (unit) {
        struct arena_windows *w = arena_at(unit);
        windows_start(w, room);
        w->site = n->site;
        w->set = n->set;
        w->by_calls = (uint32_t)by_calls;
        w->next = job->windows;
        STINT_IMPL_PUBLISH(&job->windows, unit);
    }
    return unit;
}

/* The sums of the node's name and set by steps, or by its calls, in units; made if need be. 0: no
 * room is left. */
static uint32_t get_windows(const struct stint_impl_node *n, int by_calls) {
    struct arena_job *job = place_record();
    if (!job) {
        return 0;
    }
    uint32_t names = 0;
    for (uint32_t unit = job->windows; unit;) {
        const struct arena_windows *w = arena_at(unit);
        if ((int)w->by_calls == by_calls) {
            if (w->set == n->set && (w->site == n->site || has_name_of(w->site, n->site))) {
                return unit;
            }
            ++names;
        }
        unit = w->next;
    }
    if (names >= (by_calls ? ARENA_CALL_WINDOW_NAMES : ARENA_WINDOW_NAMES)) {
        return 0;
    }
    return make_windows(job, n, by_calls);
}

/* ---- By steps. */

/* A node as it was after the last step. */
struct waiting_node {
    uint64_t ticks;
    uint64_t calls;
    uint32_t unit;
    uint32_t windows; /* its sums, in units; 0 = none */
};

/* Under LOCK_STEP. */
static struct {
    struct waiting_node node[WAITS_MOST];
    uint32_t count;
    uint32_t age;      /* of the list of waits */
    uint32_t left_out; /* nodes that are not in the list of waits */
} step_waits;

/* Nodes that were made since the last step. */
static void take_new_nodes(void) {
    for (; step_waits.count < waits_count(); ++step_waits.count) {
        uint32_t unit = waits_node(step_waits.count);
        if (!unit) {
            return; /* another thread is adding it: it comes with the next step */
        }
        step_waits.node[step_waits.count] =
            (struct waiting_node){.unit = unit, .windows = get_windows(arena_at(unit), 0)};
    }
}

static void count_lacking(uint32_t windows) {
    struct arena_windows *w = arena_at(windows);
    STINT_IMPL_PUBLISH(&w->lacks, w->lacks + 1);
}

/* Nodes without a place in the list may be of any name. */
static void take_left_out(void) {
    uint32_t left_out = waits_left_out();
    if (left_out == step_waits.left_out) {
        return;
    }
    step_waits.left_out = left_out;
    for (uint32_t i = 0; i < step_waits.count; ++i) {
        if (step_waits.node[i].windows) {
            count_lacking(step_waits.node[i].windows);
        }
    }
}

static void add_difference(struct waiting_node *was, uint64_t step) {
    const struct stint_impl_node *n = arena_at(was->unit);
    /* A sample that is being added may be in one of the two: the next step has the rest. */
    uint64_t calls = __atomic_load_n(&n->seq, __ATOMIC_ACQUIRE) / 2;
    uint64_t ticks = __atomic_load_n(&n->total, __ATOMIC_ACQUIRE);
    windows_add(arena_at(was->windows), step, ticks - was->ticks, calls - was->calls);
    was->ticks = ticks;
    was->calls = calls;
}

/* step: from 0. */
static void add_step(uint64_t step) {
    if (step_waits.age != waits_age()) {
        step_waits.count = step_waits.left_out = 0;
        step_waits.age = waits_age();
    }
    take_new_nodes();
    take_left_out();
    for (uint32_t i = 0; i < step_waits.count; ++i) {
        if (step_waits.node[i].windows) {
            add_difference(&step_waits.node[i], step);
        }
    }
}

void step_windows_add(uint64_t step) {
    if (!waits_count() || lock_inside(LOCK_STEP)) {
        return;
    }
    lock_enter(LOCK_STEP);
    if (!lock_try(LOCK_STEP)) {
        if (arena.base) {
            add_step(step - 1);
        }
        lock_drop(LOCK_STEP);
    }
    lock_leave(LOCK_STEP);
}

/* ---- By calls. */

#define PLACES 64u

/* Under LOCK_STEP. */
static struct {
    uint32_t age; /* of the list of waits: another one in the child of a fork */
    struct {
        uint32_t node;    /* units; 0 = none */
        uint32_t windows; /* its record, units; 0 = none */
    } place[PLACES];
} calls_known;

/* Whether a scope of the name and set is around it: its time is in that one's. */
static int is_inside_own_name(const struct stint_impl_node *n) {
    for (uint32_t unit = n->parent; unit;
         unit = ((struct stint_impl_node *)arena_at(unit))->parent) {
        const struct stint_impl_node *around = arena_at(unit);
        if (around->site && around->set == n->set && has_name_of(around->site, n->site)) {
            return 1;
        }
    }
    return 0;
}

static uint32_t find_own_windows(uint32_t unit) {
    if (calls_known.age != waits_age()) {
        memset(&calls_known, 0, sizeof calls_known);
        calls_known.age = waits_age();
    }
    uint32_t at = unit * 2654435761u >> 26;
    if (calls_known.place[at].node != unit) {
        const struct stint_impl_node *n = arena_at(unit);
        calls_known.place[at].windows = is_inside_own_name(n) ? 0 : get_windows(n, 1);
        calls_known.place[at].node = unit;
    }
    return calls_known.place[at].windows;
}

static void add_calls(uint32_t unit, uint64_t ticks, uint64_t calls) {
    ERRNO_KEEP;
    if (lock_inside(LOCK_STEP)) {
        return; /* a signal handler: MPI may not be called there */
    }
    lock_take(LOCK_STEP);
    uint32_t record = arena.base ? find_own_windows(unit) : 0;
    if (record) {
        struct arena_windows *w = arena_at(record);
        windows_add(w, w->steps, ticks, calls);
    }
    lock_release(LOCK_STEP);
}

void stint_impl_end_call(void *guard) {
    const struct stint_impl_thread *t = stint_impl_thread_here;
    const struct stint_impl_frame *f = t->top;
    if (!*(stint_impl_opened *)guard || (STINT_IMPL_LOAD(&f->guard) | STINT_IMPL_TAGS) !=
                                            ((uint64_t)(uintptr_t)guard | STINT_IMPL_TAGS)) {
        stint_impl_end(guard);
        return;
    }
    uint32_t unit = STINT_IMPL_LOAD(&f->node);
    const struct stint_impl_node *n = stint_impl_node_at(t, unit);
    uint64_t calls = STINT_IMPL_LOAD(&n->seq) / 2, ticks = STINT_IMPL_LOAD(&n->total);
    stint_impl_end(guard);
    calls = STINT_IMPL_LOAD(&n->seq) / 2 - calls;
    if (calls) {
        add_calls(unit, STINT_IMPL_LOAD(&n->total) - ticks, calls);
    }
}
