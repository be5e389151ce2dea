/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU activities after a reset: the interval has only what was added since, while memory is a state
 * and stays. The expected sums are exact.
 */
#include "arena/arena.h"
#include "gpu_activities.h"
#include "interval/interval.h"
#include "model/activity_table.h"
#include "support.h"

static struct snapshot s;

/* The first of a kind in the interval. */
static struct snapshot_activity seen(uint32_t kind) {
    struct snapshot_activity found = {0};
    CHECK(!interval_open(&s, 0));
    for (uint32_t i = 0; i < s.activity_count; ++i) {
        if (s.activities[i].kind == kind) {
            found = s.activities[i];
        }
    }
    interval_close(&s);
    return found;
}

static struct activity_row row_seen(uint32_t kind) {
    struct activity_ask ask = {ACTIVITY_IN(kind), 0, ACTIVITY_EVERY_SET};
    struct activity_table t = {0};
    struct activity_row row = {0};
    CHECK(!interval_open(&s, 0));
    CHECK(!activity_table(&t, &s, &ask));
    if (t.count) {
        row = *t.row[0];
    }
    interval_close(&s);
    return row;
}

static struct arena_activity *kernel(void) {
    timed("first", 10); /* so that there is an arena */
    return gpu_activity(ACTIVITY_KERNEL, 0, "scale", 0, 7);
}

TEST(interval, activities_are_subtracted) {
    struct arena_activity *a = kernel();
    gpu_activity_took(a, 100, 64);
    gpu_activity_took(a, 9000, 640);
    gpu_activity_launched(a, 2, 70, 30);
    a->first_at = 5;
    a->last_at = 900;
    stint_reset();
    CHECK_EQ_U64(seen(ACTIVITY_KERNEL).count, 0);
    CHECK_EQ_U64(row_seen(ACTIVITY_KERNEL).sum.count, 0); /* no row */
    fake_advance(1000);
    stint_reset();
    gpu_activity_took(a, 400, 64);
    gpu_activity_took(a, 700, 32);
    gpu_activity_launched(a, 1, 11, 5);
    a->last_at = 4000;
    struct activity_row r = row_seen(ACTIVITY_KERNEL);
    CHECK_EQ_U64(r.sum.count, 2);
    CHECK_EQ_U64(r.sum.total, 1100);
    CHECK_EQ_U64(r.sum.bytes, 96);
    CHECK_EQ_U64(r.sum.max_bytes, 96); /* the exact value is not known */
    CHECK_EQ_U64(r.sum.launches, 1);
    CHECK_EQ_U64(r.launch_avg, 11);
    CHECK_EQ_U64(r.delay_avg, 5);
    CHECK_EQ_U64(r.sum.min, 400); /* the bounds of their steps: within 6.3 % */
    CHECK_EQ_U64(r.sum.max, 703);
    CHECK_EQ_U64(r.stddev, 212);
    CHECK_EQ_U64(r.median, 550);        /* of the two samples since */
    CHECK_EQ_U64(r.sum.first_at, 1010); /* the reset */
    CHECK_EQ_U64(r.sum.last_at, 4000);
}

TEST(interval, bounds_of_activities_that_were_set_in_it_are_exact) {
    struct arena_activity *a = kernel();
    gpu_activity_took(a, 5000, 0);
    stint_reset();
    gpu_activity_took(a, 401, 0);
    gpu_activity_took(a, 70001, 0);
    struct snapshot_activity k = seen(ACTIVITY_KERNEL);
    CHECK_EQ_U64(k.loose & (SNAPSHOT_LOOSE_MIN | SNAPSHOT_LOOSE_MAX), 0);
    CHECK_EQ_U64(k.min, 401);
    CHECK_EQ_U64(k.max, 70001);
    struct arena_activity *late = gpu_activity(ACTIVITY_COPY, 0, NULL, 0, 7);
    gpu_activity_took(late, 77, 10);
    CHECK_EQ_U64(seen(ACTIVITY_COPY).loose, 0); /* came in it */
    CHECK_EQ_U64(seen(ACTIVITY_COPY).total, 77);
}

TEST(interval, samples_and_sizes_are_those_since) {
    kernel();
    struct arena_activity *a = gpu_activity(ACTIVITY_COPY, 0, NULL, 0, 7);
    gpu_activity_took(a, 1, 1);
    gpu_activity_took(a, 90000, 9000);
    stint_reset();
    gpu_activity_took(a, 50001, 100);
    gpu_activity_took(a, 10003, 3000);
    gpu_activity_took(a, 20007, 200);
    struct activity_row r = row_seen(ACTIVITY_COPY);
    CHECK_EQ_U64(r.median, 20007);
    CHECK_EQ_U64(r.median_bytes, 200);
    CHECK_EQ_U64(r.sum.min_bytes, 100);  /* the lowest value of its bucket */
    CHECK_EQ_U64(r.sum.max_bytes, 3071); /* the highest */
}

/* An interval that takes back what the one before has shown has nothing less than nothing. */
TEST(interval, gaps_that_were_taken_back) {
    kernel();
    struct arena_activity *a = gpu_activity(ACTIVITY_GAP, ACTIVITY_GAP_SYNC, NULL, 0, 0);
    gpu_activity_took(a, 9000, 0);
    gpu_activity_took(a, 500, 0);
    stint_reset();
    struct arena_activity *taken =
        gpu_activity(ACTIVITY_TAKEN_BACK, ACTIVITY_TAKEN_GAP(ACTIVITY_GAP_SYNC), NULL, 0, 0);
    gpu_activity_took(taken, 9000, 0);
    CHECK_EQ_U64(seen(ACTIVITY_GAP).count, 0);
    CHECK_EQ_U64(seen(ACTIVITY_GAP).total, 0);
    gpu_activity_took(a, 200, 0);
    gpu_activity_took(a, 300, 0);
    CHECK_EQ_U64(seen(ACTIVITY_GAP).count, 1); /* one more in all */
    CHECK_EQ_U64(seen(ACTIVITY_GAP).total, 0);
    stint_reset();
    gpu_activity_took(a, 400, 0);
    struct activity_row r = row_seen(ACTIVITY_GAP);
    CHECK_EQ_U64(r.sum.count, 1);
    CHECK_EQ_U64(r.sum.total, 400);
    CHECK(r.median >= 380 && r.median < 420);
}

TEST(interval, memory_is_a_state) {
    timed("first", 10);
    struct arena_activity *m = gpu_activity(ACTIVITY_MEMORY, 0, NULL, 0, 0);
    struct arena_activity *busy = gpu_activity(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL, 0, 0);
    m->seq = 6;
    m->bytes = 1000;
    m->max_bytes = 5000;
    gpu_activity_took(busy, 50, 0);
    stint_reset();
    gpu_activity_took(busy, 20, 0);
    CHECK_EQ_U64(seen(ACTIVITY_MEMORY).bytes, 1000);
    CHECK_EQ_U64(seen(ACTIVITY_MEMORY).max_bytes, 5000);
    CHECK_EQ_U64(seen(ACTIVITY_MEMORY).count, 3);
    CHECK_EQ_U64(seen(ACTIVITY_BUSY).total, 20);
}

/* Activities belong to no set. */
TEST(interval, a_reset_of_one_set_leaves_activities) {
    struct arena_activity *a = kernel();
    gpu_activity_took(a, 100, 0);
    stint_set_reset(NULL);
    gpu_activity_took(a, 300, 0);
    CHECK_EQ_U64(seen(ACTIVITY_KERNEL).total, 400);
    stint_reset();
    gpu_activity_took(a, 700, 0);
    stint_set_reset(NULL);
    struct activity_row r = row_seen(ACTIVITY_KERNEL);
    CHECK_EQ_U64(r.sum.total, 700);
    CHECK_EQ_U64(r.median, 700);
    CHECK_EQ_U64(r.sum.count, 1);
}

TEST(interval, printed_and_reset_at_once) {
    struct arena_activity *a = kernel();
    gpu_activity_took(a, 100, 0);
    CHECK(!interval_open(&s, 1));
    CHECK_EQ_U64(s.activities[0].total, 100);
    interval_close(&s);
    gpu_activity_took(a, 30, 0);
    CHECK_EQ_U64(seen(ACTIVITY_KERNEL).total, 30);
}

/* The table of the interval must not be full. */
TEST(interval, many_activities) {
    char name[16];
    timed("first", 10);
    for (int i = 0; i < 3000; ++i) {
        snprintf(name, sizeof name, "k %d", i);
        gpu_activity_took(gpu_activity(ACTIVITY_KERNEL, 0, name, 0, 0), 10, 0);
    }
    stint_reset();
    stint_reset();
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.activity_count, 3000);
    for (uint32_t i = 0; i < s.activity_count; ++i) {
        CHECK(!s.activities[i].count && !s.activities[i].total);
    }
    interval_close(&s);
}
