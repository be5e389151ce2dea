/* SPDX-License-Identifier: Apache-2.0 */
/* Each way by which times leave a run, on durations that are known: every percentile is within the
 * error that the documentation states for it, or it is marked as a lower bound and is one. */
#include "distributions.h"
#include "export/export_columns.h"
#include "export/tool/export_otlp.h"

static const double lengths[] = {0.2381, 1.0 / 3, 1, 10, 41.6667};
static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;

/* A run with one scope that has the recorded calls, in its ticks or added in nanoseconds. */
static struct run *run_of(double ns_per_tick, int in_ns) {
    double total = 0, unit = in_ns ? 1 : ns_per_tick;
    hand_calls(&recorded, ns_per_tick);
    struct snapshot_node *n = &hand.nodes[1];
    for (uint32_t i = 0; i < CALLS; ++i) {
        total += truth[i] / unit;
    }
    n->total = (uint64_t)(total + 0.5);
    n->min = (uint64_t)(truth[0] / unit + 0.5);
    n->max = (uint64_t)(truth[CALLS - 1] / unit + 0.5);
    n->in_ns = in_ns != 0;
    n->kind = in_ns ? STINT_IMPL_INTERVAL_NODE : STINT_IMPL_SCOPE_NODE;
    return hand_run(&hand);
}

static int is_near(double value, double exact, double error) {
    return fabs(value - exact) <= error * exact + 1;
}

/* Reports, CSV, JSON, the summaries of Prometheus and stint_stat show these numbers. */
static void check_row(struct run *r) {
    struct rows rows;
    CHECK(!rows_flat(&rows, &r->snapshot, 0) && rows.count == 1);
    const struct stint_row *row = &rows.row[0];
    CHECK((row->beyond != 0) == !(row->has & ROW_STDDEV));
    CHECK(is_near((double)row->max_ns, truth[CALLS - 1], 0));
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        struct row_field field = ROW_FIELD(percentile_ns[i]);
        double exact = true_percentile(permilles[i]);
        if (row_is_beyond(row, field)) {
            CHECK(exact >= 1e14 && (double)row->percentile_ns[i] <= exact);
        } else {
            CHECK(is_near((double)row->percentile_ns[i], exact, 0.032));
        }
    }
}

/* The middle of the bucket of JSON that has the percentile; a bucket of longer calls ends with the
 * longest one. */
static void check_buckets(void) {
    char *text = exported(export_json);
    uint64_t next[PERCENTILE_COUNT], seen = 0, which = 0;
    const char *at = strstr(text, "\"histogram\":[[");
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        next[i] = (CALLS * permilles[i] + 999) / 1000;
    }
    for (at = at ? at + 13 : text; *at == '[' || *at == ','; at = strchr(at, ']') + 1) {
        unsigned long long low, high, count;
        CHECK(sscanf(at + (*at == ','), "[%llu,%llu,%llu]", &low, &high, &count) == 3);
        for (seen += count; which < PERCENTILE_COUNT && seen >= next[which]; ++which) {
            double exact = true_percentile(permilles[which]);
            CHECK((double)low <= exact * 1.064 + 1 && (double)high >= exact * 0.936 - 1);
        }
    }
    CHECK(seen == CALLS && which == PERCENTILE_COUNT);
}

/* Exponential histograms and explicit bounds of OTLP, and the percentiles of `stint top`. */
static void check_metrics(struct run *r) {
    struct metrics m;
    struct metric_exponential x;
    CHECK(!metrics_read(&m, r, 0) && metric_is_histogram(&m.series[0]) &&
          !metric_is_histogram(&m.series[1]));
    const struct metric_series *h = &m.series[0];
    CHECK(!metric_to_exponential(&x, &m, h));
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        double exact = true_percentile(permilles[i]), ns = 0;
        uint64_t seen = x.zero, rank = (CALLS * permilles[i] + 999) / 1000;
        for (uint32_t k = 0; k < x.length && seen < rank; ++k) {
            seen += x.count[k];
            ns = 1e9 * exp2((x.offset + (int32_t)k + 0.5) / 64);
        }
        CHECK_EQ_U64(h->count, CALLS);
        if (metric_is_beyond(h, permilles[i])) {
            CHECK(exact >= 1e14 && ns <= exact);
            CHECK((double)metric_percentile(&m, h, permilles[i]) <= exact);
        } else {
            CHECK(is_near(ns, exact, 0.037));
            CHECK(is_near((double)metric_percentile(&m, h, permilles[i]), exact, 0.032));
        }
    }
    metrics_free(&m);
}

TEST(export_paths, percentiles_are_within_their_errors) {
    for (int in_ns = 0; in_ns < 2; ++in_ns) {
        uint64_t seed = 3;
        for (size_t u = 0; u < sizeof lengths / sizeof *lengths; ++u) {
            for (enum shape shape = 0; shape <= DAYS; ++shape) {
                record_calls(shape, in_ns ? 1 : lengths[u], &seed);
                check_row(run_of(lengths[u], in_ns));
                check_metrics(&hand.run);
                check_buckets();
                hand_end(&hand);
            }
        }
    }
}

/* Calls that are longer than the last bucket: exports say how many there are, and what would be
 * taken for a value is left out. */
TEST(export_paths, longer_calls_are_said_to_be) {
    uint64_t seed = 4;
    record_calls(DAYS, 1, &seed);
    run_of(1, 0);
    uint64_t beyond = histogram_beyond(&recorded);
    char number[32];
    snprintf(number, sizeof number, "\"beyond\":%llu,", (unsigned long long)beyond);
    char *text = exported(export_json);
    CHECK_CONTAINS(text, number);
    CHECK(!strstr(text, "stddev_ns"));
    snprintf(number, sizeof number, ",%llu,%llu]]", (unsigned long long)truth[CALLS - 1] + 1,
             (unsigned long long)beyond);
    CHECK_CONTAINS(text, number);
    text = exported(export_prometheus);
    CHECK(strstr(text, "quantile=\"0.5\"") && !strstr(text, "quantile=\"0.99\""));
    CHECK(!strstr(text, "stint_scope_stddev_seconds{"));
    hand_end(&hand);
}

/* Scopes and added times of one name: one row, whose sums and bounds are exact. */
TEST(export_paths, both_kinds_of_times_are_one_row) {
    struct rows rows;
    uint64_t seed = 5;
    record_calls(LOGNORMAL, 0.2381, &seed);
    run_of(0.2381, 0);
    hand_node(&hand, 0, 1, 1000, 5000000, 1);
    hand.nodes[2].in_ns = 1;
    hand.nodes[2].kind = STINT_IMPL_INTERVAL_NODE;
    struct run *r = hand_run(&hand);
    CHECK(!rows_flat(&rows, &r->snapshot, 0) && rows.count == 1);
    const struct stint_row *row = &rows.row[0];
    CHECK_EQ_U64(row->calls, 2000);
    CHECK_EQ_U64(row->total_ns, (uint64_t)((double)hand.nodes[1].total * 0.2381 + 0.5) + 5000000);
    CHECK(is_near((double)row->min_ns, fmin(truth[0], 5000), 0));
    CHECK(is_near((double)row->max_ns, truth[CALLS - 1], 0));
    CHECK(is_near((double)row->percentile_ns[PERCENTILE_P99], true_percentile(980), 0.064));
    hand_end(&hand);
}

/* Ticks are rounded to the nearest nanosecond; in files of format 4 as they were, downwards. */
TEST(export_paths, ticks_are_rounded_to_nearest) {
    for (uint64_t ticks = 0; ticks < 100; ++ticks) {
        struct snapshot s = {.ns_per_tick = 0.2381};
        double ns = (double)ticks * s.ns_per_tick;
        CHECK(fabs((double)snapshot_ns(&s, ticks) - ns) <= 0.5);
        s.is_format_4 = 1;
        CHECK_EQ_U64(snapshot_ns(&s, ticks), (uint64_t)ns);
    }
}
