/* SPDX-License-Identifier: Apache-2.0 */
/* The clock the library ships with. */
#include "real_clock.h"

#include "harness.h"

/* Busy, not asleep: an idle processor may stop the counter where it is not invariant. */
static void pass_ns(uint64_t ns) {
    uint64_t from = clock_ns();
    while (clock_ns() - from < ns) {
    }
}

/* A rate from stamps half a second apart is good to 1e-5 or so; the calibration promises 0.1 %, and
 * a shared machine gets a hundred times that before we call it wrong. */
static int rate_is_right(int wanted) {
    struct clock_stamp from, to;
    clock_init(wanted);
    clock_stamp(&from);
    pass_ns(100000000);
    clock_stamp(&to);
    double measured = 256000.0 / (double)clock_ticks_per_us();
    double truth = stamp_ns_per_tick(&from, &to, 0);
    return measured > truth * 0.9 && measured < truth * 1.1 &&
           to.real_ns - from.real_ns >= 90000000u;
}

/* Checks the rate. A loss of the processor in the middle of a reading spoils one try only. */
static void check_rate(int wanted) {
    int right = 0;
    for (int i = 0; i < 50 && !right; ++i) {
        right = rate_is_right(wanted);
    }
    CHECK(right);
}

static void check_order(void) {
    uint64_t last = clock_ticks(), last_ns = clock_ns();
    for (int i = 0; i < 100000; ++i) {
        uint64_t ticks = clock_ticks(), ns = clock_ns();
        CHECK(ticks >= last && ns >= last_ns);
        last = ticks;
        last_ns = ns;
    }
}

TEST(clock_real, counter_is_calibrated) {
    clock_init(1);
    CHECK(clock_kind() == CLOCK_KIND_COUNTER);
    check_rate(1);
}

TEST(clock_real, counter_never_steps_back) {
    clock_init(1);
    check_order();
}

TEST(clock_real, monotonic_ticks_are_nanoseconds) {
    clock_init(2);
    CHECK(clock_kind() == CLOCK_KIND_MONOTONIC);
    CHECK_EQ_U64(clock_ticks_per_us(), 1000 << 8);
    check_order();
    check_rate(2);
}

TEST(clock_real, automatic_takes_one_of_them) {
    clock_init(0);
    CHECK(clock_kind() == CLOCK_KIND_COUNTER || clock_kind() == CLOCK_KIND_MONOTONIC);
    check_rate(0);
}

/* Returns whether the ticks of a past moment are found again. */
static int finds_a_moment(void) {
    uint64_t us = clock_ns() / 1000, ticks = clock_ticks();
    pass_ns(20000000);
    uint64_t then = clock_ticks_at(us);
    uint64_t slack = clock_ticks_of_ns(5000000);
    return then < ticks + slack && ticks < then + slack &&
           clock_ticks() - then >= clock_ticks_of_ns(15000000);
}

TEST(clock_real, a_moment_ago) {
    int found = 0;
    clock_init(0);
    for (int i = 0; i < 200 && !found; ++i) {
        found = finds_a_moment();
    }
    CHECK(found);
}
