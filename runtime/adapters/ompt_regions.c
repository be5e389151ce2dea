/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions of OpenMP: the part of each thread is a scope.
 *
 * A worker hears of the end of its last barrier in a region at the next fork, or never. So its part
 * of the region ends when it arrives there; that wait is an interval, which the thread that ends
 * the region ends. A worker that waits is in the list of its region, which the runtime keeps for
 * the tool with the region (ompt_data of parallel_begin): it is read when all of them have arrived.
 */
#include "ompt.h"

#include <stddef.h>

#include "range_stack.h"
#include "range_tables.h"

static struct stint_impl_site parallel_site = RANGE_SITE("omp parallel", 0);
static struct stint_impl_site implicit_site =
    RANGE_SITE("omp barrier implicit", STINT_ROLE_WAITING);

/* The number of an implicit task's data: its index and the open ranges around it. */
#define INDEX_SHIFT 32

struct worker_wait {
    stint_timer timer;
    struct worker_wait *next;
    const union ompt_data *region; /* whose list it is in; NULL: none */
};
static __thread struct worker_wait wait_here __attribute__((tls_model("initial-exec")));

static void ranges_close(uint64_t depth) {
    while ((uint64_t)range_depth(RANGE_OMPT) > depth) {
        range_pop(RANGE_OMPT);
    }
}

void ompt_parallel_begin(union ompt_data *task, const void *frame, union ompt_data *region,
                         unsigned threads, int flags, const void *address) {
    __atomic_store_n(&region->pointer, NULL, __ATOMIC_RELEASE);
}

void ompt_parallel_end(union ompt_data *region, union ompt_data *task, int flags,
                       const void *address) {
    struct worker_wait *wait = NULL;
    if (region) {
        wait = __atomic_exchange_n(&region->pointer, NULL, __ATOMIC_ACQ_REL);
    }
    while (wait) {
        struct worker_wait *next = wait->next; /* it may wait again as soon as it is in no list */
        if (wait->timer.word[0]) {
            stint_impl_handle_end(wait->timer.word);
        }
        __atomic_store_n(&wait->region, NULL, __ATOMIC_RELEASE);
        wait = next;
    }
}

void ompt_implicit_task(int endpoint, union ompt_data *region, union ompt_data *task,
                        unsigned threads, unsigned index, int flags) {
    if (flags & OMPT_TASK_INITIAL || !task) {
        return;
    }
    if (endpoint == OMPT_BEGIN) {
        task->value =
            OMPT_IMPLICIT | (uint64_t)index << INDEX_SHIFT | (uint64_t)range_depth(RANGE_OMPT);
        range_push_site(RANGE_OMPT, &parallel_site);
    } else if (task->value & OMPT_IMPLICIT && !index) {
        ranges_close((uint32_t)task->value);
    }
}

/* The last barrier of a worker in its region. */
void ompt_worker_arrives(union ompt_data *region, const union ompt_data *task) {
    struct worker_wait *wait = &wait_here;
    ranges_close((uint32_t)task->value);
    if (__atomic_load_n(&wait->region, __ATOMIC_ACQUIRE)) {
        return; /* in a list already: the runtime has not ended that region */
    }
    range_count(RANGE_OMPT);
    stint_impl_handle_begin(wait->timer.word, &implicit_site);
    wait->region = region;
    void *first = __atomic_load_n(&region->pointer, __ATOMIC_RELAXED);
    do {
        wait->next = first;
    } while (!__atomic_compare_exchange_n(&region->pointer, &first, wait, 1, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
}

/* libomp before 16 has one kind for all implicit barriers; that at the end has no address in a
 * worker. */
int ompt_is_last_barrier(int kind, const union ompt_data *region, const union ompt_data *task,
                         const void *address) {
    if (!region || !task || !(task->value & OMPT_IMPLICIT) ||
        !(task->value << 1 >> (INDEX_SHIFT + 1))) {
        return 0;
    }
    return kind == OMPT_SYNC_PARALLEL || (kind == OMPT_SYNC_IMPLICIT && !address);
}
