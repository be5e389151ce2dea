/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explicit tasks of OpenMP: scopes of the thread that runs them, below the scope that created them.
 * The data of a task is its place in a table of senders; a task without room in it is shown where
 * it runs. A task that is suspended stays open below those that run meanwhile, as the thread
 * returns to it; an untied one, which another thread may go on with, is closed and
 * what follows is a scope with another name, so that tasks are counted once.
 */
#include "ompt.h"
#include "range_stack.h"
#include "range_tables.h"

#define TASKS 16384
#define TASK_UNKNOWN ((uint64_t)1 << 62) /* the data of a task without a place */
#define TASK_UNTIED ((uint64_t)1 << 61)
#define TASK_ENTERED ((uint64_t)1 << 60) /* one without a place, once */

static struct {
    stint_sender sender;
    uint32_t next;      /* place + 1, in the list of those that are free */
    uint8_t is_open;    /* on the thread that runs it */
    uint8_t is_started; /* has been open */
} tasks[TASKS];
static uint64_t free_task;  /* of the list: place + 1 below, number of changes above. Atomic */
static uint32_t used_tasks; /* atomic */

static uint32_t task_take(void) {
    uint64_t head = __atomic_load_n(&free_task, __ATOMIC_ACQUIRE);
    while ((uint32_t)head) {
        uint32_t at = (uint32_t)head;
        uint64_t next =
            ((head >> 32) + 1) << 32 | __atomic_load_n(&tasks[at - 1].next, __ATOMIC_RELAXED);
        if (__atomic_compare_exchange_n(&free_task, &head, next, 1, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            return at;
        }
    }
    if (__atomic_load_n(&used_tasks, __ATOMIC_RELAXED) >= TASKS) {
        return 0;
    }
    uint32_t at = __atomic_add_fetch(&used_tasks, 1, __ATOMIC_RELAXED);
    if (at > TASKS) {
        __atomic_store_n(&used_tasks, TASKS, __ATOMIC_RELAXED);
        return 0;
    }
    return at;
}

static void task_give(uint32_t at) {
    uint64_t head = __atomic_load_n(&free_task, __ATOMIC_RELAXED), now;
    do {
        __atomic_store_n(&tasks[at - 1].next, (uint32_t)head, __ATOMIC_RELAXED);
        now = ((head >> 32) + 1) << 32 | at;
    } while (!__atomic_compare_exchange_n(&free_task, &head, now, 1, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

void ompt_task_created(union ompt_data *by, const void *frame, union ompt_data *task, int flags,
                       int dependent, const void *address) {
    task->value = 0;
    if (!(flags & OMPT_TASK_EXPLICIT)) {
        return;
    }
    uint32_t at = task_take();
    if (!at) {
        task->value = TASK_UNKNOWN;
        stint_impl_lose_range();
        return;
    }
    tasks[at - 1].sender = stint_sender_here();
    tasks[at - 1].is_open = 0;
    tasks[at - 1].is_started = 0;
    task->value = at;
    if (flags & OMPT_TASK_UNTIED) {
        task->value |= TASK_UNTIED;
    }
}

/* Leaves the task: for good, or to go on later. */
static void task_leave(union ompt_data *task, int status) {
    uint32_t at = (uint32_t)task->value;
    int ends = status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL;
    if (!at) {
        if (task->value & TASK_ENTERED && ends) {
            range_pop(RANGE_OMPT);
            task->value = 0;
        }
        return;
    }
    if (tasks[at - 1].is_open &&
        (ends || status == OMPT_TASK_DETACH || task->value & TASK_UNTIED)) {
        tasks[at - 1].is_open = 0;
        range_pop(RANGE_OMPT);
    }
    if (ends || status == OMPT_TASK_FULFILLED) {
        task->value = 0;
        task_give(at);
    }
}

static void task_enter(union ompt_data *task) {
    static struct stint_impl_site site = RANGE_SITE("omp task", 0);
    static struct stint_impl_site later = RANGE_SITE("omp task continued", 0);
    uint32_t at = (uint32_t)task->value;
    if (at && !tasks[at - 1].is_open) {
        struct stint_impl_site *which = tasks[at - 1].is_started ? &later : &site;
        tasks[at - 1].is_open = 1;
        tasks[at - 1].is_started = 1;
        range_push_under(RANGE_OMPT, which, tasks[at - 1].sender);
    } else if ((task->value & (TASK_UNKNOWN | TASK_ENTERED)) == TASK_UNKNOWN) {
        task->value |= TASK_ENTERED;
        range_push_site(RANGE_OMPT, &site);
    }
}

void ompt_task_scheduled(union ompt_data *left, int status, union ompt_data *entered) {
    if (left && !(left->value & OMPT_IMPLICIT)) {
        task_leave(left, status);
    }
    if (entered && !(entered->value & OMPT_IMPLICIT)) {
        task_enter(entered);
    }
}
