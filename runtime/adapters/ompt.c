/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OMPT in libstint-ranges.so: the parts of OpenMP programs as scopes. The OpenMP runtime looks for
 * ompt_start_tool in the program, in preloaded libraries and in those of OMP_TOOL_LIBRARIES, and
 * makes the calls that are set here.
 *
 * All are scopes of the thread that they run on, in one stack. Barriers, taskwaits and locks have
 * the role waiting. Regions, with the end of a worker's part, are in ompt_regions.c, tasks in
 * ompt_tasks.c.
 */
#include "ompt.h"

#include <stddef.h>
#include <string.h>

#include "range_near.h"
#include "range_tables.h"

#define SITE(name) RANGE_SITE(name, 0)
#define WAITING(name) RANGE_SITE(name, STINT_ROLE_WAITING)

static struct stint_impl_site masked_site = SITE("omp masked");
static struct stint_impl_site critical_site = SITE("omp critical");

/* By ompt_work; the specification names more with time. */
static struct stint_impl_site work_sites[] = {SITE("omp work"),
                                              SITE("omp for"),
                                              SITE("omp sections"),
                                              SITE("omp single"),
                                              WAITING("omp single of another thread"),
                                              SITE("omp workshare"),
                                              SITE("omp distribute"),
                                              SITE("omp taskloop"),
                                              SITE("omp scope")};
#define WORKS (sizeof work_sites / sizeof *work_sites)
#define WORK_LOOP 1
#define WORK_FIRST_LOOP 10 /* of those with a schedule in their name, four */
#define WORK_LAST_LOOP 13

/* By ompt_sync_region. */
static struct stint_impl_site sync_sites[] = {
    WAITING("omp sync"),      WAITING("omp barrier"),  WAITING("omp barrier implicit"),
    WAITING("omp barrier"),   WAITING("omp barrier"),  WAITING("omp taskwait"),
    WAITING("omp taskgroup"), WAITING("omp reduction")};
#define SYNCS (sizeof sync_sites / sizeof *sync_sites)
#define SYNC_FIRST_IMPLICIT 8 /* of the later ones: workshare, parallel, teams */

/* By ompt_mutex. */
static struct stint_impl_site mutex_sites[] = {
    WAITING("omp mutex wait"),  WAITING("omp lock wait"),   WAITING("omp lock wait"),
    WAITING("omp lock wait"),   WAITING("omp lock wait"),   WAITING("omp critical wait"),
    WAITING("omp atomic wait"), WAITING("omp ordered wait")};
#define MUTEXES (sizeof mutex_sites / sizeof *mutex_sites)
#define MUTEX_TEST 2
#define MUTEX_TEST_NEST 4
#define MUTEX_CRITICAL 5

static RANGE_NOT_INLINE void ompt_push(struct stint_impl_site *site) {
    range_near_push_site(RANGE_OMPT, &range_default[RANGE_OMPT], RANGE_OMPT, site, 0);
}

static RANGE_NOT_INLINE void ompt_pop(void) {
    range_near_pop(RANGE_OMPT);
}

/* A construct that the thread is in between its two ends. */
static void take_endpoint(int endpoint, struct stint_impl_site *site) {
    if (endpoint == OMPT_BEGIN) {
        ompt_push(site);
    } else if (endpoint == OMPT_END) {
        ompt_pop();
    }
}

static void on_sync_wait(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                         const void *address) {
    static __thread uint32_t waits __attribute__((tls_model("initial-exec")));
    size_t site = 0;
    if (kind >= SYNC_FIRST_IMPLICIT) {
        site = OMPT_SYNC_IMPLICIT;
    } else if (kind > 0 && (size_t)kind < SYNCS) {
        site = (size_t)kind;
    }
    if (endpoint == OMPT_BEGIN && ompt_is_last_barrier(kind, region, task, address)) {
        ompt_worker_arrives(region, task);
    } else if (endpoint == OMPT_BEGIN) {
        ++waits;
        ompt_push(&sync_sites[site]);
    } else if (endpoint == OMPT_END && waits) { /* else that of a worker's last barrier */
        --waits;
        ompt_pop();
    }
}

static void on_work(int kind, int endpoint, union ompt_data *region, union ompt_data *task,
                    uint64_t count, const void *address) {
    size_t site = 0;
    if (endpoint == OMPT_END) {
        ompt_pop();
        return;
    }
    if (kind >= WORK_FIRST_LOOP && kind <= WORK_LAST_LOOP) {
        site = WORK_LOOP;
    } else if (kind > 0 && (size_t)kind < WORKS) {
        site = (size_t)kind;
    }
    take_endpoint(endpoint, &work_sites[site]);
}

static void on_masked(int endpoint, union ompt_data *region, union ompt_data *task,
                      const void *address) {
    take_endpoint(endpoint, &masked_site);
}

/* ---- Locks.
 *
 * The wait is a scope when it has ended: libomp before 15 announces omp_test_lock as a wait, and
 * does not tell that it failed. */

static __thread struct {
    struct stint_impl_site *site; /* NULL: none */
    uint64_t ticks;
} lock_wait __attribute__((tls_model("initial-exec")));

static void on_mutex_acquire(int kind, unsigned hint, unsigned how, uint64_t id,
                             const void *address) {
    lock_wait.site = NULL;
    if (kind != MUTEX_TEST && kind != MUTEX_TEST_NEST && kind > 0 && (size_t)kind < MUTEXES) {
        lock_wait.site = &mutex_sites[kind];
        lock_wait.ticks = stint_impl_range_ticks();
    }
}

static void on_mutex_acquired(int kind, uint64_t id, const void *address) {
    if (lock_wait.site) {
        range_push_at(RANGE_OMPT, lock_wait.site, lock_wait.ticks);
        ompt_pop();
        lock_wait.site = NULL;
    }
    if (kind == MUTEX_CRITICAL) {
        ompt_push(&critical_site);
    }
}

static void on_mutex_released(int kind, uint64_t id, const void *address) {
    if (kind == MUTEX_CRITICAL) {
        ompt_pop();
    }
}

/* Called for a lock that the thread holds already. */
static void on_nest_lock(int endpoint, uint64_t id, const void *address) {
    if (endpoint == OMPT_BEGIN) {
        on_mutex_acquired(0, id, address);
    }
}

/* ---- The tool. */

/* Ranges may also come after the exit report: they are recorded as others. */
static void ompt_finish(union ompt_data *tool) {
}

#define CALL(number, function)                                                                     \
    { number, (ompt_function)function }

static int ompt_initialize(ompt_lookup look, int device, union ompt_data *tool) {
    static const struct {
        int number;
        ompt_function function;
    } calls[] = {
        CALL(3, ompt_parallel_begin), CALL(4, ompt_parallel_end),  CALL(5, ompt_task_created),
        CALL(6, ompt_task_scheduled), CALL(7, ompt_implicit_task), CALL(16, on_sync_wait),
        CALL(17, on_mutex_released),  CALL(20, on_work),           CALL(21, on_masked),
        CALL(26, on_mutex_acquire),   CALL(27, on_mutex_acquired), CALL(28, on_nest_lock)};
    ompt_set_call set = NULL;
    if (look) {
        set = (ompt_set_call)look("ompt_set_callback");
    }
    if (!set) {
        return 0;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        set(calls[i].number, calls[i].function);
    }
    return 1;
}

/* NULL: the runtime asks the next tool. */
RANGE_EXPORTED struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime) {
    static struct ompt_tool tool = {ompt_initialize, ompt_finish, {0}};
    if (range_is_off(RANGE_OMPT)) {
        return NULL;
    }
    return &tool;
}
