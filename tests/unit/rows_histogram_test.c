/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histograms of rows: merged over places and threads, after a reset, and of few samples, whose
 * percentiles are exact. They must hold exactly the row's samples.
 */
#include <pthread.h>
#include <semaphore.h>

#include "base/histogram.h"
#include "model/rows.h"
#include "record/node.h"

#include "recorded.h"
#include "support.h"

/* The bucket's count of the histogram at a value; 1 tick is 1 ns on the fake clock. */
static uint64_t at(const struct histogram *h, uint64_t ticks) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (histogram_low(i) <= ticks && ticks < histogram_low(i + 1)) {
            return h->bucket[i];
        }
    }
    return 0;
}

TEST(rows_histogram, is_that_of_the_row) {
    static struct snapshot s;
    static struct histogram h;
    struct rows rows;
    for (int i = 0; i < 5; ++i) {
        timed("a", i < 3 ? 10 : 5000);
        timed("b", 20);
    }
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    const struct stint_row *a = row_in(&rows, 0, "a"), *b = row_in(&rows, 0, "b");
    if (CHECK(a && b)) {
        CHECK(!rows_histogram(&h, &rows, (uint32_t)(a - rows.row), 0));
        CHECK_EQ_U64(histogram_count(&h), 5);
        CHECK_EQ_U64(at(&h, 10), 3);
        CHECK_EQ_U64(at(&h, 5000), 2);
        CHECK(!rows_histogram(&h, &rows, (uint32_t)(b - rows.row), 0));
        CHECK_EQ_U64(at(&h, 20), 5);
        CHECK(rows_histogram(&h, &rows, (uint32_t)(b - rows.row), 1) == -1); /* not on a GPU */
    }
    CHECK(rows_histogram(&h, &rows, rows.count, 0) == -1);
    CHECK(!rows_tree(&rows, &s));
    CHECK(rows_histogram(&h, &rows, 0, 0) == -1);
    interval_close(&s);
}

static void load_inner(uint64_t ns) {
    REGISTER_TIMER("load");
    fake_advance(ns);
}

static void load_outer(uint64_t ns) {
    REGISTER_TIMER("load");
    for (int i = 0; i < 20; ++i) {
        load_inner(1);
    }
    fake_advance(ns);
}

static const struct stint_row *load_row(struct rows *rows, struct snapshot *s,
                                        struct histogram *h) {
    CHECK(!interval_open(s, 0));
    CHECK(!rows_flat(rows, s, 0));
    const struct stint_row *r = row_in(rows, 0, "load");
    if (!CHECK(r != NULL)) {
        r = rows->row;
    }
    CHECK(!rows_histogram(h, rows, (uint32_t)(r - rows->row), 0));
    CHECK_EQ_U64(histogram_count(h), r->samples);
    return r;
}

/* Calls inside a scope of the same name from another line: counted, in no sample and no
 * percentile. */
TEST(rows_histogram, holds_the_samples_of_the_row_where_a_name_nests_in_itself) {
    static struct snapshot s;
    static struct histogram h;
    struct rows rows;
    for (int i = 0; i < 100; ++i) {
        load_outer(10000);
    }
    const struct stint_row *r = load_row(&rows, &s, &h);
    CHECK(r->calls == 2100 && r->samples == 100);
    CHECK(r->min_ns == 10020 && r->percentile_ns[PERCENTILE_P50] == 10020 &&
          r->percentile_ns[PERCENTILE_P99] == 10020 && r->max_ns == 10020);
    interval_close(&s);
    load_inner(5); /* the same place, not inside: a sample like others */
    r = load_row(&rows, &s, &h);
    CHECK(r->samples == 101 && r->min_ns == 5);
    interval_close(&s);
}

TEST(rows_histogram, after_a_reset_too) {
    static struct snapshot s;
    static struct histogram h;
    struct rows rows;
    load_outer(20000);
    stint_reset();
    for (int i = 0; i < 10; ++i) {
        load_outer(10000);
    }
    const struct stint_row *r = load_row(&rows, &s, &h);
    CHECK(r->calls == 210 && r->samples == 10);
    CHECK(r->min_ns == 10020 && r->max_ns == 10020); /* of the samples that the node keeps */
    CHECK(r->percentile_ns[PERCENTILE_P50] == 10020 && r->percentile_ns[PERCENTILE_P99] == 10020);
    interval_close(&s);
    for (int i = 0; i < 50; ++i) {
        load_outer(10000);
    }
    r = load_row(&rows, &s, &h);
    CHECK(r->samples == 60 && at(&h, 20020) == 0); /* not that of the interval before */
    CHECK(r->min_ns > 9000 && r->max_ns < 11000);  /* a histogram's bounds */
    CHECK(r->percentile_ns[PERCENTILE_P50] > 9000 && r->percentile_ns[PERCENTILE_P99] < 11000);
    interval_close(&s);
}

/* Percentiles of all samples up to the 32nd of a node are exact, whatever the threads. */
static sem_t recorded, end;

static void *times_of_a_thread(void *from) {
    for (uint64_t i = 0; i < STINT_IMPL_RAW; ++i) {
        timed("exact", *(const uint64_t *)from + 1000 * i);
    }
    sem_post(&recorded);
    sem_wait(&end);
    return NULL;
}

TEST(rows_histogram, rows_of_few_samples_have_exact_percentiles) {
    uint64_t from[3] = {100001, 100002, 100003};
    pthread_t t[3];
    CHECK(!sem_init(&recorded, 0, 0) && !sem_init(&end, 0, 0));
    for (int i = 0; i < 3; ++i) { /* all stay until the end: each has a recorder */
        CHECK(!pthread_create(&t[i], NULL, times_of_a_thread, &from[i]));
        sem_wait(&recorded);
    }
    for (uint64_t i = 0; i < STINT_IMPL_RAW; ++i) {
        timed("exact", 100000 + 1000 * i);
    }
    stint_stat s = stat_of("exact");
    CHECK_EQ_U64(s.samples, 4 * STINT_IMPL_RAW);
    CHECK_EQ_U64(s.p50_ns, 115003);
    CHECK_EQ_U64(s.p90_ns, 128003);
    CHECK_EQ_U64(s.p99_ns, 131002);
    timed("exact", 100000);
    CHECK(stat_of("exact").p99_ns != 131002); /* one node has a histogram now */
    for (int i = 0; i < 3; ++i) {
        sem_post(&end);
    }
    for (int i = 0; i < 3; ++i) {
        pthread_join(t[i], NULL);
    }
}

/* A reset between two samples that one histogram gets later. */
TEST(rows_histogram, samples_kept_before_a_reset_are_not_of_the_interval) {
    static struct snapshot s;
    static struct histogram h;
    struct rows rows;
    for (int i = 0; i < 20; ++i) {
        timed("a", 100);
    }
    stint_reset();
    CHECK_EQ_U64(stat_of("a").samples, 0);
    for (int i = 0; i < 5; ++i) {
        timed("a", 300);
    }
    CHECK(stat_of("a").p50_ns == 300 && stat_of("a").min_ns == 300);
    stint_reset();
    for (int i = 0; i < 40; ++i) {
        timed("a", 500);
    }
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    CHECK(!rows_histogram(&h, &rows, 0, 0));
    CHECK(histogram_count(&h) == 40 && at(&h, 500) == 40);
    interval_close(&s);
    stint_reset();
    timed("a", 700);
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    CHECK(!rows_histogram(&h, &rows, 0, 0));
    CHECK(histogram_count(&h) == 1 && at(&h, 700) == 1);
    interval_close(&s);
}

/* Another set is another statistic. */
TEST(rows_histogram, of_a_name_inside_one_of_another_set) {
    static struct snapshot s;
    static struct histogram h;
    struct rows rows;
    for (int i = 0; i < 10; ++i) {
        REGISTER_TIMER("load", -1, stint_set_get("other"));
        load_inner(7);
    }
    const struct stint_row *r = load_row(&rows, &s, &h);
    CHECK(r->samples == 10 && r->percentile_ns[PERCENTILE_P50] == 7);
    interval_close(&s);
}
/* The last sample of a frame is counted by the next scope there; until then a reader adds it. */
TEST(rows_histogram, has_the_sample_that_waits_in_its_frame) {
    static struct snapshot s;
    static struct histogram h;
    static struct histogram read;
    struct rows rows;
    node_raw_samples = 0;
    timed("a", 10);
    timed("a", 20); /* a new maximum: counted at once */
    timed("a", 15);
    const struct stint_impl_frame *f = arena_at(newest_thread()->frames);
    CHECK(f[1].pending != 0);
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, 0));
    CHECK(!rows_histogram(&h, &rows, 0, 0));
    CHECK_EQ_U64(histogram_count(&h), 3);
    CHECK_EQ_U64(at(&h, 15), 1);
    uint32_t unit = f[1].pending / STINT_IMPL_BUCKETS_A_UNIT;
    const struct stint_impl_histogram *in_arena = arena_at(unit);
    CHECK_EQ_U64(in_arena->bucket[stint_impl_bucket(15)], 0);
    CHECK(!snapshot_read_buckets(&s, 0, unit, &read));
    CHECK_EQ_U64(read.bucket[stint_impl_bucket(15)], 1);
    CHECK(!snapshot_read_buckets(&s, SNAPSHOT_NONE, unit, &read));
    CHECK_EQ_U64(read.bucket[stint_impl_bucket(15)], 0);
    CHECK(snapshot_read_buckets(&s, 0, UINT32_MAX, &read) == -1);
    interval_close(&s);
    timed("b", 15);
    CHECK_EQ_U64(in_arena->bucket[stint_impl_bucket(15)], 1);
}

/* Before a reset as after it: what the bucket had no room for may be of either interval. */
TEST(rows_histogram, a_full_bucket_gives_no_percentile_and_its_loss_is_counted) {
    static struct snapshot s;
    static struct histogram h;
    struct rows rows;
    node_raw_samples = 0;
    timed("a", 15);
    const struct stint_impl_node *root = arena_at(newest_thread()->root);
    struct stint_impl_node *n = arena_at(root->child);
    struct stint_impl_histogram *in_arena = arena_at(n->histogram);
    in_arena->bucket[stint_impl_bucket(15)] = STINT_IMPL_BUCKET_FULL;
    n->seq = 2 * (STINT_IMPL_BUCKET_FULL + UINT64_C(7));
    for (uint64_t i = 0; i < 2; ++i) {
        CHECK(!interval_open(&s, 0));
        CHECK(!rows_flat(&rows, &s, 0));
        CHECK(!(rows.row[0].has & (ROW_HISTOGRAM | ROW_STDDEV)));
        CHECK(rows_histogram(&h, &rows, 0, 0) == -1);
        CHECK_EQ_U64(rows.row[0].samples, i ? 1 : STINT_IMPL_BUCKET_FULL + UINT64_C(7));
        CHECK_EQ_U64(s.lost[STINT_STATUS_FULL_BUCKET], 7 + i);
        interval_close(&s);
        stint_reset();
        n->seq += 2;
    }
}

/* Reset between the sample and the next scope on its frame: it is of the interval before. */
TEST(rows_histogram, a_waiting_sample_is_of_its_interval) {
    node_raw_samples = 0;
    timed("a", 10);
    timed("a", 20);
    timed("a", 15);
    stint_reset();
    CHECK_EQ_U64(stat_of("a").samples, 0);
    timed("a", 15);
    timed("a", 16);
    CHECK_EQ_U64(stat_of("a").samples, 2);
    CHECK_EQ_U64(stat_of("a").p50_ns, 15);
    CHECK_EQ_U64(stat_of("a").min_ns, 15);
    CHECK_EQ_U64(stat_of("a").max_ns, 16);
}
