/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork: the child starts empty in an arena of its own, and the parent is not changed. The child may
 * fork again, and may be made by any thread at any time.
 */

#include "harness_threads.h"
#include "record/thread.h"
#include "recorded.h"

static void scope(uint64_t ns) {
    REGISTER_TIMER("scope");
    fake_advance(ns);
}

static void clean_child(void) {
    stint_stat s;
    CHECK(stint_stat_get("scope", &s, sizeof s) == -1);
    scope(5);
    CHECK_EQ_U64(calls_of("scope"), 1);
    CHECK_EQ_U64(stat_of("scope").total_ns, 5);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(arena_header()->pid, (uint64_t)getpid());
    CHECK_EQ_U64(arena_header()->parent_pid, (uint64_t)getppid());
    CHECK_EQ_U64(arena_header()->thread_count, 1);
}

TEST(fork, child_starts_clean) {
    for (int i = 0; i < 3; ++i) {
        scope(10);
    }
    harness_in_child(clean_child);
    CHECK_EQ_U64(calls_of("scope"), 3);
    CHECK_EQ_U64(stat_of("scope").total_ns, 30);
    CHECK_EQ_U64(arena_header()->pid, (uint64_t)getpid());
    harness_in_child(clean_child);
}

TEST(fork, before_the_first_use) {
    harness_in_child(clean_child);
    scope(1);
    CHECK_EQ_U64(calls_of("scope"), 1);
}

static void grandchild(void) {
    scope(5);
    harness_in_child(clean_child);
    CHECK_EQ_U64(calls_of("scope"), 1);
}

TEST(fork, child_of_a_child) {
    scope(1);
    harness_in_child(grandchild);
}

TEST(fork, inside_scopes) {
    pid_t child;
    int status = 1;
    {
        REGISTER_TIMER("outer");
        REGISTER_TIMER("inner");
        fake_advance(10);
        child = fork();
        if (child == 0) {
            alarm(harness_child_seconds());
            scope(3);
            CHECK_EQ_U64(open_scopes(), 0); /* the parent's are not the child's */
        }
        fake_advance(10);
    }
    if (child == 0) {
        CHECK_EQ_U64(calls_of("outer") + calls_of("inner"), 0);
        CHECK_EQ_U64(calls_of("scope"), 1);
        CHECK_EQ_U64(stat_of("scope").total_ns, 3);
        CHECK_EQ_U64(lost_in_all(), 0);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK_EQ_U64(stat_of("outer").total_ns, 20);
    CHECK_EQ_U64(stat_of("inner").total_ns, 20);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(fork, handle_begun_before) {
    stint_timer t;
    pid_t child;
    int status = 1;
    TIMER_BEGIN(t, "handle");
    child = fork();
    if (child == 0) {
        alarm(harness_child_seconds());
        TIMER_END(t); /* the very first use in the child */
        scope(1);
        CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1);
        CHECK_EQ_U64(calls_of("handle"), 0);
        CHECK_EQ_U64(calls_of("scope"), 1); /* not the number the handle still carried */
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    TIMER_END(t);
    CHECK_EQ_U64(calls_of("handle"), 1);
}

static stint_set *set;

static void set_in_child(void) {
    stint_stat s;
    CHECK(stint_set_get("a set") == set);
    CHECK(stint_set_stat_get(set, "scope", &s, sizeof s) == -1);
    {
        REGISTER_TIMER("scope", -1, set);
        fake_advance(2);
    }
    CHECK(stint_set_stat_get(set, "scope", &s, sizeof s) == 0 && s.total_ns == 2);
    CHECK(stint_set_get("another")->id == 2);
}

TEST(fork, sets_live_on) {
    stint_stat s;
    set = stint_set_get("a set");
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("scope", -1, set);
        fake_advance(1);
    }
    harness_in_child(set_in_child);
    CHECK(stint_set_stat_get(set, "scope", &s, sizeof s) == 0 && s.calls == 2);
}

static void settings_in_child(void) {
    REGISTER_TIMER_DETAIL("detail", 1);
    REGISTER_TIMER("refused");
    fake_advance(1);
}

static void after_settings(void) {
    settings_in_child();
    CHECK_EQ_U64(calls_of("detail"), 1);
    CHECK_EQ_U64(calls_of("refused"), 0);
}

TEST(fork, settings_are_inherited) {
    stint_level_set(1);
    stint_filter_set("-refused");
    harness_in_child(after_settings);
}

static void after_reset(void) {
    scope(1);
    stint_reset();
    scope(1);
    CHECK_EQ_U64(calls_of("scope"), 1);
}

TEST(fork, baseline_is_the_parents_own) {
    scope(1);
    stint_reset();
    scope(1);
    harness_in_child(after_reset);
    harness_in_child(clean_child);
    CHECK_EQ_U64(calls_of("scope"), 1);
}

/* Other threads in the middle of everything: new names, new threads, reports, resets. */
static int stop;

static void *busy(void *unused) {
    char name[32];
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++i) {
        snprintf(name, sizeof name, "busy%u", i % 500);
        REGISTER_TIMER_DYNAMIC(name);
        scope(1);
        if (i % 100 == 0) {
            stint_reset();
            stint_filter_set(i % 200 ? NULL : "-nothing");
            stint_level_set((int)(i / 100 % 2));
        }
    }
    return unused;
}

static void child_of_busy(void) {
    for (int i = 0; i < 20; ++i) {
        scope(1);
    }
    stint_reset();
    scope(1);
    CHECK_EQ_U64(calls_of("scope"), 1);
    CHECK_EQ_U64(arena_header()->thread_count, 1);
}

TEST(fork, from_a_program_in_full_swing) {
    pthread_t t[2];
#if defined(__SANITIZE_THREAD__)
    SKIP("the thread sanitizer does not support threads after a fork from many");
#endif
    threads_start(t, 2, busy, NULL, 0);
    for (int i = 0; i < 50; ++i) {
        harness_in_child(child_of_busy);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    threads_join(t, 2);
}

static void *forks(void *unused) {
    scope(1);
    harness_in_child(clean_child);
    scope(1);
    return unused;
}

TEST(fork, from_another_thread) {
    scope(1);
    thread_run(forks, NULL);
    CHECK_EQ_U64(calls_of("scope"), 3);
}

/* ---- Chains of processes, each the child of the one before: memory of earlier generations is
 * given back. */

#define GENERATIONS 40
#define WARM 3       /* generations after which nothing grows any more */
#define ROOM_KB 4096 /* the C library's, for threads; 400 KB a generation would be 14 MB */

static int generation;
static uint64_t warm_kb;

static void *record_on_a_thread(void *unused) {
    char name[32];
    for (int i = 0; i < 500; ++i) {
        snprintf(name, sizeof name, "name %d", i);
        REGISTER_TIMER_DYNAMIC(name);
        scope(1);
    }
    return unused;
}

/* Tables that grew, a second recorder, a reset. */
static void record_much(void) {
    pthread_t t;
    CHECK(!pthread_create(&t, NULL, record_on_a_thread, NULL));
    record_on_a_thread(NULL);
    CHECK(!pthread_join(t, NULL));
    stint_reset();
    scope(1);
}

static void next_generation(void) {
    record_much();
    uint64_t kb = harness_mapped() / 1024;
    warm_kb = generation == WARM ? kb : warm_kb;
    CHECK(generation <= WARM || kb < warm_kb + ROOM_KB);
    if (++generation < GENERATIONS) {
        harness_in_child(next_generation);
    }
}

TEST(fork, generations_do_not_grow) {
    if (SANITIZED) {
        SKIP("a sanitizer keeps memory of its own");
    }
    next_generation();
}
