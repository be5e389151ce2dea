/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of activities in the arena: their columns, keys and samples. Records are made by hand,
 * and the expected sums are those of the records; rows that find no room are counted.
 */
#include "activity/activity_private.h"

#include "activity_made.h"

static double squares_of(const struct arena_activity *a) {
    double d;
    memcpy(&d, &a->squares, sizeof d);
    return d;
}

TEST(activity_rows, columns) {
    CHECK(!activity_open());
    add(copy(7, 1, 1000, 1030, 64));
    add(copy(7, 1, 500, 510, 256));
    add(copy(7, 1, 2000, 2020, 16));
    const struct arena_activity *a = row(ACTIVITY_COPY, 7, NULL);
    CHECK_EQ_U64(count_of(a), 3);
    CHECK_EQ_U64(a->total, 60);
    CHECK_EQ_U64(a->min, 10);
    CHECK_EQ_U64(a->max, 30);
    CHECK_EQ_U64(a->bytes, 336);
    CHECK_EQ_U64(a->max_bytes, 256);
    CHECK(squares_of(a) == 900 + 100 + 400);
    CHECK_EQ_U64(a->first_at, 500);
    CHECK_EQ_U64(a->last_at, 2020);
    CHECK_EQ_U64(a->context, 1);
    CHECK_EQ_U64(a->stream, 7);
    CHECK_EQ_U64(a->name, 0);
    const struct stint_impl_histogram *h = arena_at(a->histogram);
    CHECK_EQ_U64(h->bucket[stint_impl_bucket(10)], 1);
    CHECK_EQ_U64(h->bucket[stint_impl_bucket(30)], 1);
    CHECK_EQ_U64(a->min_bytes, 16);
    const struct arena_sizes *sizes = arena_at(a->samples);
    CHECK(sizes->times.ns[0] == 30 && sizes->times.ns[1] == 10 && sizes->times.ns[2] == 20);
    CHECK(sizes->bytes[0] == 64 && sizes->bytes[1] == 256 && sizes->bytes[2] == 16);
    CHECK_EQ_U64(sizes->histogram.bucket[stint_impl_bucket(256)], 1);
}

TEST(activity_rows, unified_memory) {
    struct activity_record r = copy(ACTIVITY_UNIFIED_HTOD, 0, 1000, 1500, 65536);
    CHECK(!activity_open());
    add(of_kind(ACTIVITY_UNIFIED, r));
    const struct arena_activity *a = row(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_HTOD, NULL);
    CHECK_EQ_U64(count_of(a), 1);
    CHECK_EQ_U64(a->total, 500);
    CHECK_EQ_U64(a->bytes, 65536);
    CHECK(a->device && !a->stream && !a->node);
    activity_settle();
    CHECK_EQ_U64(rows_of(ACTIVITY_BUSY), 0); /* no work of the device */
}

/* The first 64; the later ones are in the histogram only. */
TEST(activity_rows, samples) {
    CHECK(!activity_open());
    for (uint64_t i = 0; i < 70; ++i) {
        add(kernel("k", 1, 1000, 1000 + i));
    }
    const struct arena_activity *a = row(ACTIVITY_KERNEL, 0, "k");
    const struct arena_samples *samples = arena_at(a->samples);
    for (uint64_t i = 0; i < ARENA_SAMPLES; ++i) {
        CHECK_EQ_U64(samples->ns[i], i);
    }
    CHECK_EQ_U64(a->min_bytes, UINT64_MAX);
}

TEST(activity_rows, longest_times) {
    CHECK(!activity_open());
    fake_advance((uint64_t)1 << 52);
    add(copy(0, 1, 1, (uint64_t)1 << 52, 1));
    const struct arena_activity *a = row(ACTIVITY_COPY, 0, NULL);
    CHECK_EQ_U64(a->max, ((uint64_t)1 << 52) - 1);
    const struct stint_impl_histogram *h = arena_at(a->histogram);
    CHECK_EQ_U64(h->bucket[STINT_IMPL_BUCKETS - 1], 1);
}

/* Each part of the key makes a row of its own. */
TEST(activity_rows, keys) {
    struct activity_record r = kernel("a", 1, 10, 20);
    uint32_t *parts[] = {&r.detail, &r.device, &r.context, &r.stream};
    CHECK(!activity_open());
    for (int round = 0; round < 3; ++round) {
        r = kernel("a", 1, 10, 20);
        add(r);
        for (unsigned i = 0; i < sizeof parts / sizeof *parts; ++i) {
            uint32_t before = *parts[i];
            *parts[i] = before + 1;
            add(r);
            *parts[i] = before;
        }
        r.name = "b";
        add(r);
        activity_launch(2);
        REGISTER_TIMER("s");
        activity_launch(3);
        r.correlation = 2;
        add(r); /* no scope, as before */
        r.correlation = 3;
        add(r);
        add(of_kind(ACTIVITY_FILL, r));
        CHECK_EQ_U64(rows_of(ACTIVITY_KERNEL), round ? 7 : 7);
        CHECK_EQ_U64(rows_of(ACTIVITY_FILL), 1);
    }
}

TEST(activity_rows, many_keys) {
    CHECK(!activity_open());
    for (int round = 0; round < 2; ++round) {
        for (uint32_t i = 0; i < 5000; ++i) {
            add(on_stream(i, copy(i % 10, 1, 10, 20, 1)));
        }
        CHECK_EQ_U64(rows_of(ACTIVITY_COPY), 5000);
    }
    for (const struct arena_activity *a = row_newest(); a; a = row_next(a)) {
        CHECK_EQ_U64(count_of(a), 2);
    }
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_FULL), 0);
}

/* There is an end also where there is memory. */
TEST(activity_rows, too_many_keys) {
    setenv("STINT_PERCENTILES", "0", 1);
    CHECK(!activity_open());
    for (uint32_t i = 0; i < 60000; ++i) {
        add(on_stream(i, copy(0, 1, 10, 20, 1)));
    }
    CHECK_EQ_U64(rows_of(ACTIVITY_COPY), 49152);
    CHECK_EQ_U64(lost(STINT_STATUS_ACTIVITY_FULL), 60000 - 49152);
    CHECK_EQ_U64(row_newest()->histogram, 0);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_HISTOGRAM), 0);
}

TEST(activity_rows, configuration_of_the_longest) {
    struct activity_record r = kernel("k", 1, 10, 20);
    CHECK(!activity_open());
    r.grid[1] = 5;
    r.registers = 32;
    add(r);
    r.end = 30;
    add(r);
    const struct arena_activity *a = row(ACTIVITY_KERNEL, 0, "k");
    CHECK_EQ_U64(a->varies, 0);
    CHECK_EQ_U64(a->grid[1], 5);
    CHECK_EQ_U64(a->block[0], 32);
    CHECK_EQ_U64(a->registers, 32);
    r.shared_static = 48;
    r.end = 25; /* another one, but shorter */
    add(r);
    CHECK_EQ_U64(a->varies, 1);
    CHECK_EQ_U64(a->shared_static, 0);
    r.shared_dynamic = 1024;
    r.end = 31;
    add(r);
    CHECK_EQ_U64(a->shared_static, 48);
    CHECK_EQ_U64(a->shared_dynamic, 1024);
    CHECK_EQ_U64(a->max, 21);
}

TEST(activity_rows, no_time_no_minimum) {
    struct activity_record r = {.kind = ACTIVITY_ALLOC, .address = 64, .bytes = 10};
    CHECK(!activity_open());
    add(r);
    const struct arena_activity *a = row(ACTIVITY_ALLOC, 0, NULL);
    CHECK_EQ_U64(count_of(a), 1);
    CHECK_EQ_U64(a->min, 0);
    CHECK_EQ_U64(a->histogram, 0);
}
