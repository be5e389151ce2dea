/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sums of waiting scopes by their own calls, for programs that do not call stint_step: the n-th
 * call of a collective is the same one in all ranks (docs/scale.md).
 * - The wrappers of MPI end their waiting scopes here. What the end added to its node is added to
 * the windows of its name, which have all the threads of the process, in the order of the ends.
 * - The records are those of step_windows.c, under LOCK_STEP, where a node's record is found by the
 * node's number.
 */
#include "base/api.h"

#include "arena/arena.h"
#include "arena/windows.h"
#include "base/errno_keep.h"
#include "base/lock.h"
#include "call_windows.h"
#include "record/waits.h"
#include "step_windows.h"

#define PLACES 64u

/* Under LOCK_STEP. */
static struct {
    uint32_t age; /* of the list of waits: another one in the child of a fork */
    struct {
        uint32_t node;    /* units; 0 = none */
        uint32_t windows; /* its record, units; 0 = none */
    } place[PLACES];
} calls_known;

static uint32_t find_own_windows(uint32_t unit) {
    if (calls_known.age != waits_age()) {
        memset(&calls_known, 0, sizeof calls_known);
        calls_known.age = waits_age();
    }
    uint32_t at = unit * 2654435761u >> 26;
    if (calls_known.place[at].node != unit) {
        const struct stint_impl_node *n = arena_at(unit);
        calls_known.place[at].windows = step_windows_is_inside(n) ? 0 : step_windows_get(n, 1);
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
