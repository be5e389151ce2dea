/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes with names made at run time: matching by content, many names, begin and end by name, added
 * samples. The expected calls and times are those of the fake clock.
 */
#include "harness_threads.h"
#include "record/dynamic.h"

#include "recorded.h"

static void scope(const char *name, uint64_t ns) {
    REGISTER_TIMER_DYNAMIC(name);
    fake_advance(ns);
}

TEST(dynamic, sixty_four_names) {
    char name[64][32];
    for (int i = 0; i < 64; ++i) {
        snprintf(name[i], sizeof name[i], "sixteen bytes %02d", i);
    }
    for (uint64_t round = 0; round < 100; ++round) {
        for (uint64_t i = 0; i < 64; ++i) {
            scope(name[i], i + 1);
        }
    }
    for (uint64_t i = 0; i < 64; ++i) {
        stint_stat s = stat_of(name[i]);
        CHECK_EQ_U64(s.calls, 100);
        CHECK_EQ_U64(s.total_ns, 100 * (i + 1));
    }
    CHECK_EQ_U64(arena_header()->site_count, 64);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(dynamic, one_buffer_with_changing_content) {
    char name[24];
    for (int i = 0; i < 100; ++i) {
        REGISTER_TIMER_DYNAMIC((snprintf(name, sizeof name, "n%d", i % 10), name));
        memset(name, 'x', sizeof name); /* gone before the scope closes */
        fake_advance(1);
    }
    for (int i = 0; i < 10; ++i) {
        snprintf(name, sizeof name, "n%d", i);
        CHECK_EQ_U64(calls_of(name), 10);
    }
    CHECK_EQ_U64(arena_header()->site_count, 10);
}

TEST(dynamic, matched_by_content_wherever_it_stands) {
    char a[] = "name", b[] = "name";
    scope(a, 1);
    {
        REGISTER_TIMER_DYNAMIC(b);
        fake_advance(2);
    }
    {
        REGISTER_TIMER("name"); /* a literal of that name is the same statistic */
        fake_advance(4);
    }
    stint_sample_add("name", 8);
    stint_stat s = stat_of("name");
    CHECK_EQ_U64(s.calls, 4);
    CHECK_EQ_U64(s.total_ns, 15);
}

TEST(dynamic, not_told_apart_by_length_alone) {
    char name[40] = "";
    for (int i = 1; i < 40; ++i) {
        name[i - 1] = 'a';
        scope(name, (uint64_t)i);
    }
    for (int i = 39; i > 0; --i) {
        name[i] = '\0';
        CHECK_EQ_U64(stat_of(name).total_ns, (uint64_t)i);
    }
}

TEST(dynamic, more_names_than_a_thread_remembers) {
    char name[24];
    for (int i = 0; i < 9000; ++i) {
        snprintf(name, sizeof name, "%d", i % 3000);
        scope(name, 1);
    }
    for (int i = 0; i < 3000; i += 500) {
        snprintf(name, sizeof name, "%d", i);
        CHECK_EQ_U64(calls_of(name), 3);
    }
    CHECK_EQ_U64(arena_header()->site_count, 3000);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(dynamic, sets_and_thresholds) {
    stint_set *set = stint_set_get("a set");
    stint_stat s;
    char name[] = "in set";
    {
        REGISTER_TIMER_DYNAMIC(name, -1, set);
        fake_advance(3);
    }
    CHECK(stint_set_stat_get(set, "in set", &s, sizeof s) == 0 && s.total_ns == 3);
    CHECK(stint_stat_get("in set", &s, sizeof s) == -1);
}

TEST(dynamic, no_name_is_refused_and_counted) {
    const char *null = NULL;
    scope("known", 1);
    scope(null, 1);
    scope("", 1);
    CHECK(stint_scope_begin(NULL) == -1);
    CHECK(stint_scope_begin("") == -1);
    CHECK(stint_scope_end(NULL) == -1);
    CHECK(stint_sample_add(NULL, 1) == -1);
    CHECK(stint_sample_add("", 1) == -1);
    CHECK_EQ_U64(lost(STINT_STATUS_BAD_SAMPLE), 6);
    CHECK_EQ_U64(lost(STINT_STATUS_STRAY_END), 1);
    CHECK_EQ_U64(arena_header()->site_count, 1);
}

TEST(dynamic, operators_and_instances) {
    for (int level = 0; level < 3; ++level) {
        stint_level_set(level);
        REGISTER_TIMER_OP("matmul", "layer0.q");
        fake_advance(5);
    }
    CHECK_EQ_U64(calls_of("matmul"), 3);
    CHECK_EQ_U64(calls_of("layer0.q"), 1);
    CHECK_EQ_U64(stat_of("matmul").self_ns, 10);
}

TEST(dynamic, begin_and_end_by_name) {
    CHECK(stint_scope_begin("a") == 0);
    fake_advance(1);
    CHECK(stint_scope_begin("b") == 0);
    CHECK(stint_scope_begin("b") == 0); /* nests in itself */
    fake_advance(2);
    CHECK(stint_scope_end("b") == 0);
    CHECK(stint_scope_end("b") == 0);
    fake_advance(4);
    CHECK(stint_scope_end("a") == 0);
    CHECK_EQ_U64(stat_of("a").total_ns, 7);
    CHECK_EQ_U64(stat_of("a").self_ns, 5);
    CHECK_EQ_U64(calls_of("b"), 2);
    CHECK_EQ_U64(stat_of("b").total_ns, 2);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(dynamic, begin_and_end_out_of_balance) {
    CHECK(stint_scope_end("never") == -1);
    CHECK(stint_scope_begin("a") == 0);
    CHECK(stint_scope_begin("left open") == 0);
    CHECK(stint_scope_begin("left open too") == 0);
    CHECK(stint_scope_end("a") == 0);
    CHECK(stint_scope_end("left open") == -1);
    CHECK(stint_scope_end("a") == -1);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 2);
    CHECK_EQ_U64(lost(STINT_STATUS_STRAY_END), 3);
    CHECK_EQ_U64(open_scopes(), 0);
}

/* Switched off in the middle, the scope still closes, as any other does. */
TEST(dynamic, end_of_a_name_switched_off_meanwhile) {
    CHECK(stint_scope_begin("by filter") == 0);
    fake_advance(5);
    stint_filter_set("-by filter");
    CHECK(stint_scope_end("by filter") == 0);
    CHECK_EQ_U64(open_scopes(), 0);
    stint_filter_set(NULL);
    CHECK(stint_scope_begin("by switch") == 0);
    fake_advance(7);
    stint_timers_enable(0);
    CHECK(stint_scope_end("by switch") == 0);
    CHECK_EQ_U64(open_scopes(), 0);
    CHECK_EQ_U64(stat_of("by filter").total_ns, 5);
    CHECK_EQ_U64(stat_of("by switch").total_ns, 7);
    CHECK(stint_scope_end("by switch") == 0); /* off: nothing to say */
}

TEST(dynamic, added_samples) {
    CHECK(stint_sample_add("s", 10) == 0);
    CHECK(stint_sample_add("s", 30) == 0);
    CHECK(stint_sample_add("s", 20) == 0);
    stint_stat s = stat_of("s");
    CHECK(s.calls == 3 && s.total_ns == 60 && s.min_ns == 10 && s.max_ns == 30 && s.first_ns == 10);
    {
        REGISTER_TIMER("around");
        fake_advance(100);
        stint_sample_add("s", 90);
    }
    CHECK_EQ_U64(stat_of("around").self_ns, 100); /* a sample beside the tree takes no time in it */
    CHECK(stint_sample_add("s", (uint64_t)INT64_MAX + 1) == -1);
    CHECK(stint_sample_add("s", UINT64_MAX) == -1);
    CHECK_EQ_U64(lost(STINT_STATUS_BAD_TIME), 2);
    CHECK_EQ_U64(lost(STINT_STATUS_BAD_SAMPLE), 0);
    CHECK(stint_sample_add("zero", 0) == 0);
    CHECK(calls_of("zero") == 1 && stat_of("zero").max_ns == 0);
}

/* The times that went in come out, and the timed scopes of a name are in its row. */
TEST(dynamic, added_samples_are_nanoseconds) {
    static const uint64_t given[] = {0, 1, 7, 9, 17, 31536000000000000, INT64_MAX};
    char name[24];
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i) {
        snprintf(name, sizeof name, "given %zu", i);
        CHECK(stint_sample_add(name, given[i]) == 0);
        stint_stat s = stat_of(name);
        CHECK(s.total_ns == given[i] && s.min_ns == given[i] && s.max_ns == given[i] &&
              s.first_ns == given[i] && s.p50_ns == given[i] && s.p99_ns == given[i]);
    }
    CHECK(stint_sample_add(name, INT64_MAX) == 0);
    CHECK(stint_sample_add(name, 2) == STINT_ERROR_NOT_AVAILABLE); /* the sum has no room */
    CHECK(stint_sample_add(name, 1) == 0);
    CHECK_EQ_U64(stat_of(name).total_ns, UINT64_MAX);
    CHECK(calls_of(name) == 3 && lost(STINT_STATUS_BAD_TIME) == 1);
}

TEST(dynamic, added_samples_of_a_timed_name) {
    for (uint64_t i = 0; i < 100; ++i) {
        {
            REGISTER_TIMER("both");
            fake_advance(1000);
        }
        stint_sample_add("both", i < 50 ? 7 : 5000);
        if (i == 4) { /* all are kept */
            CHECK(stat_of("both").p50_ns == 7 && stat_of("both").p90_ns == 1000);
        }
    }
    stint_stat s = stat_of("both");
    stint_bucket bucket[4];
    CHECK(s.calls == 200 && s.total_ns == 100 * 1000 + 50 * 7 + 50 * 5000);
    CHECK(s.min_ns == 7 && s.max_ns == 5000 && s.first_ns == 1000 && s.self_ns == s.total_ns);
    CHECK(s.p50_ns > 968 && s.p50_ns < 1032 && s.p99_ns > 4840 && s.p99_ns <= 5000);
    CHECK(stint_stat_histogram(NULL, "both", bucket, 4) == 3);
    CHECK(bucket[0].low_ns == 7 && bucket[0].high_ns == 8 && bucket[0].calls == 50);
    CHECK(bucket[1].calls == 100 && bucket[2].calls == 50);
    stint_reset();
    stint_sample_add("both", 9);
    CHECK(stat_of("both").total_ns == 9 && stat_of("both").p50_ns == 9 && calls_of("both") == 1);
}

/* Longer ago than the clock runs: still a sample of before the reset. */
TEST(dynamic, sample_of_before_the_clock_began) {
    CHECK(stint_sample_add("old", (uint64_t)INT64_MAX) == 0);
    CHECK(stat_of("old").max_ns >= (uint64_t)INT64_MAX / 2);
    fake_advance(1000);
    stint_reset();
    fake_advance(1000);
    CHECK(stint_sample_add("old", 20) == 0);
    CHECK_EQ_U64(stat_of("old").calls, 1);
    CHECK(stat_of("old").max_ns < 32);
}

static void *same_names(void *unused) {
    char name[24];
    for (int i = 0; i < 2000; ++i) {
        snprintf(name, sizeof name, "shared%d", i % 50);
        scope(name, 0);
    }
    return unused;
}

TEST(dynamic, threads_agree_on_the_numbers) {
    char name[24];
    threads_run(4, same_names, NULL, 0);
    CHECK_EQ_U64(arena_header()->site_count, 50);
    for (int i = 0; i < 50; ++i) {
        snprintf(name, sizeof name, "shared%d", i);
        CHECK_EQ_U64(calls_of(name), 160);
    }
}
