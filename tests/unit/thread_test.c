/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorders of threads: reuse after a thread's end, names, the number of recorders, and scopes that
 * find none, which must be counted as lost.
 */
#include "harness_threads.h"
#include "record/thread.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

#include "recorded.h"

static void run(void *(*body)(void *), void *arg) {
    pthread_t t;
    if (CHECK(pthread_create(&t, NULL, body, arg) == 0)) {
        pthread_join(t, NULL);
    }
}

static void *short_life(NO_ARG) {
    for (int i = 0; i < 3; ++i) {
        REGISTER_TIMER("short");
        REGISTER_TIMER("inner");
        fake_advance(2);
    }
    return NULL;
}

TEST(thread, a_thousand_short_ones_share_one_recorder) {
    enum { TO_HISTOGRAMS = STINT_IMPL_RAW / 3 + 1 };
    for (int i = 0; i < TO_HISTOGRAMS; ++i) {
        run(short_life, NULL);
    }
    uint64_t used = arena_used();
    for (int i = TO_HISTOGRAMS; i < 1000; ++i) {
        run(short_life, NULL);
    }
    CHECK_EQ_U64(arena_used(), used);
    CHECK_EQ_U64(arena_header()->thread_count, 1);
    CHECK_EQ_U64(newest_thread()->uses, 1000);
    stint_stat s = stat_of("short");
    CHECK_EQ_U64(s.calls, 3000);
    CHECK_EQ_U64(s.total_ns, 6000);
    CHECK_EQ_U64(s.max_ns, 2);
    CHECK_EQ_U64(calls_of("inner"), 3000);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void *many_rounds(NO_ARG) {
    for (int i = 0; i < 100; ++i) {
        run(short_life, NULL);
    }
    return NULL;
}

TEST(thread, recorders_no_more_than_ever_alive_at_once) {
    threads_run(8, many_rounds, NULL, 0);
    CHECK(arena_header()->thread_count <= 8);
    uint64_t uses = 0;
    for (const struct arena_thread *r = newest_thread(); r; r = next_thread(r)) {
        uses += r->uses;
        CHECK(!r->alive);
    }
    CHECK_EQ_U64(uses, 800);
    CHECK_EQ_U64(calls_of("short"), 2400);
    CHECK_EQ_U64(calls_of("inner"), 2400);
}

static void late(NO_ARG) {
    for (int i = 0; i < 5; ++i) {
        REGISTER_TIMER("late");
        REGISTER_TIMER_DYNAMIC("late.dynamic");
    }
    CHECK(stint_sample_add("late.sample", 1) == STINT_ERROR_NOT_AVAILABLE);
}

static pthread_key_t late_key;

static void *with_late_scopes(void *unused) {
    pthread_setspecific(late_key, unused);
    REGISTER_TIMER("early");
    return NULL;
}

TEST(thread, scopes_after_its_end_are_counted) {
    int something;
    { REGISTER_TIMER("first use"); /* the library's key now comes before ours: it ends first */ }
    CHECK(pthread_key_create(&late_key, late) == 0);
    run(with_late_scopes, &something);
    CHECK_EQ_U64(calls_of("early"), 1);
    CHECK_EQ_U64(calls_of("late"), 0);
    CHECK_EQ_U64(lost(STINT_STATUS_AFTER_END), 11);
    CHECK_EQ_U64(lost_in_all(), 11);
}

static void *named(void *tid) {
    prctl(PR_SET_NAME, "worker-7");
    REGISTER_TIMER("named");
    *(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
    CHECK_EQ_U64(newest_thread()->alive, 1);
    CHECK_EQ_U64(newest_thread()->end_ticks, 0);
    return NULL;
}

TEST(thread, record_has_name_and_number) {
    uint32_t tid = 0;
    fake_advance(1000);
    run(named, &tid);
    const struct arena_thread *r = newest_thread();
    CHECK(tid != 0);
    CHECK_EQ_U64(r->tid, tid);
    CHECK_STR_EQ(r->name, "worker-7");
    CHECK_EQ_U64(r->alive, 0);
    CHECK_EQ_U64(r->start_ticks, FAKE_START + 1000);
    CHECK_EQ_U64(r->end_ticks, FAKE_START + 1000);
    CHECK_EQ_U64(r->ordinal, 0);
}

TEST(thread, the_next_owner_writes_its_own_name) {
    uint32_t tid = 0;
    run(named, &tid);
    run(short_life, NULL);
    const struct arena_thread *r = newest_thread();
    if (CHECK(r != NULL)) {
        CHECK(strcmp(r->name, "worker-7") != 0);
        CHECK(r->tid != tid || r->uses == 2);
    }
}

/* The state that a signal handler finds if it interrupts the recorder. */
TEST(thread, inside_the_slow_path_is_lost_not_waited_for) {
    struct thread_block *b = thread_enter(1);
    CHECK(b != NULL && thread_is_busy());
    CHECK(thread_here() == NULL);
    {
        REGISTER_TIMER("interrupting");
        REGISTER_TIMER_DYNAMIC("interrupting.dynamic");
    }
    CHECK(stint_sample_add("interrupting.sample", 1) == STINT_ERROR_NOT_AVAILABLE);
    thread_leave(b);
    CHECK(thread_here() == b && !thread_is_busy());
    CHECK_EQ_U64(lost(STINT_STATUS_IN_SLOW_PATH), 3);
    { REGISTER_TIMER("after"); }
    CHECK_EQ_U64(calls_of("after"), 1);
    CHECK_EQ_U64(calls_of("interrupting"), 0);
}

#define MANY 200
static pthread_barrier_t all_alive;

static void *long_life(NO_ARG) {
    { REGISTER_TIMER("alive"); }
    pthread_barrier_wait(&all_alive);
    return NULL;
}

TEST(thread, without_memory_for_a_recorder_scopes_are_counted) {
    pthread_t t[MANY];
    pthread_attr_t small;
    setenv("STINT_MEMORY", "1M", 1);
    pthread_barrier_init(&all_alive, NULL, MANY);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (int i = 0; i < MANY; ++i) {
        CHECK(pthread_create(&t[i], &small, long_life, NULL) == 0);
    }
    threads_join(t, MANY);
    uint64_t recorded = calls_of("alive"), refused = lost(STINT_STATUS_NO_THREAD);
    CHECK_EQ_U64(recorded + refused + lost(STINT_STATUS_NO_NODE), MANY);
    /* 1 MiB / (257 frames of 48 bytes + record + nodes + histogram): 54, less those that have a
     * recorder, but no node (up to 4 were seen). */
    CHECK(recorded > 30 && refused > 50);
    run(short_life, NULL);
    CHECK(arena_used() <= (1 << 20));
}
