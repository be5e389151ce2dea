/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of statistics, and queries of one by name: quantiles and histograms. Rows are compared as
 * text, quantiles with those of the samples.
 */
#include <limits.h>

#include "support.h"

#include "recorded.h"

/* The rows of a walk, one line each. */
struct seen {
    char text[4096];
    unsigned rows;
    unsigned stop_at; /* 0 = never */
    void (*also)(void);
};

static void seen_add(struct seen *s, const char *format, const char *name, uint64_t a, uint64_t b) {
    size_t length = strlen(s->text);
    snprintf(s->text + length, sizeof s->text - length, format, name, (unsigned long long)a,
             (unsigned long long)b);
    if (s->also) {
        s->also();
    }
    ++s->rows;
}

static int see_stat(void *data, const char *name, const stint_stat *stat) {
    struct seen *s = data;
    seen_add(s, "%s %llu %llu\n", name, stat->calls, stat->total_ns);
    return s->rows == s->stop_at ? 7 : 0;
}

static int see_row(void *data, const stint_tree_row *row) {
    struct seen *s = data;
    for (uint32_t i = 0; i < row->depth; ++i) {
        strcat(s->text, " ");
    }
    CHECK_EQ_U64(row->index, s->rows);
    CHECK((row->parent == STINT_NO_PARENT) == (row->depth == 0));
    CHECK(row->parent == STINT_NO_PARENT || row->parent < row->index);
    seen_add(s, "%s %llu %llu\n", row->name, row->stat->calls, row->stat->self_ns);
    return s->rows == s->stop_at ? 7 : 0;
}

static int see_set(void *data, const char *name, stint_set *set) {
    seen_add(data, "%s %llu %llu\n", name, set != NULL, 0);
    return 0;
}

static void record_some(void) {
    timed("z", 5);
    timed("a", 7);
    timed("a", 9);
    timed("ab", 1);
    REGISTER_TIMER("outer");
    timed("a", 3);
    fake_advance(2);
}

TEST(stat_walk, rows_are_sorted_by_name) {
    struct seen s = {.stop_at = 0};
    record_some();
    CHECK(stint_stat_each(NULL, see_stat, &s) == STINT_OK);
    CHECK_STR_EQ(s.text, "a 3 19\nab 1 1\nouter 1 5\nz 1 5\n");
}

TEST(stat_walk, a_callback_ends_the_walk) {
    struct seen s = {.stop_at = 2}, t = {.stop_at = 3};
    record_some();
    CHECK(stint_stat_each(NULL, see_stat, &s) == 7);
    CHECK_EQ_U64(s.rows, 2);
    CHECK(stint_tree_each(see_row, &t) == 7);
    CHECK_EQ_U64(t.rows, 3);
}

TEST(stat_walk, of_a_set) {
    struct seen s = {.stop_at = 0};
    stint_set *server = stint_set_get("server");
    record_some();
    {
        REGISTER_TIMER("a", -1, server);
        fake_advance(100);
    }
    CHECK(stint_stat_each(server, see_stat, &s) == STINT_OK);
    CHECK_STR_EQ(s.text, "a 1 100\n");
}

static void reset_everything(void) {
    stint_reset();
    timed("new", 1);
    stint_set_reset(stint_set_get("made in a callback"));
    stint_stat_quantile(NULL, "a", 500);
    CHECK(stint_report("none") == 0);
    CHECK(stint_stat_each(NULL, see_stat, &(struct seen){.stop_at = 0}) == STINT_OK);
}

TEST(stat_walk, a_reset_in_the_callback_changes_no_row) {
    struct seen s = {.also = reset_everything}, t = {.also = reset_everything};
    struct seen sets = {.also = reset_everything};
    record_some();
    CHECK(stint_stat_each(NULL, see_stat, &s) == STINT_OK);
    CHECK_STR_EQ(s.text, "a 3 19\nab 1 1\nouter 1 5\nz 1 5\n");
    record_some();
    CHECK(stint_tree_each(see_row, &t) == STINT_OK);
    CHECK_STR_EQ(t.text, "a 2 16\nab 1 1\nnew 1 1\nouter 1 2\n a 1 3\nz 1 5\n");
    CHECK(stint_set_each(see_set, &sets) == STINT_OK);
}

TEST(stat_walk, the_tree_has_parents_of_other_sets) {
    struct seen s = {.stop_at = 0};
    stint_set *server = stint_set_get("server");
    {
        REGISTER_TIMER("request", -1, server);
        timed("parse", 4);
        fake_advance(1);
    }
    CHECK(stint_tree_each(see_row, &s) == STINT_OK);
    CHECK_STR_EQ(s.text, "request 1 1\n parse 1 4\n");
}

TEST(stat_walk, nothing_recorded) {
    struct seen s = {.stop_at = 0};
    CHECK(stint_stat_each(NULL, see_stat, &s) == STINT_OK);
    CHECK(stint_tree_each(see_row, &s) == STINT_OK);
    CHECK_EQ_U64(s.rows, 0);
}

TEST(stat_walk, sets_are_sorted_by_name) {
    struct seen s = {.stop_at = 0};
    stint_set_get("b");
    stint_set_get("A");
    stint_set_get("b");
    CHECK(stint_set_each(see_set, &s) == STINT_OK);
    CHECK_STR_EQ(s.text, "A 1 0\nGlobalStatInfo 0 0\nb 1 0\n");
}

/* 70 calls of 1000, 2000, … ns: more than a node keeps one by one. */
static void spread_of(unsigned calls) {
    for (unsigned i = 1; i <= calls; ++i) {
        timed("spread", i * 1000);
    }
}

static void check_quantiles(unsigned calls) {
    stint_stat s;
    CHECK(!stint_stat_get("spread", &s, sizeof s));
    CHECK_EQ_U64(stint_stat_quantile(NULL, "spread", 500), s.p50_ns);
    CHECK_EQ_U64(stint_stat_quantile(NULL, "spread", 900), s.p90_ns);
    CHECK_EQ_U64(stint_stat_quantile(NULL, "spread", 990), s.p99_ns);
    CHECK_EQ_U64(stint_stat_quantile(NULL, "spread", 0), s.min_ns);
    CHECK_EQ_U64(stint_stat_quantile(NULL, "spread", 1000), s.max_ns);
    uint64_t before = 0;
    for (unsigned permille = 0; permille <= 1000; ++permille) {
        uint64_t ns = stint_stat_quantile(NULL, "spread", permille);
        CHECK(ns >= before && ns <= s.max_ns);
        before = ns;
    }
    double exact = calls * 1000 * 0.75;
    double p75 = (double)stint_stat_quantile(NULL, "spread", 750);
    CHECK(p75 > exact * 0.96 && p75 < exact * 1.04);
}

TEST(stat_walk, quantiles_of_kept_samples) {
    spread_of(20);
    check_quantiles(20);
    CHECK_EQ_U64(stint_stat_quantile(NULL, "spread", 950), 19000);
}

TEST(stat_walk, quantiles_of_a_histogram) {
    spread_of(700);
    check_quantiles(700);
}

TEST(stat_walk, quantiles_that_are_not_known) {
    spread_of(3);
    CHECK(stint_stat_quantile(NULL, "spread", 1001) == STINT_NS_UNKNOWN);
    CHECK(stint_stat_quantile(NULL, "spread", UINT_MAX) == STINT_NS_UNKNOWN);
    CHECK(stint_stat_quantile(NULL, "unknown", 500) == STINT_NS_UNKNOWN);
    CHECK(stint_stat_quantile(NULL, NULL, 500) == STINT_NS_UNKNOWN);
    CHECK(stint_stat_quantile(stint_set_get("other"), "spread", 500) == STINT_NS_UNKNOWN);
}

TEST(stat_walk, a_histogram_has_all_calls) {
    stint_bucket b[640];
    spread_of(700);
    int n = stint_stat_histogram(NULL, "spread", b, 640);
    CHECK(n > 50 && n < 640);
    uint64_t calls = 0, before = 0;
    for (int i = 0; i < n; ++i) {
        CHECK(b[i].low_ns >= before && b[i].high_ns > b[i].low_ns && b[i].calls > 0);
        CHECK((double)b[i].high_ns <= (double)b[i].low_ns * 1.063);
        before = b[i].high_ns;
        calls += b[i].calls;
    }
    CHECK_EQ_U64(calls, 700);
    CHECK(b[0].low_ns <= 1000 && 1000 < b[0].high_ns);
    CHECK(b[n - 1].low_ns <= 700000 && 700000 < b[n - 1].high_ns);
}

TEST(stat_walk, a_histogram_in_less_room) {
    stint_bucket b[2] = {{9, 9, 9}, {9, 9, 9}};
    spread_of(5);
    CHECK(stint_stat_histogram(NULL, "spread", NULL, 0) == 5);
    CHECK(stint_stat_histogram(NULL, "spread", b, 1) == 5);
    CHECK_EQ_U64(b[0].calls, 1);
    CHECK_EQ_U64(b[1].calls, 9);
    CHECK(stint_stat_histogram(NULL, "spread", NULL, 1) == STINT_ERROR_UNKNOWN);
    CHECK(stint_stat_histogram(NULL, "unknown", b, 2) == STINT_ERROR_UNKNOWN);
    CHECK(stint_stat_histogram(NULL, NULL, b, 2) == STINT_ERROR_UNKNOWN);
}

TEST(stat_walk, no_callback) {
    CHECK(stint_stat_each(NULL, NULL, NULL) == STINT_ERROR_UNKNOWN);
    CHECK(stint_tree_each(NULL, NULL) == STINT_ERROR_UNKNOWN);
    CHECK(stint_set_each(NULL, NULL) == STINT_ERROR_UNKNOWN);
}

/* A program that is built with a newer header reads members after those of this library. */
static int see_later(void *data, const char *name, const stint_stat *stat) {
    (void)name;
    for (size_t i = sizeof *stat; i < 512; ++i) {
        *(int *)data |= ((const char *)stat)[i];
    }
    return 0;
}

TEST(stat_walk, members_of_later_versions_are_0) {
    int set = 0;
    record_some();
    CHECK(stint_stat_each(NULL, see_later, &set) == STINT_OK);
    CHECK(!set);
}
