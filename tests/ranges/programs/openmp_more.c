/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each construct of OpenMP that the adapter knows, a known number of times, with two threads. The
 * test has the counts; no work is in them. The first argument is the number of rounds; with a
 * second one they are those of the cancelled constructs only.
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sink, seen;

static void count_up(void) {
#pragma omp atomic
    ++sink;
}

/* Loops with each kind of schedule, sections, single and masked; a lock, and one taken twice. */
static void share(void) {
    omp_lock_t lock;
    omp_nest_lock_t nest;
    int sum = 0;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
#pragma omp for
        for (int i = 0; i < 100; ++i) {
            sum += i;
        }
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 100; ++i) {
            sum += i;
        }
#pragma omp sections
        {
            count_up();
#pragma omp section
            count_up();
        }
#pragma omp single
        count_up();
#pragma omp master
        count_up();
#pragma omp barrier
        omp_set_lock(&lock);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
#pragma omp critical
        ++sum;
#pragma omp for ordered
        for (int i = 0; i < 4; ++i) {
#pragma omp ordered
            count_up();
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
}

/* Tasks that are undeferred, untied, that wait for their children, in a group and a taskloop; those
 * without a wait run in the last barrier of their region. */
static void tasks(void) {
#pragma omp parallel num_threads(2)
#pragma omp single nowait
    {
        for (int i = 0; i < 8; ++i) {
#pragma omp task untied
            {
#pragma omp task
                count_up();
#pragma omp taskwait
#pragma omp task if (0)
                count_up();
            }
        }
#pragma omp taskgroup
        {
#pragma omp task
            count_up();
        }
#pragma omp taskloop num_tasks(4)
        for (int i = 0; i < 16; ++i) {
            count_up();
        }
#pragma omp task
        count_up();
    }
}

/* A lock that is asked for many times, and was taken before. */
static void poll(void) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    omp_test_lock(&lock);
#pragma omp parallel num_threads(2)
    for (int i = 0; i < 1000; ++i) {
        if (omp_test_lock(&lock)) {
            abort();
        }
    }
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
}

/* Tasks that end later than they return, and tasks that wait for others. */
static void dependent(void) {
    omp_event_handle_t early, late;
    int x = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task detach(early)
        omp_fulfill_event(early);
#pragma omp task detach(late)
        count_up();
#pragma omp task
        omp_fulfill_event(late);
#pragma omp taskwait
        for (int i = 0; i < 10; ++i) {
#pragma omp task depend(inout : x) shared(x) priority(1)
            ++x;
#pragma omp task depend(in : x) shared(x) final(1) mergeable
            seen = x;
        }
    }
}

/* Tasks of a group that is cancelled, if OMP_CANCELLATION says that they may be. */
static void cancelled(void) {
#pragma omp parallel num_threads(2)
#pragma omp master
#pragma omp taskgroup
    for (int i = 0; i < 20; ++i) {
#pragma omp task
        {
#pragma omp cancel taskgroup if (i == 3)
            count_up();
        }
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp cancel parallel
#pragma omp barrier
    }
}

static void nested(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp parallel num_threads(2)
        {
#pragma omp for
            for (int i = 0; i < 4; ++i) {
                count_up();
            }
        }
    }
#pragma omp parallel num_threads(1)
    count_up();
#pragma omp parallel if (0)
    count_up();
}

static void teams(void) {
#pragma omp teams num_teams(2) thread_limit(1)
#pragma omp distribute parallel for
    for (int i = 0; i < 16; ++i) {
        count_up();
    }
}

int main(int argc, char **argv) {
    for (int i = 0; i < atoi(argv[1]); ++i) {
        cancelled();
        if (argc > 2) {
            continue;
        }
        share();
        tasks();
        poll();
        dependent();
        nested();
        teams();
    }
    printf("%d\n", sink);
    return 0;
}
