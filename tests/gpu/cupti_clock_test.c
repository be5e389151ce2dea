/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conversion of CUPTI's clock to the recorder's, computed from made-up readings alone: drift,
 * steps ahead and back, imprecise readings. The expected times follow from the readings.
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

static struct cupti_times convert(const struct cupti_clock *c, uint64_t now, uint64_t start,
                                  uint64_t end) {
    struct cupti_times t = {.start = start, .end = end};
    cupti_clock_convert(c, now, &t);
    return t;
}

/* The start, by the recorder's clock. */
static uint64_t get_start(const struct cupti_times *t) {
    return t->start + (uint64_t)t->shift;
}

static void check(const struct cupti_clock *c, uint64_t now, uint64_t theirs, uint64_t expected) {
    struct cupti_times t = convert(c, now, theirs, theirs + 700);
    CHECK_EQ_U64(get_start(&t), expected);
    CHECK_EQ_U64(t.end - t.start, 700);
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
    uint64_t theirs = theirs_at(15 * S, MS / 2);
    struct cupti_times t = convert(&c, 20 * S, theirs, theirs + 10000);
    CHECK(get_start(&t) + 1 >= 15 * S && get_start(&t) <= 15 * S + 1);
    CHECK_EQ_U64(t.end - t.start, 10000);
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
        struct cupti_times at = convert(&c, 1200 * MS, theirs_at(t, 0), theirs_at(t, 0));
        CHECK(get_start(&at) > before);
        before = get_start(&at);
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
    read_at(&c, 10 * S, 0);
    read_at(&c, 20 * S, (int64_t)(60 * S));
    struct cupti_times t = convert(&c, 20 * S, 9000, 8000);
    CHECK(t.start > t.end);
    CHECK(convert(&c, 20 * S, 5, 7).end > 100 * S);
    CHECK(convert(&c, 20 * S, UINT64_MAX - 5, UINT64_MAX).end > 100 * S);
}

/* The difference of two records of an era is that of CUPTI's own clock, whatever was read of it. */
TEST(cupti_clock, differences_are_its_own) {
    struct cupti_clock c = {0};
    uint64_t before = 0, theirs_before = 0;
    for (uint64_t i = 1; i <= 50; ++i) {
        read_at(&c, i * 20 * MS, (int64_t)(i * 20 * MS / 5000)); /* 200 ppm */
        uint64_t theirs = theirs_at(i * 20 * MS - 7 * MS, (int64_t)(i * 20 * MS / 5000));
        struct cupti_times t = convert(&c, i * 20 * MS, theirs, theirs + i * MS);
        CHECK_EQ_U64(t.end - t.start, i * MS);
        CHECK(!before || t.start - before == theirs - theirs_before);
        before = t.start;
        theirs_before = theirs;
    }
    CHECK_EQ_U64(c.jumps, 0);
}

/* The drift of one era goes on in the next, so that its times follow those of the one before. */
TEST(cupti_clock, times_follow_each_other_over_a_change) {
    struct cupti_clock c = {0};
    read_at(&c, 10 * S, 0);
    read_at(&c, 20 * S, 2 * MS);
    struct cupti_times last = convert(&c, 20 * S, theirs_at(20 * S, 2 * MS), REALTIME + 21 * S);
    read_at(&c, 20 * S + 20 * MS, (int64_t)(3600 * S));
    struct cupti_times t = convert(&c, 21 * S, theirs_at(20 * S + 20 * MS, (int64_t)(3600 * S)),
                                   theirs_at(20 * S + 20 * MS, (int64_t)(3600 * S)));
    CHECK_EQ_U64(t.start - last.start, 20 * MS);
    CHECK_EQ_U64(get_start(&t), 20 * S + 20 * MS);
}
