/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long waiting scopes waited per window of their own calls: against what the test knows of each
 * call.
 */
#include <pthread.h>

#include "arena/windows.h"
#include "recorded.h"
#include "steps/call_windows.h"
#include "support.h"

static const struct arena_windows *windows_of(const char *name, uint32_t by_calls) {
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

static struct stint_impl_site site = {
    .name = "MPI_Allreduce", .file = "", .function = "", .role = STINT_ROLE_WAITING};

/* As a wrapper of MPI. */
static void call_of(struct stint_impl_site *of, uint64_t ns, void (*inside)(void)) {
    stint_impl_opened guard __attribute__((cleanup(stint_impl_end_call)));
    guard = stint_impl_begin(&guard, of, 0);
    fake_advance(ns);
    if (inside) {
        inside();
    }
}

static void call(uint64_t ns) {
    call_of(&site, ns, NULL);
}

static void check_sums(const struct arena_windows *w, const char *name) {
    uint64_t ticks = 0, calls = 0;
    for (uint32_t i = 0; i < w->room; ++i) {
        ticks += w->window[i].ticks;
        calls += w->window[i].calls;
    }
    CHECK_EQ_U64(calls, stat_of(name).calls);
    CHECK_EQ_U64(calls, w->steps);
    CHECK_EQ_U64(ticks, stat_of(name).total_ns);
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
    const struct arena_windows *w = windows_of("MPI_Allreduce", 1);
    CHECK(w != NULL && !w->next);
    CHECK_EQ_U64(w->room, ARENA_CALL_WINDOWS);
    CHECK_EQ_U64(w->width, 8);
    for (int i = 0; i < 125; ++i) {
        CHECK_EQ_U64(w->window[i].ticks, expected[i]);
        CHECK_EQ_U64(w->window[i].calls, 8);
    }
    check_sums(w, "MPI_Allreduce");
}

TEST(call_windows, are_beside_those_of_steps) {
    for (int i = 0; i < 10; ++i) {
        call(7);
        call(9);
        stint_step();
    }
    CHECK_EQ_U64(windows_of("MPI_Allreduce", 1)->window[3].ticks, 9);
    CHECK_EQ_U64(windows_of("MPI_Allreduce", 0)->window[3].ticks, 16);
}

static void call_within(void) {
    call(100);
}

/* As in the totals of names, which have the time of the outer one alone: a call in a callback. */
TEST(call_windows, a_name_inside_itself_counts_once) {
    static struct stint_impl_site again = {
        .name = "MPI_Allreduce", .file = "", .function = "", .role = STINT_ROLE_WAITING};
    call_of(&site, 10, call_within);
    call_of(&again, 10, call_within);
    const struct arena_windows *w = windows_of("MPI_Allreduce", 1);
    CHECK_EQ_U64(w->steps, 2);
    CHECK_EQ_U64(w->window[0].ticks, 110);
    CHECK_EQ_U64(w->window[1].ticks, 110);
}

TEST(call_windows, the_first_31_names_have_some) {
    static struct stint_impl_site other[40];
    static char name[40][20];
    for (int i = 0; i < 40; ++i) {
        snprintf(name[i], sizeof name[i], "MPI_%d", i);
        other[i] = (struct stint_impl_site){
            .name = name[i], .file = "", .function = "", .role = STINT_ROLE_WAITING};
        call_of(&other[i], 5, NULL);
        call_of(&other[i], 6, NULL);
    }
    CHECK_EQ_U64(windows_of("MPI_30", 1)->window[1].ticks, 6);
    CHECK(windows_of("MPI_31", 1) == NULL);
    CHECK_EQ_U64(windows_of("MPI_0", 1)->steps, 2);
    CHECK_EQ_U64(stat_of("MPI_39").calls, 2);
}

TEST(call_windows, a_scope_that_is_off_has_none) {
    stint_timers_enable(0);
    call(5);
    stint_timers_enable(1);
    CHECK_EQ_U64(arena_header()->job, 0);
}

TEST(call_windows, the_child_of_a_fork_has_its_own) {
    call(5);
    pid_t child = fork();
    if (!child) {
        call(7);
        const struct arena_windows *w = windows_of("MPI_Allreduce", 1);
        CHECK_EQ_U64(w->window[0].ticks, 7);
        CHECK_EQ_U64(w->steps, 1);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && !status);
    call(11);
    CHECK_EQ_U64(windows_of("MPI_Allreduce", 1)->window[1].ticks, 11);
}

static void *call_often(void *unused) {
    for (int i = 0; i < 2000; ++i) {
        call(3);
        if (i % 100 == 0) {
            stint_step();
        }
    }
    return unused;
}

TEST(call_windows, lose_nothing_of_several_threads) {
    pthread_t t[4];
    for (int i = 0; i < 4; ++i) {
        CHECK(!pthread_create(&t[i], NULL, call_often, NULL));
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(t[i], NULL);
    }
    CHECK_EQ_U64(windows_of("MPI_Allreduce", 1)->steps, 8000);
    check_sums(windows_of("MPI_Allreduce", 1), "MPI_Allreduce");
}

HARNESS_MAIN()
