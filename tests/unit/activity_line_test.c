/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of the sweep in the arena: busy times, gaps with their scope and cause, steps.
 * Records are made by hand; the expected times follow from their starts and ends.
 */

#include "activity_made.h"
#include "harness_threads.h"

static void check_sum(const struct arena_activity *a, uint64_t count, uint64_t total, uint64_t min,
                      uint64_t max) {
    CHECK_EQ_U64(count_of(a), count);
    CHECK_EQ_U64(a->total, total);
    CHECK_EQ_U64(count ? a->min : 0, min);
    CHECK_EQ_U64(a->max, max);
}

TEST(activity_line, busy) {
    CHECK(!activity_open());
    add(copy(1, 1, 150, 250, 8));
    add(kernel("k", 1, 100, 200));
    CHECK_EQ_U64(rows_of(ACTIVITY_BUSY), 0);
    activity_settle();
    check_sum(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL), 1, 150, 150, 150);
    check_sum(row(ACTIVITY_BUSY, ACTIVITY_BUSY_KERNEL, NULL), 1, 100, 100, 100);
    check_sum(row(ACTIVITY_BUSY, ACTIVITY_BUSY_COPY, NULL), 1, 100, 100, 100);
    check_sum(row(ACTIVITY_BUSY, ACTIVITY_BUSY_OVERLAP, NULL), 1, 50, 50, 50);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->device,
                 row(ACTIVITY_KERNEL, 0, "k")->device);
    add(of_kind(ACTIVITY_FILL, copy(0, 1, 300, 310, 8)));
    activity_settle();
    activity_settle();
    const struct arena_activity *a = row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL);
    check_sum(a, 2, 160, 10, 150);
    CHECK_EQ_U64(a->first_at, 100);
    CHECK_EQ_U64(a->last_at, 310);
    CHECK_EQ_U64(a->histogram, 0);
}

TEST(activity_line, gaps_have_a_scope_and_a_cause) {
    uint32_t late, waits;
    CHECK(!activity_open());
    add(kernel("k", 1, 100, 200));
    {
        REGISTER_TIMER("late");
        late = node_here();
        fake_advance(8000);
        activity_launch(2); /* no record of the call will come */
    }
    {
        REGISTER_TIMER("waits");
        waits = node_here();
        activity_launch(3);
    }
    fake_advance(1000000);
    add(kernel("k", 2, 10200, 11000));
    add(waiting(ACTIVITY_WAITS_FOR_WORK, call("cudaStreamSynchronize", 4, 10300, 11100)));
    add(call("cudaLaunchKernel", 3, 15000, 15100));
    add(kernel("k", 3, 16000, 17000));
    add(kernel("k", 3, 17400, 18000));
    activity_settle();
    const struct arena_activity *a = row(ACTIVITY_GAP, ACTIVITY_GAP_HOST_LATE, NULL);
    CHECK_EQ_U64(a->node, late);
    CHECK_EQ_U64(a->device, row(ACTIVITY_KERNEL, 0, "k")->device);
    check_sum(a, 1, 10000, 10000, 10000);
    a = row(ACTIVITY_GAP, ACTIVITY_GAP_SYNC, NULL);
    CHECK_EQ_U64(a->node, waits);
    check_sum(a, 1, 5000, 5000, 5000);
    CHECK(a->histogram != 0);
    a = row(ACTIVITY_GAP, ACTIVITY_GAP_BETWEEN, NULL); /* short: without a scope */
    CHECK_EQ_U64(a->node, 0);
    check_sum(a, 1, 400, 400, 400);
}

TEST(activity_line, copies_and_waits_by_record) {
    struct activity_record wait = of_kind(ACTIVITY_SYNC, call(NULL, 9, 50000, 60500));
    CHECK(!activity_open());
    fake_advance(1000000);
    add(kernel("k", 1, 1000, 10000));
    add(waiting(ACTIVITY_WAITS_FOR_COPY, call("cudaMemcpy", 2, 11000, 21000)));
    add(copy(1, 2, 20000, 20500, 8));
    add(kernel("k", 3, 50000, 60000));
    wait.detail = ACTIVITY_SYNC_CONTEXT;
    add(wait);
    add(call("cudaLaunchKernel", 4, 69000, 69100));
    add(kernel("k", 4, 70000, 71000));
    wait.start = 71500;
    wait.end = 71600;
    wait.detail = ACTIVITY_SYNC_STREAM_WAIT; /* holds up no host */
    add(wait);
    add(call("cudaLaunchKernel", 5, 79000, 79100));
    add(kernel("k", 5, 80000, 81000));
    activity_settle();
    check_sum(row(ACTIVITY_GAP, ACTIVITY_GAP_COPY, NULL), 1, 10000, 10000, 10000);
    check_sum(row(ACTIVITY_GAP, ACTIVITY_GAP_SYNC, NULL), 1, 10000, 10000, 10000);
    check_sum(row(ACTIVITY_GAP, ACTIVITY_GAP_HOST_LATE, NULL), 1, 9000, 9000, 9000);
    check_sum(row(ACTIVITY_GAP, ACTIVITY_GAP_UNKNOWN, NULL), 1, 29500, 29500, 29500);
}

/* The host waits in a driver call that is not part of another one, too. */
TEST(activity_line, waits_in_the_driver) {
    CHECK(!activity_open());
    fake_advance(1000000);
    add(kernel("k", 1, 1000, 10000));
    struct activity_record wait = call("cuStreamSynchronize", 2, 5000, 10100);
    add(of_kind(ACTIVITY_DRIVER, waiting(ACTIVITY_WAITS_FOR_WORK, wait)));
    add(of_kind(ACTIVITY_DRIVER, call("cuLaunchKernel", 3, 19000, 19100)));
    add(kernel("k", 3, 20000, 21000));
    activity_settle();
    check_sum(row(ACTIVITY_GAP, ACTIVITY_GAP_SYNC, NULL), 1, 10000, 10000, 10000);
}

TEST(activity_line, steps) {
    CHECK(!activity_open());
    fake_advance(1000);
    (void)stint_step();
    fake_advance(1000);
    (void)stint_step();
    fake_advance(3000);
    (void)stint_step();
    add(kernel("k", 1, 1500, 2500));
    add(on_stream(8, kernel("k", 1, 2400, 2600)));
    activity_settle();
    const struct arena_activity *a = row(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL);
    check_sum(a, 2, 4000, 1000, 3000);
    CHECK_EQ_U64(a->device, 0);
    CHECK_EQ_U64(a->first_at, 1000);
    CHECK_EQ_U64(a->last_at, 5000);
    CHECK(a->histogram != 0);
    a = row(ACTIVITY_STEP, ACTIVITY_STEP_BUSY, NULL);
    check_sum(a, 2, 1100, 500, 600);
    CHECK_EQ_U64(a->device, row(ACTIVITY_KERNEL, 0, "k")->device);
}

TEST(activity_line, pause) {
    CHECK(!activity_open());
    fake_advance(1000);
    activity_step();
    add(kernel("k", 1, 100, 200));
    activity_pause();
    fake_advance(100000);
    activity_step(); /* tracing is paused */
    CHECK(!activity_open());
    fake_advance(1000);
    activity_step();
    add(kernel("k", 1, 101000, 101500));
    fake_advance(1000);
    activity_step();
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_GAP), 0);
    check_sum(row(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL), 1, 1000, 1000, 1000);
    check_sum(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL), 2, 600, 100, 500);
}

/* More items than are kept back, one stream's records always last: nothing is late, nothing is
 * lost. */
TEST(activity_line, more_than_fit) {
    uint64_t n = 200000;
    CHECK(!activity_open());
    fake_advance(n * 1000);
    activity_launch(1);
    activity_begin();
    for (uint64_t i = 1; i <= n; ++i) {
        struct activity_record r = kernel("k", 1, i * 1000, i * 1000 + 300);
        activity_add(&r);
        if (i > 10000) {
            r = on_stream(8, kernel("k", 1, (i - 10000) * 1000 + 500, (i - 10000) * 1000 + 600));
            activity_add(&r);
        }
    }
    activity_end();
    CHECK(count_of(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)) > 100000);
    activity_settle();
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total, n * 300 + (n - 10000) * 100);
    CHECK_EQ_U64(lost_in_all(), 0);
}

/* A report has shown the time as idle in which they ran. */
TEST(activity_line, late_ones_are_sorted_in) {
    CHECK(!activity_open());
    activity_launch(1);
    fake_advance(1000000);
    add(kernel("k", 1, 10000, 20000));
    add(kernel("k", 1, 30000, 40000));
    activity_settle();
    const struct arena_activity *gaps = row(ACTIVITY_GAP, ACTIVITY_GAP_BETWEEN, NULL);
    check_sum(gaps, 1, 10000, 10000, 10000);
    CHECK_EQ_U64(rows_of(ACTIVITY_TAKEN_BACK), 0);
    add(kernel("k", 1, 9000, 9500));
    add(kernel("k", 1, 22000, 25000));
    add(copy(1, 1, 24000, 26000, 8));
    activity_settle();
    activity_settle();
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total, 24500);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->first_at, 9000);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_KERNEL, NULL)->total, 23500);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_OVERLAP, NULL)->total, 1000);
    const struct arena_activity *taken =
        row(ACTIVITY_TAKEN_BACK, ACTIVITY_TAKEN_GAP(ACTIVITY_GAP_BETWEEN), NULL);
    check_sum(taken, 1, 10000, 10000, 10000);
    CHECK_EQ_U64(taken->node, gaps->node);
    CHECK_EQ_U64(taken->device, gaps->device);
    CHECK_EQ_U64(count_of(gaps), 4); /* 500, 2000 and 4000 */
    CHECK_EQ_U64(gaps->total - taken->total, 6500);
}

TEST(activity_line, late_ones_add_to_steps) {
    CHECK(!activity_open());
    activity_launch(1);
    for (int i = 0; i < 3; ++i) {
        fake_advance(1000);
        (void)stint_step();
    }
    add(kernel("k", 1, 1200, 1300));
    activity_settle();
    const struct arena_activity *a = row(ACTIVITY_STEP, ACTIVITY_STEP_BUSY, NULL);
    check_sum(a, 2, 100, 0, 100);
    add(kernel("k", 1, 2100, 2500));
    activity_settle();
    CHECK_EQ_U64(count_of(a), 2);
    CHECK_EQ_U64(a->total, 500);
    check_sum(row(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL), 2, 2000, 1000, 1000);
}

/* Tracing has stopped meanwhile, and goes on. */
TEST(activity_line, late_ones_of_the_session_before) {
    CHECK(!activity_open());
    activity_launch(1);
    add(kernel("k", 1, 10000, 20000));
    fake_advance(100000);
    activity_pause();
    fake_advance(100000);
    CHECK(!activity_open());
    add(kernel("k", 1, 250000, 260000));
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_GAP), 0);
    add(kernel("k", 1, 50000, 60000));
    activity_settle();
    check_sum(row(ACTIVITY_GAP, ACTIVITY_GAP_BETWEEN, NULL), 1, 30000, 30000, 30000);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total, 30000);
}

#define RECENT 70000u /* a call that is not forgotten */

/* The record of a kernel comes when it has ended, after those of all that ran beside it. */
static void long_one_after_short_ones(uint64_t short_ones, uint32_t correlation) {
    activity_launch(RECENT);
    fake_advance(500000000);
    activity_begin();
    struct activity_record before = kernel("k", RECENT, 1000000, 2000000);
    activity_add(&before);
    for (uint64_t i = 0; i < short_ones; ++i) {
        uint64_t at = 60000000 + i * 2000;
        struct activity_record r = kernel("k", RECENT, at, at + 1000);
        activity_add(&r);
    }
    activity_end();
    activity_settle();
    add(on_stream(8, kernel("long", correlation, 5000000, 55000000)));
    activity_settle();
}

TEST(activity_line, a_long_kernel_after_many_short_ones) {
    uint64_t n = 70000;
    CHECK(!activity_open());
    long_one_after_short_ones(n, RECENT);
    CHECK_EQ_U64(lost_in_all(), 0);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total, 51000000 + n * 1000);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_KERNEL, NULL)->total, 51000000 + n * 1000);
    CHECK_EQ_U64(rows_of(ACTIVITY_TAKEN_BACK), 1);
    uint64_t idle = 0;
    for (const struct arena_activity *a = row_newest(); a; a = row_next(a)) {
        idle += a->kind == ACTIVITY_GAP ? a->total : 0;
        idle -= a->kind == ACTIVITY_TAKEN_BACK ? a->total : 0;
    }
    CHECK_EQ_U64(idle, 3000000 + 5000000 + (n - 1) * 1000);
}

/* Its launch is forgotten, and nothing else of it is lost. */
TEST(activity_line, a_late_one_is_counted_once) {
    CHECK(!activity_open());
    for (uint32_t i = 0; i < 70000; ++i) {
        activity_launch(100 + i);
        add(call("cudaLaunchKernel", 100 + i, 1000 + i, 1001 + i));
    }
    long_one_after_short_ones(70000, 100);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_UNKNOWN), 1);
    CHECK_EQ_U64(lost_in_all(), 1);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total, 51000000 + 70000 * 1000);
}

/* More idle times than are kept: the time of a late record that meets a forgotten one is not added,
 * and the record is counted once. */
TEST(activity_line, too_late_ones_are_counted) {
    uint64_t n = 250000;
    CHECK(!activity_open());
    fake_advance(n * 1000);
    for (uint32_t i = 0; i < 70000; ++i) {
        add(call("cudaLaunchKernel", 100 + i, 1000 + i, 1001 + i));
    }
    activity_launch(RECENT);
    activity_begin();
    for (uint64_t i = 1; i <= n; ++i) {
        struct activity_record r = kernel("k", RECENT, i * 1000, i * 1000 + 300);
        activity_add(&r);
    }
    activity_end();
    activity_settle();
    uint64_t before = row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total;
    CHECK_EQ_U64(before, n * 300);
    add(kernel("late", RECENT, 5500, 5600));
    add(kernel("late", 100, 7500, 7600));
    activity_settle();
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_LATE), 2);
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "late")), 2);
    CHECK_EQ_U64(row(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL)->total, before);
}

/* ---- Steps faster than anybody takes them out. */

TEST(activity_line, many_steps) {
    CHECK(!activity_open());
    for (int i = 0; i < 5000; ++i) {
        fake_advance(10);
        activity_step();
    }
    activity_settle();
    check_sum(row(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL), 4999, 49990, 10, 10);
    CHECK_EQ_U64(lost_in_all(), 0);
}

static void *step_often(NO_ARG) {
    for (int i = 0; i < 3000; ++i) {
        fake_advance(10);
        activity_step();
    }
    return NULL;
}

/* More than there is room for, while another thread has the lock: counted. No step waits. */
TEST(activity_line, steps_do_not_wait) {
    CHECK(!activity_open());
    activity_begin();
    thread_run(step_often, NULL);
    activity_end();
    activity_settle();
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_LATE), 3000 - 1024);
    CHECK_EQ_U64(count_of(row(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL)), 1023);
}

TEST(activity_line, steps_of_many_threads) {
    CHECK(!activity_open());
    threads_run(3, step_often, NULL, 0);
    activity_settle();
    const struct arena_activity *a = row(ACTIVITY_STEP, ACTIVITY_STEP_WALL, NULL);
    CHECK_EQ_U64(count_of(a) + 1 + lost(STINT_STATUS_ACTIVITY_LATE), 9000);
}
