/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings that a call changes: filter, level, on and off. They hold from the next scope on, on
 * every thread, and an invalid value changes nothing.
 */
#include <pthread.h>

#include "recorded.h"

static void scopes(void) {
    REGISTER_TIMER("keep.outer");
    fake_advance(1);
    REGISTER_TIMER("drop.inner");
    fake_advance(2);
    REGISTER_TIMER_DETAIL("keep.detail", STINT_LEVEL_OP_DETAIL);
    fake_advance(4);
    REGISTER_TIMER_DYNAMIC("drop.dynamic");
    fake_advance(8);
}

static void check_calls(uint64_t outer, uint64_t inner, uint64_t detail, uint64_t dynamic) {
    CHECK_EQ_U64(calls_of("keep.outer"), outer);
    CHECK_EQ_U64(calls_of("drop.inner"), inner);
    CHECK_EQ_U64(calls_of("keep.detail"), detail);
    CHECK_EQ_U64(calls_of("drop.dynamic"), dynamic);
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(control, filter_takes_names_away_and_gives_them_back) {
    scopes();
    CHECK(stint_filter_set("-drop.*") == 0);
    scopes();
    check_calls(2, 1, 0, 1);
    CHECK_EQ_U64(stat_of("keep.outer").self_ns, 1 + 15); /* their time belongs to it now */
    CHECK(stint_filter_set(NULL) == 0);
    scopes();
    check_calls(3, 2, 0, 2);
}

TEST(control, bad_level_changes_nothing) {
    CHECK(stint_level_set(STINT_LEVEL_OP_DETAIL) == STINT_OK);
    CHECK(stint_level_set(-1) == STINT_ERROR_UNKNOWN);
    CHECK(stint_level_set(3) == STINT_ERROR_UNKNOWN);
    CHECK(stint_level_set(99) == STINT_ERROR_UNKNOWN);
    scopes();
    check_calls(1, 1, 1, 1);
}

TEST(control, results_have_texts) {
    CHECK_STR_EQ(stint_result_text(STINT_OK), "ok");
    CHECK_STR_EQ(stint_result_text(STINT_ERROR_NO_MEMORY), "no memory");
    CHECK_STR_EQ(stint_result_text(STINT_ERROR_NOT_AVAILABLE), "not available");
    CHECK_STR_EQ(stint_result_text(STINT_ERROR_NOT_AVAILABLE - 1), "unknown result");
    CHECK_STR_EQ(stint_result_text(1), "unknown result");
    CHECK_STR_EQ(stint_result_text(-2147483647 - 1), "unknown result");
}

TEST(control, bad_filter_changes_nothing) {
    CHECK(stint_filter_set("-drop.*") == 0);
    CHECK(stint_filter_set("+,") == -1);
    scopes();
    check_calls(1, 0, 0, 0);
}

TEST(control, level) {
    scopes();
    stint_level_set(1);
    scopes();
    stint_level_set(0);
    scopes();
    check_calls(3, 3, 1, 3);
    CHECK(stint_level_set(-1) == STINT_ERROR_UNKNOWN);
    scopes();
    check_calls(4, 4, 1, 4);
}

TEST(control, enable) {
    stint_timers_enable(0);
    for (int i = 0; i < 1000; ++i) {
        scopes();
    }
    check_calls(0, 0, 0, 0);
    CHECK_EQ_U64(arena_header()->site_count, 0); /* not even a name is kept */
    stint_timers_enable(1);
    scopes();
    check_calls(1, 1, 0, 1);
}

TEST(control, open_scopes_close_whatever_is_set_meanwhile) {
    {
        REGISTER_TIMER("open");
        REGISTER_TIMER_DYNAMIC("open.dynamic");
        fake_advance(1);
        stint_timers_enable(0);
        REGISTER_TIMER("off");
        fake_advance(2);
    }
    stint_timers_enable(1);
    CHECK_EQ_U64(stat_of("open").total_ns, 3);
    CHECK_EQ_U64(stat_of("open.dynamic").total_ns, 3);
    CHECK_EQ_U64(open_scopes(), 0);
}

static int stop;
static uint64_t rounds;

static void *keeps_recording(void *unused) {
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        REGISTER_TIMER("always");
        REGISTER_TIMER("sometimes");
        ++rounds;
    }
    return unused;
}

TEST(control, changed_while_another_thread_records) {
    pthread_t t;
    CHECK(pthread_create(&t, NULL, keeps_recording, NULL) == 0);
    for (int i = 0; i < 2000; ++i) {
        stint_filter_set(i % 2 ? NULL : "-sometimes");
        stint_level_set(i % 3);
    }
    CHECK(stint_filter_set("-sometimes") == 0);
    uint64_t before, after = calls_of("sometimes");
    do { /* one may still be open */
        before = after;
        usleep(20000);
        after = calls_of("sometimes");
    } while (after > before && after <= before + 1);
    CHECK_EQ_U64(after, before);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(t, NULL);
    CHECK_EQ_U64(calls_of("always"), rounds);
    CHECK(calls_of("sometimes") <= rounds);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(control, errno_is_kept) {
    errno = 1234;
    stint_timers_enable(1);
    stint_level_set(2);
    stint_filter_set("+a");
    stint_filter_set(",");
    stint_threads_show(1);
    stint_set_get("a set");
    stint_reset();
    CHECK(stint_now_us() > 0);
    CHECK(errno == 1234);
}
