/* SPDX-License-Identifier: Apache-2.0 */
/* The buckets of metrics: exponential ones, bounds and percentiles of single histograms; the
 * differences of readings, and what the series of a run are. */
#include <math.h>

#include "base/histogram.h"
#include "export/tool/export_otlp.h"
#include "hand_test.h"

static const double lengths[] = {0.2381, 1, 3.7, 41.6667};

/* A histogram with one bucket. */
static struct metric_series one_bucket(struct histogram_bucket *b, uint32_t bucket, int gpu) {
    *b = (struct histogram_bucket){bucket, 9};
    return (struct metric_series){.buckets = {.bucket = b, .used = 1, .in_ns = gpu}, .count = 9};
}

/* A value is within 3.7 % of the centre of the exponential bucket that it is counted in. */
TEST(metrics, exponential_buckets_are_near_the_recorders) {
    for (size_t u = 0; u < sizeof lengths / sizeof *lengths; ++u) {
        struct metrics m = {.ns_per_tick = lengths[u]};
        for (uint32_t b = 16; b < STINT_IMPL_BUCKETS; ++b) {
            struct histogram_bucket bucket;
            struct metric_series h = one_bucket(&bucket, b, 0);
            struct metric_exponential x;
            CHECK(!metric_to_exponential(&x, &m, &h));
            CHECK_EQ_U64(x.length, 1);
            CHECK_EQ_U64(x.zero, 0);
            CHECK_EQ_U64(x.count[0], 9);
            double centre = 1e9 * exp2((x.offset + 0.5) / 64);
            for (int end = 0; end < 2; ++end) {
                double ns =
                    (double)(end ? histogram_low(b + 1) - 1 : histogram_low(b)) * lengths[u];
                CHECK(fabs(ns - centre) <= 0.037 * ns);
            }
        }
        scratch_free(&m.memory);
    }
}

TEST(metrics, zero_is_a_count_of_its_own) {
    struct metrics m = {.ns_per_tick = 1};
    struct histogram_bucket bucket[2] = {{0, 4}, {100, 5}};
    struct metric_series h = {.buckets = {.bucket = bucket, .used = 2}, .count = 9};
    struct metric_exponential x;
    CHECK(!metric_to_exponential(&x, &m, &h));
    CHECK_EQ_U64(x.zero, 4);
    CHECK_EQ_U64(x.length, 1);
    CHECK_EQ_U64(x.count[0], 5);
    h.buckets.used = 1;
    CHECK(!metric_to_exponential(&x, &m, &h));
    CHECK_EQ_U64(x.zero, 4);
    CHECK_EQ_U64(x.length, 0);
    scratch_free(&m.memory);
}

/* A bound lies between the last value of its bucket and the first of the next. */
TEST(metrics, bounds_are_between_values) {
    for (size_t u = 0; u < sizeof lengths / sizeof *lengths; ++u) {
        const struct metrics m = {.ns_per_tick = lengths[u]};
        for (uint32_t b = 0; b < STINT_IMPL_BUCKETS; ++b) {
            struct histogram_bucket bucket;
            const struct metric_series h = one_bucket(&bucket, b, 0);
            double last = (double)(histogram_low(b + 1) - 1) * lengths[u];
            CHECK(metric_bound(&m, &h, b) > last);
            CHECK(metric_bound(&m, &h, b) < last + lengths[u]);
            CHECK(fabs(metric_middle(&m, &h, b) - histogram_middle(b) * lengths[u]) <
                  1e-6 * last + 1e-9);
        }
    }
}

/* Times of a GPU are nanoseconds, whatever the clock. */
TEST(metrics, times_on_a_gpu_are_nanoseconds) {
    const struct metrics m = {.ns_per_tick = 41.6667};
    struct histogram_bucket bucket;
    const struct metric_series h = one_bucket(&bucket, 200, 1);
    CHECK(metric_middle(&m, &h, 200) == histogram_middle(200));
    CHECK_EQ_U64(metric_percentile(&m, &h, 990), (uint64_t)histogram_middle(200));
}

TEST(metrics, percentiles_as_in_reports) {
    const struct metrics m = {.ns_per_tick = 1};
    struct histogram_bucket bucket[3] = {{10, 50}, {100, 40}, {300, 10}};
    const struct metric_series h = {.buckets = {.bucket = bucket, .used = 3}, .count = 100};
    const struct metric_series none = {0};
    static struct histogram same;
    for (int i = 0; i < 3; ++i) {
        same.bucket[bucket[i].index] = bucket[i].count;
    }
    for (uint32_t permille = 1; permille <= 1000; ++permille) {
        CHECK_EQ_U64(metric_percentile(&m, &h, permille),
                     histogram_percentile(&same, 100, permille));
    }
    CHECK_EQ_U64(metric_percentile(&m, &none, 500), 0);
}

/* ---- Readings of a run that goes on. */

#define SCOPES 5u
#define READINGS 40u
#define MS_NS 1000000u

static const char *const scope_names[SCOPES] = {"a", "b", "c", "d", "e"};

/* The same numbers in every run. */
static uint32_t draw(uint64_t *seed, uint32_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static struct metric_label scope_label(uint32_t scope, uint32_t kind) {
    return (struct metric_label){.name = scope_names[scope],
                                 .set = "set",
                                 .kind = kind,
                                 .hash = scope % 3}; /* some have the same hash */
}

static uint64_t sum_of(const struct histogram *h) {
    uint64_t sum = 0;
    for (uint32_t b = 0; b < STINT_IMPL_BUCKETS; ++b) {
        sum += h->bucket[b] * histogram_low(b);
    }
    return sum;
}

/* The true counts of a moment, as a reading: of the scopes up to `scopes`. */
static struct metrics make_reading(const struct histogram truth[SCOPES], uint32_t scopes,
                                   uint64_t time_ns) {
    struct metrics m = {.ns_per_tick = 1, .start_ns = 1, .time_ns = time_ns};
    for (uint32_t i = 0; i < scopes; ++i) {
        struct metric_series h = {.label = scope_label(i, METRIC_DURATION),
                                  .count = histogram_count(&truth[i]),
                                  .sum_ns = sum_of(&truth[i])};
        struct metric_series calls = {.label = scope_label(i, METRIC_OF_SCOPE), .count = h.count};
        CHECK(!histogram_pack(&h.buckets, &m.memory, &truth[i]));
        CHECK(metrics_add(&m, &h) && metrics_add(&m, &calls));
    }
    return m;
}

/* A reading beside the recorder may miss what it has just counted. */
static void lose_some(struct metrics *m, uint64_t *seed) {
    for (uint32_t i = 0; i < m->count; ++i) {
        struct metric_series *h = &m->series[i];
        struct histogram_list *l = &h->buckets;
        if (!metric_is_histogram(h)) {
            continue;
        }
        struct histogram_bucket *b = &l->bucket[draw(seed, l->used ? l->used : 1)];
        if (l->used && b->count > 1) {
            --b->count;
            --h->count;
            h->sum_ns -= draw(seed, 2) ? histogram_low(b->index) : 0;
        }
    }
}

static void record_some(struct histogram truth[SCOPES], uint64_t *seed) {
    for (uint32_t calls = draw(seed, 50); calls; --calls) {
        uint32_t scope = draw(seed, SCOPES);
        ++truth[scope].bucket[draw(seed, 200)];
    }
}

/* The sums since the beginning. */
struct sums {
    struct histogram histogram[SCOPES];
    u128 sum_ns[SCOPES];
    u128 calls[SCOPES];
    uint64_t end_ns;
};

static void add_delta(struct sums *to, const struct metrics *m) {
    for (uint32_t i = 0; i < m->count; ++i) {
        const struct metric_series *h = &m->series[i];
        uint32_t scope = (uint32_t)(h->label.name[0] - 'a');
        uint64_t count = 0;
        if (!metric_is_histogram(h)) {
            to->calls[scope] += h->count;
            continue;
        }
        for (uint32_t b = 0; b < h->buckets.used; ++b) {
            to->histogram[scope].bucket[h->buckets.bucket[b].index] += h->buckets.bucket[b].count;
            count += h->buckets.bucket[b].count;
        }
        CHECK_EQ_U64(count, h->count);
        CHECK(!m->delta || h->count || h->sum_ns);
        to->sum_ns[scope] += h->sum_ns;
    }
    CHECK(m->time_ns > to->end_ns);
    to->end_ns = m->time_ns;
}

/* Whatever is recorded and whenever it is read, the deltas add up to the last reading. */
TEST(metrics, deltas_add_up) {
    for (uint64_t seed = 1, run = 0; run < 30; ++run) {
        static struct sums sums;
        static struct histogram truth[SCOPES];
        static struct metrics reading[READINGS];
        memset(&sums, 0, sizeof sums);
        memset(truth, 0, sizeof truth);
        uint64_t time_ns = 1000 * MS_NS;
        uint32_t readings = 1 + draw(&seed, READINGS);
        for (uint32_t at = 0; at < readings; ++at) {
            uint32_t scopes = 1 + draw(&seed, SCOPES); /* others are missing */
            record_some(truth, &seed);
            time_ns += draw(&seed, 2 * MS_NS);
            int last = at + 1 == readings;
            reading[at] = make_reading(truth, last ? SCOPES : scopes, time_ns);
            struct metrics since;
            if (!last) {
                lose_some(&reading[at], &seed);
            }
            if (!at) {
                add_delta(&sums, &reading[at]);
                continue;
            }
            CHECK(!metrics_raise(&reading[at], &reading[at - 1]));
            CHECK(!metrics_since(&since, &reading[at], &reading[at - 1]));
            CHECK_EQ_U64(since.start_ns, reading[at - 1].time_ns);
            add_delta(&sums, &since);
            metrics_free(&since);
        }
        CHECK(!memcmp(sums.histogram, truth, sizeof truth));
        for (uint32_t i = 0; i < SCOPES; ++i) {
            CHECK_EQ_U64(sums.calls[i], histogram_count(&truth[i]));
            CHECK_EQ_U64(sums.sum_ns[i], sum_of(&truth[i]));
        }
        for (uint32_t at = 0; at < readings; ++at) {
            scratch_free(&reading[at].memory);
        }
    }
}

/* Monitoring systems keep milliseconds, and refuse another value at the same time. */
TEST(metrics, a_later_reading_is_a_millisecond_later) {
    static const struct histogram truth[SCOPES];
    struct metrics then = make_reading(truth, 1, 5 * MS_NS);
    struct metrics now = make_reading(truth, 1, 5 * MS_NS - 7);
    CHECK(!metrics_raise(&now, &then));
    CHECK_EQ_U64(now.time_ns, 6 * MS_NS);
    scratch_free(&now.memory);
    now = make_reading(truth, 1, 9 * MS_NS);
    CHECK(!metrics_raise(&now, &then));
    CHECK_EQ_U64(now.time_ns, 9 * MS_NS);
    scratch_free(&now.memory);
    scratch_free(&then.memory);
}

/* As a histogram of which some calls are missing: it is not written, but not forgotten either. */
TEST(metrics, what_a_reading_lacks_is_not_added_again) {
    struct histogram truth[SCOPES] = {{.bucket = {[7] = 3}}, {.bucket = {[9] = 4}}};
    struct metrics one = make_reading(truth, 2, 10 * MS_NS), since;
    struct metrics two = make_reading(truth, 1, 20 * MS_NS);
    CHECK(!metrics_raise(&two, &one));
    CHECK_EQ_U64(two.hidden, 1);
    CHECK(two.count == 4 && two.series[3].hidden + two.series[2].hidden == 1);
    truth[1].bucket[9] = 5;
    struct metrics three = make_reading(truth, 2, 30 * MS_NS);
    CHECK(!metrics_raise(&three, &two));
    CHECK(!metrics_since(&since, &three, &two));
    CHECK_EQ_U64(since.count, 2); /* it and its counter */
    CHECK_EQ_U64(since.series[0].count, 1);
    CHECK_EQ_U64(since.series[0].sum_ns, 9);
    CHECK_EQ_U64(since.series[1].count, 1);
    metrics_free(&since);
    scratch_free(&one.memory);
    scratch_free(&two.memory);
    scratch_free(&three.memory);
}

/* Once, although each reading has it. */
TEST(metrics, the_slowest_call_is_an_exemplar_when_it_is_new) {
    const struct histogram truth[SCOPES] = {{.bucket = {[7] = 3}}};
    const struct {
        const char *note;
        uint64_t max_ns;
        int noted;
    } turns[] = {{"batch 4", 70, 0}, {"batch 4", 70, 1}, {"batch 9", 70, 0}, {"batch 9", 80, 0}};
    struct metrics then = make_reading(truth, 1, MS_NS);
    for (uint32_t i = 0; i < sizeof turns / sizeof *turns; ++i) {
        struct metrics now = make_reading(truth, 1, (i + 2) * MS_NS);
        now.series[0].note = turns[i].note;
        now.series[0].max_ns = turns[i].max_ns;
        CHECK(!metrics_raise(&now, &then));
        CHECK_EQ_U64((uint64_t)now.series[0].noted, (uint64_t)turns[i].noted);
        scratch_free(&then.memory);
        then = now;
    }
    scratch_free(&then.memory);
}

/* ---- Series of a run. */

TEST(metrics, the_slowest_call_has_its_note) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t node = hand_node(&hand, root, hand_named("noted"), 3, 3000, 1);
    strcpy(snapshot_extra_of(&hand.run.snapshot, node)->info, "batch \"4\"");
    hand_node(&hand, root, hand_named("without"), 3, 3000, 1);
    char *text = exported(export_otlp);
    CHECK_EQ_U64(times_in(text, "\"exemplars\""), 1);
    CHECK_CONTAINS(text,
                   "\"asDouble\":0.000001000,\"filteredAttributes\":[{\"key\":\"note\",\"value\":"
                   "{\"stringValue\":\"batch \\\"4\\\"\"}}]}]}");
    hand_end(&hand);
}

/* The sums of histograms are decimals of any length; an integer of OTLP has 63 bits. */
TEST(metrics, a_sum_that_no_integer_holds_is_said_to_be) {
    static struct measures measures = {.groups = 1u << MEASURE_GROUP_DECLARED};
    measures.bytes = measures.flops = INT64_MAX;
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t"), site = hand_named("long");
    for (int i = 0; i < 3; ++i) {
        uint32_t node = hand_node(&hand, root, site, 3, 3000, 1);
        hand.nodes[node].total = UINT64_MAX;
    }
    uint32_t once = hand_node(&hand, root, hand_named("short"), 3, 3000, 1);
    hand.nodes[once - 1].measures = hand.nodes[once - 2].measures = &measures;
    hand.nodes[once].measures = &measures;
    char *text = exported(export_otlp);
    CHECK_CONTAINS(text, "\"count\":\"9\",\"sum\":55340232221.128654845,");
    CHECK_EQ_U64(times_in(text, "{\"key\":\"saturated\",\"value\":{\"boolValue\":true}}"), 2);
    CHECK_EQ_U64(times_in(text, "\"asInt\":\"9223372036854775807\""), 4);
    hand_end(&hand);
}

TEST(metrics, allocations_are_counters) {
    static struct measures measures = {.groups = 1u << MEASURE_GROUP_MEMORY};
    measures.measure[MEASURE_MALLOCS] = 77;
    measures.measure[MEASURE_MALLOC_BYTES] = 4096;
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t node = hand_node(&hand, root, hand_named("eats"), 3, 3000, 1);
    hand.nodes[node].measures = &measures;
    char *text = exported(export_otlp);
    CHECK_CONTAINS(text, "\"stint.scope.allocations\"");
    CHECK_CONTAINS(text, "\"asInt\":\"77\"");
    CHECK_CONTAINS(text, "\"stint.scope.allocated\"");
    CHECK_CONTAINS(text, "\"asInt\":\"4096\"");
    hand_end(&hand);
}

/* A path of two scopes is none of one. */
TEST(metrics, names_cannot_end_a_path) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t outer = hand_node(&hand, root, hand_named("a;b"), 3, 3000, 1);
    hand_node(&hand, outer, hand_named("c"), 3, 1000, 1);
    char *text = exported(export_otlp);
    CHECK_CONTAINS(text, "{\"key\":\"scope\",\"value\":{\"stringValue\":\"a;b\"}}");
    CHECK_CONTAINS(text, "{\"key\":\"parent\",\"value\":{\"stringValue\":\"a\\\\x3bb\"}}");
    hand_end(&hand);
}

/* Two machines of a merged file may have given threads the same name and number. */
TEST(metrics, threads_that_cannot_be_told_apart_are_one_series) {
    struct metrics m;
    hand_start(&hand);
    for (int i = 0; i < 2; ++i) {
        uint32_t root = hand_thread(&hand, 1, "main");
        hand_node(&hand, root, hand_named("work"), 3, 3000, 1);
    }
    CHECK(!metrics_read(&m, hand_run(&hand), 1));
    CHECK(metric_is_histogram(&m.series[0]) && !metric_is_histogram(&m.series[1]));
    CHECK_EQ_U64(m.series[0].count, 6);
    CHECK_EQ_U64(m.series[0].sum_ns, 6000);
    metrics_free(&m);
    hand_end(&hand);
}
