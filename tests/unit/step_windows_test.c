/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long waiting scopes waited per window of steps, and of their own calls: against what the test
 * knows of each one.
 */

#include "arena/windows.h"
#include "harness_threads.h"
#include "interval/step_windows.h"
#include "record/waits.h"
#include "recorded.h"
#include "support.h"

static const struct arena_windows *find_windows(const char *name, uint32_t by_calls) {
    uint32_t unit =
        arena_header()->job ? ((struct arena_job *)arena_at(arena_header()->job))->windows : 0;
    for (; unit; unit = ((const struct arena_windows *)arena_at(unit))->next) {
        const struct arena_windows *w = arena_at(unit);
        if (w->by_calls == by_calls &&
            !strcmp(arena_text_at(arena_site_at(w->site)->name)->bytes, name)) {
            return w;
        }
    }
    return NULL;
}

static const struct arena_windows *windows_of(const char *name) {
    return find_windows(name, 0);
}

static const struct arena_windows *call_windows_of(const char *name) {
    return find_windows(name, 1);
}

static void wait_at(uint64_t ns) {
    STINT_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
    fake_advance(ns);
}

static void wait_elsewhere(uint64_t ns) {
    STINT_TIMER_ROLE("barrier", STINT_ROLE_WAITING);
    fake_advance(ns);
}

#define WAITING_SITE(text)                                                                         \
    { .name = text, .file = "", .function = "", .role = STINT_ROLE_WAITING }
static struct stint_impl_site site = WAITING_SITE("barrier");

/* As a wrapper of MPI: it is in the windows of its calls, too. */
static void call_of(struct stint_impl_site *of, uint64_t ns, void (*inside)(uint64_t ns)) {
    stint_impl_opened guard __attribute__((cleanup(stint_impl_end_call)));
    guard = stint_impl_begin(&guard, of, 0);
    fake_advance(ns);
    if (inside) {
        inside(10 * ns);
    }
}

static void call(uint64_t ns) {
    call_of(&site, ns, NULL);
}

static void check_sums(const struct arena_windows *w) {
    uint64_t ticks = 0, calls = 0;
    for (uint32_t i = 0; i < w->room; ++i) {
        ticks += w->window[i].ticks;
        calls += w->window[i].calls;
    }
    CHECK_EQ_U64(calls, stat_of("barrier").calls);
    CHECK_EQ_U64(ticks, stat_of("barrier").total_ns);
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

TEST(call_windows, have_each_call) {
    uint64_t expected[ARENA_CALL_WINDOWS] = {0}, state = 5;
    for (int i = 0; i < 1000; ++i) {
        uint64_t ns = random_next(&state) % 5000;
        if (i % 3) {
            REGISTER_TIMER("phase"); /* two call paths */
            call(ns);
        } else {
            call(ns);
        }
        expected[i / 8] += ns;
    }
    const struct arena_windows *w = call_windows_of("barrier");
    CHECK(w != NULL && !w->next);
    CHECK_EQ_U64(w->room, ARENA_CALL_WINDOWS);
    CHECK_EQ_U64(w->width, 8);
    CHECK_EQ_U64(w->steps, 1000);
    for (int i = 0; i < 125; ++i) {
        CHECK_EQ_U64(w->window[i].ticks, expected[i]);
        CHECK_EQ_U64(w->window[i].calls, 8);
    }
    check_sums(w);
}

TEST(call_windows, a_scope_that_is_off_has_none) {
    stint_timers_enable(0);
    call(5);
    stint_timers_enable(1);
    CHECK_EQ_U64(arena_header()->job, 0);
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
    stint_step();
    thread_run(wait_in_thread, &ns);
    wait_at(5);
    stint_step();
    const struct arena_windows *w = windows_of("barrier");
    CHECK_EQ_U64(w->window[0].ticks, 0);
    CHECK_EQ_U64(w->window[1].ticks, 75);
    CHECK_EQ_U64(w->window[1].calls, 2);
}

/* As in the totals of names, which have the time of the outer one alone: a call in a callback. */
TEST(step_windows, a_name_inside_itself_counts_once) {
    static struct stint_impl_site again = WAITING_SITE("barrier");
    call_of(&site, 10, call);
    call_of(&again, 10, call);
    stint_step();
    CHECK_EQ_U64(windows_of("barrier")->window[0].ticks, 220);
    CHECK_EQ_U64(stat_of("barrier").total_ns, 220);
    CHECK_EQ_U64(call_windows_of("barrier")->steps, 2);
    CHECK_EQ_U64(call_windows_of("barrier")->window[0].ticks, 110);
    CHECK_EQ_U64(call_windows_of("barrier")->window[1].ticks, 110);
}

TEST(step_windows, the_first_15_names_have_some_and_31_by_calls) {
    static struct stint_impl_site other[40];
    static char name[40][20];
    for (uint64_t i = 0; i < 80; ++i) {
        uint64_t k = i % 40;
        if (i < 40) {
            snprintf(name[k], sizeof name[k], "wait %d", (int)k);
            other[k] = (struct stint_impl_site)WAITING_SITE(name[k]);
        }
        call_of(&other[k], k + 1, NULL);
        if (k == 39) {
            stint_step();
        }
    }
    CHECK_EQ_U64(windows_of("wait 14")->window[1].ticks, 15);
    CHECK(windows_of("wait 15") == NULL);
    CHECK_EQ_U64(windows_of("wait 0")->lacks, 0);
    CHECK_EQ_U64(call_windows_of("wait 30")->window[1].ticks, 31);
    CHECK(call_windows_of("wait 31") == NULL);
    CHECK_EQ_U64(call_windows_of("wait 0")->steps, 2);
    CHECK_EQ_U64(stat_of("wait 39").calls, 2);
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
    call(5);
    stint_step();
    IN_CHILD() {
        CHECK_EQ_U64(waits_count(), 0);
        call(7);
        stint_step();
        call(9);
        stint_step();
        const struct arena_windows *w = windows_of("barrier");
        CHECK_EQ_U64(w->window[0].ticks, 7);
        CHECK_EQ_U64(w->window[1].ticks, 9);
        CHECK_EQ_U64(w->steps, 2);
        CHECK_EQ_U64(call_windows_of("barrier")->window[0].ticks, 7);
        CHECK_EQ_U64(call_windows_of("barrier")->steps, 2);
    }
    call(11);
    stint_step();
    CHECK_EQ_U64(windows_of("barrier")->window[1].ticks, 11);
    CHECK_EQ_U64(call_windows_of("barrier")->window[1].ticks, 11);
}

static void *step_often(void *unused) {
    for (int i = 0; i < 1000; ++i) {
        call(3);
        stint_step();
    }
    return unused;
}

/* A step that finds another one at work leaves its time to the next. */
TEST(step_windows, lose_nothing_where_several_threads_step) {
    threads_run(4, step_often, NULL, 0);
    stint_step();
    const struct arena_windows *w = windows_of("barrier");
    check_sums(w);
    check_sums(call_windows_of("barrier"));
    CHECK_EQ_U64(call_windows_of("barrier")->steps, 4000);
    CHECK_EQ_U64(w->steps, 4001);
    CHECK_EQ_U64(w->width, 16);
}
