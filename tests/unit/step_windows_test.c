/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long waiting scopes waited per window of steps: against what the test knows of each step.
 */
#include <pthread.h>

#include "arena/windows.h"
#include "record/waits.h"
#include "recorded.h"
#include "support.h"

static const struct arena_windows *windows_of(const char *name) {
    uint32_t unit =
        arena_header()->job ? ((struct arena_job *)arena_at(arena_header()->job))->windows : 0;
    for (; unit; unit = ((const struct arena_windows *)arena_at(unit))->next) {
        const struct arena_windows *w = arena_at(unit);
        if (!strcmp(arena_text_at(arena_site_at(w->site)->name)->bytes, name)) {
            return w;
        }
    }
    return NULL;
}

static void wait_at(uint64_t ns) {
    STINT_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
    fake_advance(ns);
}

static void wait_elsewhere(uint64_t ns) {
    STINT_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
    fake_advance(ns);
}

static void work_then_wait(uint64_t ns) {
    REGISTER_TIMER("work");
    fake_advance(3);
    wait_at(ns);
}

TEST(step_windows, have_each_step) {
    uint64_t expected[ARENA_WINDOWS] = {0}, calls[ARENA_WINDOWS] = {0}, state = 3;
    wait_at(50); /* before the first step: in it */
    expected[0] = 50;
    calls[0] = 1;
    for (int step = 0; step < 1000; ++step) {
        for (uint64_t n = random_next(&state) % 3; n; --n) {
            uint64_t ns = random_next(&state) % 1000;
            work_then_wait(ns);
            wait_elsewhere(2 * ns);
            expected[step / 4] += 3 * ns;
            calls[step / 4] += 2;
        }
        stint_step();
    }
    const struct arena_windows *w = windows_of("barrier");
    CHECK(w != NULL);
    CHECK_EQ_U64(w->width, 4);
    CHECK_EQ_U64(w->steps, 1000);
    CHECK_EQ_U64(w->lacks, 0);
    CHECK_EQ_U64(w->next, 0); /* one record for all places of the name */
    for (int i = 0; i < 256; ++i) {
        CHECK_EQ_U64(w->window[i].ticks, expected[i]);
        CHECK_EQ_U64(w->window[i].calls, calls[i]);
    }
}

TEST(step_windows, are_off_without_steps_or_waiting_scopes) {
    wait_at(5);
    CHECK_EQ_U64(arena_header()->job, 0);
}

TEST(step_windows, are_off_without_waiting_scopes) {
    for (int i = 0; i < 1000; ++i) {
        timed("work", 5);
        stint_step();
    }
    CHECK_EQ_U64(arena_header()->job, 0);
}

static void *wait_in_thread(void *ns) {
    wait_at(*(uint64_t *)ns);
    return NULL;
}

TEST(step_windows, add_up_threads) {
    uint64_t ns = 70;
    pthread_t t;
    stint_step();
    CHECK(!pthread_create(&t, NULL, wait_in_thread, &ns));
    pthread_join(t, NULL);
    wait_at(5);
    stint_step();
    const struct arena_windows *w = windows_of("barrier");
    CHECK_EQ_U64(w->window[0].ticks, 0);
    CHECK_EQ_U64(w->window[1].ticks, 75);
    CHECK_EQ_U64(w->window[1].calls, 2);
}

static void wait_inside(void) {
    STINT_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
    fake_advance(10);
    wait_at(100);
}

/* As in the totals of names, which have the time of the outer one alone. */
TEST(step_windows, a_name_inside_itself_counts_once) {
    wait_inside();
    stint_step();
    CHECK_EQ_U64(windows_of("barrier")->window[0].ticks, 110);
    CHECK_EQ_U64(stat_of("barrier").total_ns, 110);
}

#define WAIT(number)                                                                               \
    do {                                                                                           \
        STINT_TIMER_ROLE("wait " #number, STINT_ROLE_WAITING);                                     \
        fake_advance(number + 1);                                                                  \
    } while (0)

TEST(step_windows, the_first_15_names_have_some) {
    for (int i = 0; i < 2; ++i) {
        WAIT(0);
        WAIT(1);
        WAIT(2);
        WAIT(3);
        WAIT(4);
        WAIT(5);
        WAIT(6);
        WAIT(7);
        WAIT(8);
        WAIT(9);
        WAIT(10);
        WAIT(11);
        WAIT(12);
        WAIT(13);
        WAIT(14);
        WAIT(15);
        WAIT(16);
        stint_step();
    }
    CHECK_EQ_U64(windows_of("wait 14")->window[1].ticks, 15);
    CHECK(windows_of("wait 15") == NULL);
    CHECK_EQ_U64(windows_of("wait 0")->lacks, 0);
}

/* More call places than are summed: which name lacks some is not known. */
TEST(step_windows, too_many_nodes_are_said_to_lack) {
    wait_at(5);
    stint_step();
    for (uint32_t i = 0; i < WAITS_MOST; ++i) {
        char name[20];
        snprintf(name, sizeof name, "phase %u", i);
        REGISTER_TIMER_DYNAMIC(name);
        wait_at(1);
    }
    stint_step();
    CHECK_EQ_U64(waits_left_out(), 1);
    CHECK(windows_of("barrier")->lacks > 0);
}

TEST(step_windows, the_child_of_a_fork_has_its_own) {
    wait_at(5);
    stint_step();
    pid_t child = fork();
    if (!child) {
        CHECK_EQ_U64(waits_count(), 0);
        wait_at(7);
        stint_step();
        wait_at(9);
        stint_step();
        const struct arena_windows *w = windows_of("barrier");
        CHECK_EQ_U64(w->window[0].ticks, 7);
        CHECK_EQ_U64(w->window[1].ticks, 9);
        CHECK_EQ_U64(w->steps, 2);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && !status);
    wait_at(11);
    stint_step();
    CHECK_EQ_U64(windows_of("barrier")->window[1].ticks, 11);
}

static void *step_often(void *unused) {
    for (int i = 0; i < 1000; ++i) {
        wait_at(3);
        stint_step();
    }
    return unused;
}

/* A step that finds another one at work leaves its time to the next. */
TEST(step_windows, lose_nothing_where_several_threads_step) {
    pthread_t t[4];
    for (int i = 0; i < 4; ++i) {
        CHECK(!pthread_create(&t[i], NULL, step_often, NULL));
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(t[i], NULL);
    }
    stint_step();
    const struct arena_windows *w = windows_of("barrier");
    uint64_t ticks = 0, calls = 0;
    for (uint32_t i = 0; i < w->room; ++i) {
        ticks += w->window[i].ticks;
        calls += w->window[i].calls;
    }
    CHECK_EQ_U64(calls, 4000);
    CHECK_EQ_U64(ticks, stat_of("barrier").total_ns);
    CHECK_EQ_U64(w->steps, 4001);
    CHECK_EQ_U64(w->width, 16);
}

HARNESS_MAIN()
