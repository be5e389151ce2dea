/* SPDX-License-Identifier: Apache-2.0 */
/*
 * API calls and the device work that they started, and the driver's calls within calls of the
 * runtime. Records are made by hand and arrive in any order; the expected launches follow from
 * their times.
 */
#include "activity_made.h"

static void check_launches(const struct arena_activity *a, uint64_t launches, uint64_t took,
                           uint64_t delay) {
    CHECK_EQ_U64(a->launches, launches);
    CHECK_EQ_U64(a->launch_total, took);
    CHECK_EQ_U64(a->delay_total, delay);
}

TEST(activity_call, before_and_after_its_kernel) {
    CHECK(!activity_open());
    add(call("cudaLaunchKernel", 1, 100, 140));
    add(kernel("k", 1, 200, 300));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 40, 60);
    add(kernel("k", 2, 1200, 1300));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 40, 60);
    add(call("cudaLaunchKernel", 2, 1100, 1150));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 2, 90, 110);
    add(call("cudaLaunchKernel", 3, 2100, 2300)); /* still in the call when it started */
    add(kernel("k", 3, 2200, 2250));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 3, 290, 110);
    CHECK_EQ_U64(count_of(row(ACTIVITY_API, 0, "cudaLaunchKernel")), 3);
}

TEST(activity_call, graph_has_many_kernels) {
    CHECK(!activity_open());
    REGISTER_TIMER("graph");
    activity_launch(1);
    for (unsigned i = 0; i < 10; ++i) {
        add(kernel(i % 2 ? "odd" : "even", 1, 200 + 10 * i, 205 + 10 * i));
        if (i == 4) {
            add(call("cudaGraphLaunch", 1, 100, 150));
        }
    }
    check_launches(row(ACTIVITY_KERNEL, 0, "odd"), 5, 250, 60 + 80 + 100 + 120 + 140);
    check_launches(row(ACTIVITY_KERNEL, 0, "even"), 5, 250, 50 + 70 + 90 + 110 + 130);
    CHECK_EQ_U64(row(ACTIVITY_KERNEL, 0, "odd")->node, node_here());
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_UNKNOWN), 0);
}

TEST(activity_call, none_for_what_has_no_number) {
    CHECK(!activity_open());
    add(call("cudaLaunchKernel", 0, 100, 140));
    add(kernel("k", 0, 200, 300));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 0, 0, 0);
}

/* 65 536 numbers later the place is another call's, and an older one gets it no more. */
TEST(activity_call, place_is_taken_over) {
    CHECK(!activity_open());
    add(kernel("k", 1, 200, 300));
    add(call("cudaLaunchKernel", 1 + 65536, 1000, 1040));
    add(call("cudaLaunchKernel", 1, 100, 140)); /* too late */
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 0, 0, 0);
    add(kernel("k", 1 + 65536, 1100, 1200));
    add(kernel("k", 1, 200, 300));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 40, 60);
    CHECK_EQ_U64(count_of(row(ACTIVITY_API, 0, "cudaLaunchKernel")), 2);
}

/* More wait than there is room for: the rest is a launch that is not known, no more. */
TEST(activity_call, more_wait_than_there_is_room_for) {
    uint32_t more = 70000;
    CHECK(!activity_open());
    for (uint32_t i = 0; i < more; ++i) {
        add(kernel("k", 1, 200, 300));
    }
    add(call("cudaGraphLaunch", 1, 100, 140));
    CHECK_EQ_U64(count_of(row(ACTIVITY_KERNEL, 0, "k")), more);
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 65535, (uint64_t)65535 * 40, (uint64_t)65535 * 60);
    for (uint32_t i = 0; i < more; ++i) { /* and the room can be used again */
        add(kernel("other", 2, 200, 300));
    }
    add(call("cudaGraphLaunch", 2, 100, 140));
    CHECK_EQ_U64(row(ACTIVITY_KERNEL, 0, "other")->launches, 65535);
}

/* Calls whose records never come, on one place: what waits for them gives way. */
TEST(activity_call, calls_that_never_come) {
    CHECK(!activity_open());
    for (uint32_t i = 0; i < 32000; ++i) {
        add(kernel("lost", 5 + 65536 * i, 200, 300));
        add(kernel("lost", 5 + 65536 * i, 200, 300));
        add(kernel("lost", 5 + 65536 * i, 200, 300));
    }
    add(kernel("k", 6, 200, 300));
    add(call("cudaLaunchKernel", 6, 100, 140));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 40, 60);
    check_launches(row(ACTIVITY_KERNEL, 0, "lost"), 0, 0, 0);
}

/* ---- Driver calls. */

static struct activity_record driver(const char *name, uint32_t correlation, uint64_t start,
                                     uint64_t end) {
    return of_kind(ACTIVITY_DRIVER, call(name, correlation, start, end));
}

TEST(activity_call, driver_inside_runtime_is_no_row) {
    CHECK(!activity_open());
    add(driver("cuLaunchKernel", 1, 110, 130)); /* the inner one ends first */
    add(call("cudaLaunchKernel", 1, 100, 140));
    add(call("cudaLaunchKernel", 2, 200, 240));
    add(driver("cuLaunchKernel", 2, 210, 230));
    add(driver("cuCtxGetCurrent", 2, 211, 212));
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 0);
    CHECK_EQ_U64(count_of(row(ACTIVITY_API, 0, "cudaLaunchKernel")), 2);
}

TEST(activity_call, driver_alone) {
    uint32_t node;
    CHECK(!activity_open());
    {
        REGISTER_TIMER("s");
        activity_launch(1);
        node = node_here();
    }
    add(kernel("k", 1, 200, 300));
    add(driver("cuLaunchKernel", 1, 110, 130));
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 0); /* perhaps there is more to come */
    activity_settle();
    CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuLaunchKernel")), 1);
    CHECK_EQ_U64(row(ACTIVITY_DRIVER, 0, "cuLaunchKernel")->node, node);
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 20, 70);
    add(kernel("k", 1, 400, 500));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 2, 40, 340);
}

/* A launch is timed by the outer call, whichever record comes first. */
TEST(activity_call, runtime_call_is_the_launch) {
    CHECK(!activity_open());
    add(driver("cuLaunchKernel", 1, 110, 130));
    add(kernel("k", 1, 200, 300));
    add(call("cudaLaunchKernel", 1, 100, 140));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 40, 60);
}

/* The driver's call is counted already when the runtime's record comes. From then on the runtime's
 * call is the launch. */
TEST(activity_call, runtime_call_comes_very_late) {
    CHECK(!activity_open());
    add(driver("cuLaunchKernel", 1, 110, 130));
    add(kernel("k", 1, 200, 300));
    activity_settle();
    add(call("cudaLaunchKernel", 1, 100, 140));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 20, 70);
    add(kernel("k", 1, 400, 500));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 2, 60, 330);
}

static struct activity_record by_thread(uint32_t thread, struct activity_record r) {
    r.thread = thread;
    return r;
}

/* Each call has a number of its own here, and the kernel has the number of either call. */
TEST(activity_call, driver_inside_runtime_by_thread_and_time) {
    CHECK(!activity_open());
    add(driver("cuCtxGetCurrent", 2, 101, 105));
    add(driver("cuLaunchKernel", 3, 110, 130));
    add(kernel("k", 3, 200, 300));
    add(by_thread(2, driver("cuMemAlloc", 4, 111, 129)));
    add(call("cudaLaunchKernel", 1, 100, 140));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 1, 40, 60);
    add(kernel("k", 1, 400, 500));
    check_launches(row(ACTIVITY_KERNEL, 0, "k"), 2, 80, 320);
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 1);
    CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuMemAlloc")), 1);
}

TEST(activity_call, driver_before_runtime_is_not_inside) {
    CHECK(!activity_open());
    add(driver("cuBefore", 1, 50, 90));
    add(driver("cuTouches", 2, 90, 100));
    add(driver("cuLaunchKernel", 4, 110, 130));
    add(call("cudaLaunchKernel", 3, 100, 140));
    add(driver("cuAfter", 5, 140, 150));
    add(call("cudaLaunchKernel", 6, 160, 170));
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 3);
    CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuLaunchKernel")), 0);
}

/* A report may come between the records of the two. */
TEST(activity_call, driver_inside_runtime_over_a_report) {
    CHECK(!activity_open());
    add(driver("cuMemAlloc", 2, 110, 130));
    add(call("cudaMalloc", 1, 100, 140));
    for (uint32_t i = 0; i < 5; ++i) {
        uint64_t at = 1000 * (i + 1);
        add(driver("cuOuter", 10 * i + 3, at, at + 10));
        add(driver("cuLaunchKernel", 10 * i + 4, at + 110, at + 130));
        add(driver("cuCtxGetCurrent", 10 * i + 5, at + 131, at + 132));
        activity_settle();
        activity_settle();
        CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), i ? 1 : 0);
        add(call("cudaLaunchKernel", 10 * i + 6, at + 100, at + 140));
        activity_settle();
        CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuOuter")), i + 1);
    }
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 1);
    add(driver("cuLaunchKernel", 1000, 10000, 10010));
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 1);
    activity_pause(); /* no more is to come */
    CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuLaunchKernel")), 1);
}

/* Many threads share a list, and the ring of held calls is used several times over. */
TEST(activity_call, driver_inside_runtime_of_many_threads) {
    uint32_t id = 0;
    CHECK(!activity_open());
    for (unsigned round = 0; round < 20; ++round) {
        uint64_t at = 1000 * (round + 1);
        for (uint32_t thread = 1; thread <= 1000; ++thread) {
            add(by_thread(4096 * thread, driver("cuLaunchKernel", ++id, at + 10, at + 20)));
        }
        for (uint32_t thread = 1; thread <= 1000; ++thread) {
            add(by_thread(4096 * thread, call("cudaLaunchKernel", ++id, at, at + 30)));
        }
    }
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 0);
    CHECK_EQ_U64(count_of(row(ACTIVITY_API, 0, "cudaLaunchKernel")), 20000);
}

TEST(activity_call, held_ones_are_counted_when_they_are_many) {
    CHECK(!activity_open());
    for (uint32_t id = 1; id <= 5000; ++id) {
        add(driver(id % 2 ? "cuOdd" : "cuEven", id, 10 * id, 10 * id + 5));
        if (id % 2) {
            add(call("cudaOdd", id, 10 * id - 1, 10 * id + 6));
        }
    }
    CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuEven")), 452); /* 4096 are held */
    for (uint32_t id = 5001; id <= 10000; ++id) {
        add(driver("cuLate", id, 10 * id, 10 * id + 5));
    }
    CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuEven")), 2500);
    activity_pause();
    CHECK_EQ_U64(count_of(row(ACTIVITY_DRIVER, 0, "cuLate")), 5000);
    CHECK_EQ_U64(rows_of(ACTIVITY_DRIVER), 2);
}
