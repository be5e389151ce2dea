/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's clock as the recorder's, from readings alone.
 */
#include "cupti/cupti_private.h"
#include "harness.h"

#define REALTIME 1700000000000000000u
#define MS UINT64_C(1000000)
#define S UINT64_C(1000000000)

/* A reading of no width at `ours`, where CUPTI's clock is that much ahead of REALTIME + ours. */
static void read_at(struct cupti_clock *c, uint64_t ours, int64_t ahead) {
    struct cupti_reading r = {
        .before = ours, .theirs = REALTIME + ours + (uint64_t)ahead, .after = ours};
    cupti_clock_add(c, &r);
}

/* A moment of CUPTI's clock. */
static uint64_t theirs_at(uint64_t ours, int64_t ahead) {
    return REALTIME + ours + (uint64_t)ahead;
}

static void check(const struct cupti_clock *c, uint64_t now, uint64_t theirs, uint64_t expected) {
    uint64_t start = theirs, end = theirs + 700;
    cupti_clock_convert(c, now, &start, &end);
    CHECK_EQ_U64(start, expected);
    CHECK_EQ_U64(end, expected + 700);
}

TEST(cupti_clock, one_reading) {
    struct cupti_clock c = {0};
    read_at(&c, 5 * S, 0);
    check(&c, 6 * S, theirs_at(5 * S + 1, 0), 5 * S + 1);
    check(&c, 6 * S, theirs_at(4 * S, 0), 4 * S);
}

TEST(cupti_clock, imprecise_readings_change_nothing) {
    struct cupti_clock c = {0};
    for (uint64_t i = 1; i < 100; ++i) {
        uint64_t ours = i * S;
        struct cupti_reading r = {
            .before = ours - i * 100, .theirs = REALTIME + ours, .after = ours + i * 100};
        cupti_clock_add(&c, &r);
    }
    for (uint64_t i = 40; i < 99; ++i) {
        check(&c, 100 * S, theirs_at(i * S + S / 2, 0), i * S + S / 2);
    }
    CHECK(!c.drift_ppm && !c.jumps);
}

TEST(cupti_clock, drift_is_interpolated) {
    struct cupti_clock c = {0};
    read_at(&c, 10 * S, 0);
    read_at(&c, 20 * S, 1 * MS);
    uint64_t start = theirs_at(15 * S, MS / 2), end = start + 10000;
    cupti_clock_convert(&c, 20 * S, &start, &end);
    CHECK(start + 1 >= 15 * S && start <= 15 * S + 1);
    CHECK(end - start <= 10000 && end - start >= 9998);
    CHECK_EQ_U64(c.drift_ppm, 100);
    CHECK_EQ_U64(c.jumps, 0);
}

TEST(cupti_clock, order_is_kept_over_readings) {
    struct cupti_clock c = {0};
    for (uint64_t i = 1; i <= 60; ++i) {
        read_at(&c, i * 20 * MS, (int64_t)(i * i % 7 * 1000));
    }
    CHECK_EQ_U64(c.jumps, 0);
    uint64_t before = 0;
    for (uint64_t t = 20 * MS; t < 1200 * MS; t += 100000) {
        uint64_t start = theirs_at(t, 0), end = start;
        cupti_clock_convert(&c, 1200 * MS, &start, &end);
        CHECK(start > before);
        before = start;
    }
}

TEST(cupti_clock, set_ahead) {
    struct cupti_clock c = {0};
    read_at(&c, 10 * S, 0);
    read_at(&c, 20 * S, (int64_t)(3600 * S));
    CHECK_EQ_U64(c.jumps, 1);
    check(&c, 20 * S, theirs_at(15 * S, 0), 15 * S);
    check(&c, 20 * S, theirs_at(15 * S, (int64_t)(3600 * S)), 15 * S);
    check(&c, 30 * S, theirs_at(25 * S, (int64_t)(3600 * S)), 25 * S);
}

TEST(cupti_clock, set_back) {
    struct cupti_clock c = {0};
    read_at(&c, 10 * S, 0);
    read_at(&c, 20 * S, -(int64_t)(3600 * S));
    CHECK_EQ_U64(c.jumps, 1);
    check(&c, 20 * S, theirs_at(15 * S, 0), 15 * S);
    check(&c, 20 * S, theirs_at(15 * S, -(int64_t)(3600 * S)), 15 * S);
    check(&c, 20 * S, theirs_at(5 * S, 0), 5 * S);
}

/* More readings than are kept, and more than one change: the newest readings decide. */
TEST(cupti_clock, many_changes) {
    struct cupti_clock c = {0};
    for (uint64_t i = 1; i <= 500; ++i) {
        read_at(&c, i * S, (int64_t)(i / 100 * 60 * S));
    }
    CHECK_EQ_U64(c.jumps, 5);
    check(&c, 500 * S, theirs_at(490 * S, (int64_t)(240 * S)), 490 * S);
    check(&c, 500 * S, theirs_at(499 * S + 7, (int64_t)(300 * S)), 499 * S + 7);
}

TEST(cupti_clock, impossible_in_every_era) {
    struct cupti_clock c = {0};
    uint64_t start = 9000, end = 8000;
    read_at(&c, 10 * S, 0);
    read_at(&c, 20 * S, (int64_t)(60 * S));
    cupti_clock_convert(&c, 20 * S, &start, &end);
    CHECK(start > end);
    start = 5;
    end = 7;
    cupti_clock_convert(&c, 20 * S, &start, &end);
    CHECK(end > 100 * S);
    start = UINT64_MAX - 5;
    end = UINT64_MAX;
    cupti_clock_convert(&c, 20 * S, &start, &end);
    CHECK(end > 100 * S);
}

HARNESS_MAIN()
