/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles of `stint top`: those of the last interval beside those since the run began, equal to
 * the deltas that `stint export --follow` writes. */
#include "base/histogram.h"
#include "export/tool/metrics.h"
#include "hand_test.h"
#include "tool/top/top.h"

static struct hand_run runs[2];

/* One scope: `few` calls of 1 us and `many` of 1 ms. */
static struct run *make_run(struct hand_run *h, uint32_t few, uint32_t many) {
    hand_start(h);
    uint32_t root = hand_thread(h, 1, "main");
    uint32_t node = hand_node(h, root, hand_site(h, "work", 4), few, 1000 * (uint64_t)few, 1);
    h->nodes[node].count += many;
    h->nodes[node].total += 1000000 * (uint64_t)many;
    h->nodes[node].max = 1000000;
    h->histograms[1].bucket[stint_impl_bucket(1000000)] = many;
    h->run.pid = 7;
    h->run.start_real_ns = 1000;
    return hand_run(h);
}

static uint64_t middle_of(uint64_t ns) {
    uint32_t bucket = stint_impl_bucket(ns);
    return (histogram_low(bucket) + histogram_low(bucket + 1) - 1) / 2;
}

/* Reads the run after `then` into a table of one row. */
static struct top_row *read_row(struct top_table *now, const struct top_table *then,
                                struct run *r) {
    static struct top_row row[4];
    static int used;
    memset(now, 0, sizeof *now);
    now->row = &row[used++ % 4];
    memset(now->row, 0, sizeof *now->row);
    now->count = 1;
    CHECK(!top_percentiles_read(now, then, r, 0));
    return now->row;
}

/* Whether both percentiles from `first` are known. */
static int knows(const struct top_row *row, enum top_percentile first) {
    CHECK(row->percentile[first].known == row->percentile[first + 1].known);
    return row->percentile[first].known;
}

TEST(top_percentiles, of_the_interval_beside_those_of_the_run) {
    const struct top_table nothing = {0};
    struct top_table one, two, three;
    const struct top_row *row = read_row(&one, &nothing, make_run(&runs[0], 100, 0));
    CHECK(one.has_percentiles && knows(row, TOP_ALL_P50) && knows(row, TOP_MORE_P50));
    CHECK_EQ_U64(row->percentile[TOP_ALL_P50].ns, middle_of(1000));
    CHECK_EQ_U64(row->percentile[TOP_MORE_P50].ns, middle_of(1000));
    hand_end(&runs[0]);
    row = read_row(&two, &one, make_run(&runs[1], 110, 50));
    CHECK_EQ_U64(row->percentile[TOP_ALL_P50].ns, middle_of(1000));
    CHECK_EQ_U64(row->percentile[TOP_ALL_P99].ns, middle_of(1000000));
    CHECK_EQ_U64(row->percentile[TOP_MORE_P50].ns, middle_of(1000000));
    CHECK_EQ_U64(row->percentile[TOP_MORE_P99].ns, middle_of(1000000));
    hand_end(&runs[1]);
    row = read_row(&three, &two, make_run(&runs[1], 110, 50));
    CHECK(knows(row, TOP_ALL_P50) && !knows(row, TOP_MORE_P50));
    CHECK_EQ_U64(row->percentile[TOP_ALL_P50].ns, middle_of(1000));
    hand_end(&runs[1]);
    top_percentiles_free(&one);
    top_percentiles_free(&two);
    top_percentiles_free(&three);
}

TEST(top_percentiles, equal_the_deltas) {
    const struct top_table nothing = {0};
    struct top_table one, two;
    struct metrics then, now, since;
    CHECK(!metrics_read(&then, make_run(&runs[0], 10, 3), 0));
    read_row(&one, &nothing, &runs[0].run);
    CHECK(!metrics_read(&now, make_run(&runs[1], 15, 12), 0));
    const struct top_row *row = read_row(&two, &one, &runs[1].run);
    CHECK(!metrics_raise(&now, &then) && !metrics_since(&since, &now, &then));
    CHECK(metric_is_histogram(&since.series[0]) && !metric_is_histogram(&since.series[1]));
    CHECK_EQ_U64(since.series[0].count, 14);
    CHECK_EQ_U64(row->percentile[TOP_MORE_P50].ns,
                 metric_percentile(&since, &since.series[0], 500));
    CHECK_EQ_U64(row->percentile[TOP_MORE_P99].ns,
                 metric_percentile(&since, &since.series[0], 990));
    metrics_free(&since);
    metrics_free(&now);
    metrics_free(&then);
    top_percentiles_free(&one);
    top_percentiles_free(&two);
    hand_end(&runs[0]);
    hand_end(&runs[1]);
}

/* The file was replaced by that of another run: its first interval is all of it. */
TEST(top_percentiles, another_run_begins_anew) {
    const struct top_table nothing = {0};
    struct top_table one, two;
    read_row(&one, &nothing, make_run(&runs[0], 100, 100));
    make_run(&runs[1], 90, 5);
    runs[1].run.start_real_ns = 2000;
    const struct top_row *row = read_row(&two, &one, &runs[1].run);
    CHECK(knows(row, TOP_MORE_P50));
    CHECK_EQ_U64(row->percentile[TOP_MORE_P50].ns, middle_of(1000));
    CHECK_EQ_U64(row->percentile[TOP_MORE_P99].ns, row->percentile[TOP_ALL_P99].ns);
    top_percentiles_free(&one);
    top_percentiles_free(&two);
    hand_end(&runs[0]);
    hand_end(&runs[1]);
}

TEST(top_percentiles, not_of_a_tree_nor_of_rows_that_are_left_out) {
    const struct top_table nothing = {0};
    struct top_row row = {.source = 5};
    struct top_table t = {.tree = 1, .row = &row, .count = 1};
    struct run *r = make_run(&runs[0], 5, 5);
    CHECK(!top_percentiles_read(&t, &nothing, r, 0));
    CHECK(!t.metrics && !t.has_percentiles);
    t.tree = 0;
    CHECK(!top_percentiles_read(&t, &nothing, r, 0));
    CHECK(t.metrics && !knows(&row, TOP_ALL_P50) && !knows(&row, TOP_MORE_P50));
    top_percentiles_free(&t);
    hand_end(&runs[0]);
}
