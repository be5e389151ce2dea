/* SPDX-License-Identifier: Apache-2.0 */
#include "system/clock.h"

#include "recorded.h"

TEST(clock, ticks_are_the_hook) {
    clock_init(0);
    CHECK_EQ_U64(clock_ticks(), FAKE_START);
    fake_advance(5);
    CHECK_EQ_U64(clock_ticks(), FAKE_START + 5);
    CHECK_EQ_U64(clock_ns(), FAKE_START + 5);
    CHECK_EQ_U64(clock_ticks_per_us(), 1000 << 8);
    CHECK_EQ_U64(stint_now_us(), FAKE_START / 1000);
}

TEST(clock, kinds) {
    clock_init(1);
    CHECK(clock_kind() == CLOCK_KIND_COUNTER);
    CHECK(strcmp(clock_name(), "monotonic") != 0);
    clock_init(2);
    CHECK(clock_kind() == CLOCK_KIND_MONOTONIC);
    CHECK_STR_EQ(clock_name(), "monotonic");
}

TEST(clock, ticks_of_a_moment) {
    clock_init(0);
    CHECK_EQ_U64(clock_ticks_at(FAKE_START / 1000), FAKE_START); /* now */
    CHECK_EQ_U64(clock_ticks_at(FAKE_START / 1000 - 7), FAKE_START - 7000);
    CHECK_EQ_U64(clock_ticks_at(FAKE_START / 1000 + 7), FAKE_START); /* to come */
    CHECK_EQ_U64(clock_ticks_at(UINT64_MAX), FAKE_START);
    CHECK_EQ_U64(clock_ticks_at(0), 1); /* before the counter began: never 0 */
}

TEST(clock, ticks_of_a_duration) {
    clock_init(0);
    CHECK_EQ_U64(clock_ticks_of_ns(0), 0);
    CHECK_EQ_U64(clock_ticks_of_ns(1), 1);
    CHECK_EQ_U64(clock_ticks_of_ns(1234567891), 1234567891);
}

TEST(clock, stamp_lies_in_the_middle) {
    struct clock_stamp s;
    clock_init(0);
    fake_step = 10;
    clock_stamp(&s); /* ticks at 0, ns at 10, ticks at 20: all three tries alike, the first kept */
    CHECK_EQ_U64(s.ticks, FAKE_START + 10);
    CHECK_EQ_U64(s.monotonic_ns, FAKE_START + 10);
    CHECK(s.real_ns > 1000000000u); /* a real date */
}

TEST(clock, rate_between_stamps) {
    clock_init(0);
    uint64_t first = clock_ticks_per_us();
    struct clock_stamp from = {1000, 500, 0}, to = {3000, 2450, 0}, late = {9000, 2450, 0};
    CHECK(stamp_ns_per_tick(&from, &to, first) == 0.975);
    CHECK(stamp_ns_per_tick(&to, &to, first) == 1.0); /* the first measurement */
    CHECK(stamp_ns_per_tick(&to, &from, first) == 1.0);
    CHECK(stamp_ns_per_tick(&from, &late, first) == 1.0); /* too far from it to be true */
    CHECK(stamp_ns_per_tick(&from, &late, 0) == 0.24375); /* nothing to compare with */
}
