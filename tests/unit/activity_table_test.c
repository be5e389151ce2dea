/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of activities that reports print: grouping, order, medians and deviations. The
 * expected values follow from the samples.
 */
#include "gpu_activities.h"
#include "model/activity_table.h"
#include "support.h"

static struct snapshot s;
static struct activity_table t;

#define ASYNC(from)                                                                                \
    ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, ACTIVITY_MEMORY_##from, ACTIVITY_MEMORY_DEVICE, 1)
#define SYNC(from)                                                                                 \
    ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, ACTIVITY_MEMORY_##from, ACTIVITY_MEMORY_DEVICE, 0)

static void took_all(struct arena_activity *a, const uint64_t *ns, size_t count, uint64_t bytes) {
    for (size_t i = 0; i < count; ++i) {
        gpu_activity_took(a, ns[i], bytes);
    }
}

/* One kernel in two scopes, of two streams; another one; copies of three kinds. */
static void work(uint32_t device) {
    static const uint64_t slow[] = {400, 600, 800}, fast[] = {200};
    static const struct gpu_shape small = {{4, 1, 1}, {64, 1, 1}, 32, 0, 0},
                                  large = {{8, 1, 1}, {128, 1, 1}, 32, 0, 0};
    {
        REGISTER_TIMER("forward");
        struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, "volta_h884gemm_nn", device, 7);
        gpu_activity_shape(a, &large);
        took_all(a, slow, 3, 0);
        gpu_activity_launched(a, 2, 100, 50);
    }
    REGISTER_TIMER("backward", -1, stint_set_get("second"));
    struct arena_activity *b = gpu_activity(ACTIVITY_KERNEL, 0, "volta_h884gemm_nn", device, 8);
    gpu_activity_shape(b, &small);
    took_all(b, fast, 1, 0);
    took_all(gpu_activity(ACTIVITY_KERNEL, 0, "scale", device, 7), fast, 1, 0);
    took_all(gpu_activity(ACTIVITY_COPY, SYNC(PAGEABLE), NULL, device, 7), fast, 1, 1000);
    took_all(gpu_activity(ACTIVITY_COPY, ASYNC(PINNED), NULL, device, 7), slow, 3, 2000);
    took_all(gpu_activity(ACTIVITY_FILL, ACTIVITY_MEMORY_DEVICE, NULL, device, 7), fast, 1, 64);
    took_all(gpu_activity(ACTIVITY_API, 0, "cudaMemcpy", 0, 0), slow, 2, 0);
    took_all(gpu_activity(ACTIVITY_DRIVER, 0, "cuInit", 0, 0), fast, 1, 0);
    gpu_activity(ACTIVITY_API, 0, "never", 0, 0);
}

static void group(unsigned kinds, unsigned by, uint32_t set) {
    struct activity_ask ask = {kinds, by, set};
    CHECK(!activity_table(&t, &s, &ask));
}

static void group_all(unsigned kinds, unsigned by) {
    group(kinds, by, ACTIVITY_EVERY_SET);
}

static void take(void) {
    timed("first", 10); /* so that there is an arena */
    work(gpu_activities_device(0));
    CHECK(!snapshot_take(&s));
}

TEST(activity_table, kernels_by_name) {
    take();
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    CHECK_EQ_U64(t.count, 2);
    CHECK_EQ_U64(t.total, 2200);
    const struct activity_row *r = t.row[0];
    CHECK_STR_EQ(r->sum.of.name, "volta_h884gemm_nn");
    CHECK_EQ_U64(r->sum.count, 4);
    CHECK_EQ_U64(r->sum.total, 2000);
    CHECK_EQ_U64(r->share_ppm, 909090);
    CHECK_EQ_U64(r->avg, 500);
    CHECK_EQ_U64(r->sum.min, 200);
    CHECK_EQ_U64(r->sum.max, 800);
    CHECK_EQ_U64(r->stddev, 258); /* of 200 400 600 800, by n - 1 */
    CHECK(r->has & ACTIVITY_HAS_MEDIAN);
    CHECK_EQ_U64(r->median, 500); /* the mean of the two middle ones */
    CHECK(r->has & ACTIVITY_HAS_LAUNCH);
    CHECK_EQ_U64(r->launch_avg, 50); /* of the two whose call is known */
    CHECK_EQ_U64(r->delay_avg, 25);
    CHECK_STR_EQ(r->lib, "cuBLAS");
    CHECK_STR_EQ(r->precision, "fp16");
    CHECK_EQ_U64(r->sum.of.block[0], 128); /* the longest one's */
    CHECK_EQ_U64(r->sum.of.varies, 1);
    CHECK(r->has & ACTIVITY_HAS_OCCUPANCY);
    CHECK_EQ_U64(r->occupancy.permille, 1000);
    CHECK_EQ_U64(r->sum.of.stream, 0);
    CHECK(r->sum.of.node == SNAPSHOT_NONE);
    r = t.row[1];
    CHECK_STR_EQ(r->sum.of.name, "scale");
    CHECK_STR_EQ(r->lib, "user");
    CHECK_EQ_U64(r->stddev, 0);
    CHECK_EQ_U64(r->median, 200);
    CHECK_EQ_U64(r->sum.of.varies, 0);
    CHECK(!(r->has & (ACTIVITY_HAS_LAUNCH | ACTIVITY_HAS_OCCUPANCY)));
}

TEST(activity_table, apart_by_stream_scope_device_and_set) {
    take();
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), ACTIVITY_BY_STREAM);
    CHECK_EQ_U64(t.count, 3);
    CHECK_EQ_U64(t.row[0]->sum.of.stream, 7);
    CHECK_EQ_U64(t.row[0]->sum.total, 1800);
    CHECK_EQ_U64(t.row[0]->sum.of.varies, 0);
    CHECK_STR_EQ(t.row[1]->sum.of.name, "scale"); /* as long as the next: by name */
    CHECK_EQ_U64(t.row[2]->sum.of.stream, 8);
    CHECK_EQ_U64(t.row[2]->sum.of.context, 1);
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), ACTIVITY_BY_SCOPE);
    CHECK_EQ_U64(t.count, 3);
    CHECK_STR_EQ(s.sites[s.nodes[t.row[0]->sum.of.node].site].name, "forward");
    group(ACTIVITY_IN(ACTIVITY_KERNEL), 0, 1);
    CHECK_EQ_U64(t.count, 2);
    CHECK_EQ_U64(t.total, 400);
    snapshot_free(&s);
    work(gpu_activities_device(1));
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    CHECK_EQ_U64(t.count, 4);
    CHECK_EQ_U64(s.devices[t.row[0]->sum.of.device].number, 0);
    CHECK_EQ_U64(s.devices[t.row[1]->sum.of.device].number, 1);
    CHECK_STR_EQ(t.row[1]->sum.of.name, "volta_h884gemm_nn");
}

TEST(activity_table, copies_by_direction_or_kind) {
    take();
    group_all(ACTIVITY_IN_COPIES, 0);
    CHECK_EQ_U64(t.count, 2);
    CHECK_EQ_U64(t.row[0]->sum.count, 4);
    CHECK_EQ_U64(t.row[0]->sum.bytes, 7000);
    CHECK_EQ_U64(t.row[0]->sum.max_bytes, 2000);
    CHECK_EQ_U64(t.row[0]->sum.of.detail, ACTIVITY_COPY_HTOD);
    CHECK_EQ_U64(t.row[0]->bytes_per_s, 3500000000);
    CHECK_STR_EQ(t.row[0]->lib, "");
    group_all(ACTIVITY_IN_COPIES, ACTIVITY_BY_DETAIL);
    CHECK_EQ_U64(t.count, 3);
    CHECK_EQ_U64(t.row[0]->sum.of.detail, ASYNC(PINNED));
    CHECK_EQ_U64(t.row[1]->sum.of.detail, SYNC(PAGEABLE)); /* as long as the fill */
    CHECK_EQ_U64(t.row[2]->sum.of.detail, ACTIVITY_MEMORY_DEVICE);
    activity_table_sort(&t, ACTIVITY_SORT_BYTES);
    CHECK_EQ_U64(t.row[1]->sum.bytes, 1000);
}

TEST(activity_table, calls_and_all_work) {
    take();
    group_all(ACTIVITY_IN_CALLS, 0);
    CHECK_EQ_U64(t.count, 2); /* one that never was is none */
    CHECK_STR_EQ(t.row[0]->sum.of.name, "cudaMemcpy");
    CHECK_EQ_U64(t.total, 1200);
    group_all(ACTIVITY_IN_WORK, 0);
    CHECK_EQ_U64(t.count, 4);
    CHECK_EQ_U64(t.total, 4400);
    group_all(ACTIVITY_IN(ACTIVITY_GAP), 0);
    CHECK_EQ_U64(t.count, 0);
    CHECK_EQ_U64(t.total, 0);
}

/* ---- Samples that were taken back. */

static struct arena_activity *gap_row(uint32_t device) {
    return gpu_activity(ACTIVITY_GAP, ACTIVITY_GAP_SYNC, NULL, device, 0);
}

static struct arena_activity *taken_row(uint32_t device) {
    return gpu_activity(ACTIVITY_TAKEN_BACK, ACTIVITY_TAKEN_GAP(ACTIVITY_GAP_SYNC), NULL, device,
                        0);
}

TEST(activity_table, what_was_taken_back_is_subtracted) {
    static const uint64_t gaps[] = {100, 30000, 700, 800}, taken[] = {30000, 100};
    timed("first", 10);
    uint32_t device = gpu_activities_device(0), other = gpu_activities_device(1);
    took_all(gap_row(device), gaps, 4, 0);
    took_all(gap_row(other), gaps, 2, 0);
    took_all(gpu_activity(ACTIVITY_GAP, ACTIVITY_GAP_COPY, NULL, device, 0), gaps, 1, 0);
    took_all(taken_row(device), taken, 2, 0);
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_GAP), 0);
    CHECK_EQ_U64(t.count, 3);
    CHECK_EQ_U64(t.total, 1500 + 30100 + 100);
    const struct activity_row *r = t.row[1];
    CHECK_EQ_U64(r->sum.count, 2);
    CHECK_EQ_U64(r->sum.total, 1500);
    CHECK_EQ_U64(r->sum.min, 672); /* the bounds of their steps, and below the median */
    CHECK(r->sum.max >= 800 && r->sum.max < 850);
    CHECK(r->median >= 672 && r->median < 704); /* the step of 700 */
    CHECK_EQ_U64(r->stddev, 71);
    CHECK_EQ_U64(t.row[0]->sum.max, 30000);
}

/* A file that only a hand can have made: more was taken back than there was. */
TEST(activity_table, more_taken_back_than_there_was) {
    static const uint64_t gaps[] = {100}, taken[] = {300, 200};
    timed("first", 10);
    uint32_t device = gpu_activities_device(0);
    took_all(gap_row(device), gaps, 1, 0);
    took_all(taken_row(device), taken, 2, 0);
    took_all(gpu_activity(ACTIVITY_TAKEN_BACK, ACTIVITY_TAKEN_BACK << 8, NULL, device, 0), taken, 2,
             0);
    took_all(gpu_activity(ACTIVITY_TAKEN_BACK, UINT32_MAX, NULL, device, 0), taken, 2, 0);
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_GAP), 0);
    CHECK_EQ_U64(t.count, 0);
    for (uint32_t kind = 0; kind < ACTIVITY_KINDS; ++kind) {
        group_all(ACTIVITY_IN(kind), 0);
    }
}

TEST(activity_table, orders) {
    static const enum activity_sort by[] = {ACTIVITY_SORT_TOTAL, ACTIVITY_SORT_CALLS,
                                            ACTIVITY_SORT_AVG,   ACTIVITY_SORT_MIN,
                                            ACTIVITY_SORT_MAX,   ACTIVITY_SORT_BYTES};
    uint64_t random = 7;
    char name[16];
    timed("first", 10);
    for (int i = 0; i < 300; ++i) {
        uint64_t r = random_next(&random);
        snprintf(name, sizeof name, "k%d", (int)(r % 100)); /* some meet */
        struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, name, 0, 0);
        gpu_activity_took(a, r % 97, r % 89);
        gpu_activity_took(a, r % 31, r % 89);
    }
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    for (size_t k = 0; k < sizeof by / sizeof *by; ++k) {
        activity_table_sort(&t, by[k]);
        for (uint32_t i = 1; i < t.count; ++i) {
            const struct activity_row *a = t.row[i - 1], *b = t.row[i];
            const u128 keys[][2] = {{a->sum.total, b->sum.total},
                                    {a->sum.count, b->sum.count},
                                    {a->avg, b->avg},
                                    {a->sum.min, b->sum.min},
                                    {a->sum.max, b->sum.max},
                                    {a->sum.bytes, b->sum.bytes}};
            CHECK(keys[k][0] > keys[k][1] ||
                  (keys[k][0] == keys[k][1] && strcmp(a->sum.of.name, b->sum.of.name) < 0));
        }
    }
}

/* The median is the mean of the two middle samples if their number is even. */
TEST(activity_table, median_of_few_samples) {
    static const uint64_t ns[] = {1000, 9000000, 3000, 8000, 2000, 7000};
    static const uint64_t medians[] = {1000, 4500500, 3000, 5500, 3000, 5000};
    timed("first", 10);
    struct arena_activity *a = gpu_activity(ACTIVITY_API, 0, "cudaFree", 0, 0);
    for (int i = 0; i < 6; ++i) {
        gpu_activity_took(a, ns[i], 0);
        CHECK(!snapshot_take(&s));
        group_all(ACTIVITY_IN(ACTIVITY_API), 0);
        CHECK_EQ_U64(t.row[0]->median, medians[i]);
    }
}

/* The median is taken over several rows of the arena. From the 65th sample on it is the
 * histogram's. */
TEST(activity_table, median_of_64_samples_is_exact) {
    timed("first", 10);
    struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, "k", 0, 7);
    struct arena_activity *b = gpu_activity(ACTIVITY_KERNEL, 0, "k", 0, 8);
    for (uint64_t i = 0; i < 64; ++i) {
        gpu_activity_took(i % 3 ? a : b, 1000001 + (i * 37 % 64) * 1000, 0);
    }
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    CHECK_EQ_U64(t.row[0]->median, 1000001 + 31500);
    gpu_activity_took(a, 5, 0);
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    CHECK(t.row[0]->median != 1000001 + 31000); /* the exact one */
    CHECK(t.row[0]->median > 1000000 && t.row[0]->median < 1064000);
}

TEST(activity_table, sizes) {
    static const uint64_t bytes[] = {1000, 5, 4000, 0};
    timed("first", 10);
    struct arena_activity *a = gpu_activity(ACTIVITY_COPY, SYNC(PAGEABLE), NULL, 0, 7);
    for (int i = 0; i < 4; ++i) {
        gpu_activity_took(a, 100, bytes[i]);
    }
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_COPY), 0);
    const struct activity_row *r = t.row[0];
    CHECK_EQ_U64(r->sum.min_bytes, 0);
    CHECK_EQ_U64(r->sum.max_bytes, 4000);
    CHECK_EQ_U64(r->median_bytes, 502); /* of 5 and 1000 */
    CHECK_EQ_U64(r->stddev_bytes, 1892);
}

/* More are counted than were kept, or what is kept lies outside the file. */
TEST(activity_table, samples_of_a_broken_file) {
    timed("first", 10);
    struct arena_activity *a = gpu_activity(ACTIVITY_COPY, SYNC(PAGEABLE), NULL, 0, 7);
    gpu_activity_took(a, 100, 1000);
    a->samples = UINT32_MAX - 3;
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_COPY), 0);
    CHECK_EQ_U64(t.row[0]->median, 100);
    CHECK(!(t.row[0]->has & ACTIVITY_HAS_MEDIAN_BYTES));
    CHECK_EQ_U64(t.row[0]->sum.min_bytes, 1000);
}

TEST(activity_table, a_full_bucket_gives_no_median_and_its_loss_is_counted) {
    timed("first", 10);
    struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, "k", 0, 7);
    gpu_activity_took(a, 100, 0);
    struct stint_impl_histogram *h = arena_at(a->histogram);
    h->bucket[stint_impl_bucket(100)] = STINT_IMPL_BUCKET_FULL;
    a->seq = 2 * (STINT_IMPL_BUCKET_FULL + UINT64_C(500));
    a->total = 100 * (a->seq / 2);
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    CHECK(!(t.row[0]->has & ACTIVITY_HAS_MEDIAN));
    CHECK_EQ_U64(t.row[0]->avg, 100);
    CHECK_EQ_U64(s.lost[STINT_STATUS_FULL_BUCKET], 500);
}

TEST(activity_table, without_percentiles_there_is_no_median) {
    setenv("STINT_PERCENTILES", "0", 1);
    take();
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    CHECK(!(t.row[0]->has & ACTIVITY_HAS_MEDIAN));
    CHECK_EQ_U64(t.row[0]->sum.min, 200);
    CHECK_EQ_U64(t.row[0]->stddev, 258);
}

/* Large and close together: the sum of squares must not lose it. */
TEST(activity_table, stddev_of_long_times) {
    timed("first", 10);
    struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, "long", 0, 0);
    for (uint64_t i = 0; i < 10000; ++i) {
        gpu_activity_took(a, 5000000000u + (i & 1 ? 10000000 : 0), 0);
    }
    CHECK(!snapshot_take(&s));
    group_all(ACTIVITY_IN(ACTIVITY_KERNEL), 0);
    CHECK(t.row[0]->stddev > 4990000 && t.row[0]->stddev < 5010000);
}
