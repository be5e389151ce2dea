/* SPDX-License-Identifier: Apache-2.0 */
/* Prometheus text: times, labels, families of GPUs, and the buckets of durations, whose counts and
 * quantiles are compared with durations that are known. */
#include "arena/activity_kind.h"
#include "distributions.h"
#include "export/tool/export_prometheus.h"

TEST(export_prometheus, seconds_to_the_nanosecond) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    hand_node(&hand, root, hand_named("one"), 1, 1, 0);
    hand_node(&hand, root, hand_named("more"), 1, 12345678901, 0);
    char *text = exported(export_prometheus);
    CHECK_CONTAINS(text,
                   "stint_scope_seconds_sum{name=\"one\",set=\"GlobalStatInfo\"} 0.000000001\n");
    CHECK_CONTAINS(text,
                   "stint_scope_seconds_sum{name=\"more\",set=\"GlobalStatInfo\"} 12.345678901\n");
    hand_end(&hand);
}

/* Bounds do not depend on the run: buckets of several processes can be added. */
TEST(export_prometheus, buckets_can_be_added) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    hand_node(&hand, root, hand_named("short"), 2, 2 * 150, 1);
    hand_node(&hand, root, hand_named("long"), 3, 3 * 7000000, 1);
    hand_node(&hand, root, hand_named("none"), 3, 3 * 7000000, 0);
    char *text = exported(export_prometheus);
    CHECK_EQ_U64(times_in(text, "stint_scope_duration_seconds_bucket{name=\"short\","), 44);
    CHECK_EQ_U64(times_in(text, "stint_scope_duration_seconds_bucket{name=\"long\","), 44);
    CHECK_EQ_U64(times_in(text, "stint_scope_duration_seconds_bucket{name=\"none\","), 0);
    CHECK_CONTAINS(text, "{name=\"short\",set=\"GlobalStatInfo\",le=\"0.000000128\"} 0\n");
    CHECK_CONTAINS(text, "{name=\"short\",set=\"GlobalStatInfo\",le=\"0.000000256\"} 2\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"0.004194304\"} 0\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"0.008388608\"} 3\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"70368.744177664\"} 3\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"+Inf\"} 3\n");
    CHECK_CONTAINS(text,
                   "stint_scope_duration_seconds_count{name=\"long\",set=\"GlobalStatInfo\"} 3\n");
    hand_end(&hand);
}

/* ---- Counts and quantiles of durations that are known. */

#define TOP_NS ((double)((uint64_t)1 << 46))

static uint64_t true_calls_up_to(double ns) {
    uint64_t n = 0;
    while (n < CALLS && truth[n] <= ns) {
        ++n;
    }
    return n;
}

/* The counts of a scope with these buckets, as they are exported. */
static void export_counts(uint64_t up_to[EXPOSITION_BOUNDS], const struct histogram *h,
                          double ns_per_tick) {
    hand_calls(h, ns_per_tick);
    char *text = exported(export_prometheus);
    const char *at = text;
    for (uint32_t i = 0; i < EXPOSITION_BOUNDS; ++i) {
        char bound[64];
        uint64_t ns = (uint64_t)16 << i;
        snprintf(bound, sizeof bound, "le=\"%llu.%09llu", (unsigned long long)(ns / 1000000000),
                 (unsigned long long)(ns % 1000000000));
        at = strstr(at, "stint_scope_duration_seconds_bucket{");
        if (!CHECK(at != NULL)) {
            break;
        }
        at = strstr(at, ",le=") + 1;
        CHECK(!strncmp(at, bound, strcspn(at + 4, "\"") + 4)); /* trailing zeros are left out */
        at = strchr(at, ' ');
        up_to[i] = strtoull(at, NULL, 10);
    }
    free(text);
    hand_end(&hand);
}

/* Prometheus' histogram_quantile, as its documentation of functions has it: linear within a bucket,
 * the first begins at 0, and the last bound stands for all that is longer. */
static double quantile_of(const uint64_t up_to[EXPOSITION_BOUNDS], double q) {
    double rank = q * CALLS - 1e-9, below = 0, low = 0;
    for (uint32_t i = 0; i < EXPOSITION_BOUNDS; ++i) {
        double bound = (double)exposition_bound_ns(i);
        if ((double)up_to[i] >= rank) {
            return low + (bound - low) * (rank - below) / ((double)up_to[i] - below);
        }
        below = (double)up_to[i];
        low = bound;
    }
    return TOP_NS;
}

/* How far counts and quantiles may be off: a duration that is counted up to a bound is at most this
 * much longer, and one that is not counted there is at most this much shorter. */
struct allowed {
    double longer;
    double longer_ns;
    double shorter;
    double factor; /* between a quantile and the true one, or both are up to 16 ns */
};

static void check_counts(const struct histogram *h, double ns_per_tick,
                         const struct allowed *allowed) {
    uint64_t up_to[EXPOSITION_BOUNDS] = {0};
    export_counts(up_to, h, ns_per_tick);
    double known = (double)histogram_low(STINT_IMPL_BUCKETS - 1) * ns_per_tick;
    for (uint32_t i = 0; i < EXPOSITION_BOUNDS; ++i) {
        double bound = (double)exposition_bound_ns(i);
        CHECK(up_to[i] <= true_calls_up_to(bound * (1 + allowed->longer) + allowed->longer_ns));
        CHECK(up_to[i] >= true_calls_up_to(fmin(bound * (1 - allowed->shorter), known - 1)));
    }
    for (double q = 0.01; q < 0.995; q += 0.01) {
        double exact = truth[(size_t)ceil(q * CALLS - 1e-9) - 1], is = quantile_of(up_to, q);
        if (exact >= fmin(TOP_NS, known)) {
            CHECK(is >= TOP_NS / 2);
        } else if (exact > 16 || is > 16) {
            CHECK(is <= exact * allowed->factor && is >= exact / allowed->factor);
        }
    }
}

static const double lengths[] = {0.2381, 1.0 / 3, 0.4, 1, 10, 41.6667};

/* No call above a bound is counted up to it, and at most those are missing there that are up to
 * 1/16 shorter. A quantile is between half the duration and 2.13 times it. */
TEST(export_prometheus, counts_and_quantiles_are_right) {
    static const struct allowed allowed = {0, 0, 1.0 / 16, 2.13};
    uint64_t seed = 1;
    for (size_t u = 0; u < sizeof lengths / sizeof *lengths; ++u) {
        for (enum shape shape = 0; shape <= DAYS; ++shape) {
            record_calls(shape, lengths[u], &seed);
            check_counts(&recorded, lengths[u], &allowed);
        }
    }
}

/* A merge moves buckets to nanoseconds, each as a whole: what it moves them by is added. */
TEST(export_prometheus, counts_of_merged_runs) {
    static const struct allowed allowed = {1.0 / 31, 1, 0.1, 2.2};
    static struct histogram merged;
    uint64_t seed = 2;
    for (size_t u = 0; u < sizeof lengths / sizeof *lengths; ++u) {
        for (enum shape shape = 0; shape <= DAYS; ++shape) {
            record_calls(shape, lengths[u], &seed);
            histogram_to_ns(&merged, &recorded, lengths[u]);
            check_counts(&merged, 1, &allowed);
        }
    }
}

TEST(export_prometheus, labels_are_escaped) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    hand_node(&hand, root, hand_named("a\"b\\c\nd"), 1, 1, 0);
    CHECK_CONTAINS(exported(export_prometheus), "{name=\"a\\\"b\\\\c\\nd\",");
    hand_end(&hand);
}

/* The GPUs of two machines whose runs were merged have one number. No series may occur twice. */
TEST(export_prometheus, gpus_of_one_number) {
    hand_run_of(&hand, "gpu");
    hand.run.snapshot.devices[1] = hand.run.snapshot.devices[0];
    char *text = exported(export_prometheus);
    CHECK_EQ_U64(times_in(text, "stint_device_busy_seconds_total{device=\"0\","), 1);
    CHECK_EQ_U64(times_in(text, "stint_device_busy_seconds_total{device=\"0.1\","), 1);
    CHECK_CONTAINS(text, "stint_copy_runs_total{name=\"memset\",kind=\"fill\",device=\"0.1\"} 1");
    hand_end(&hand);
}

/* A direction that is none: all of them would be one series. */
TEST(export_prometheus, copies_to_nowhere) {
    hand_start(&hand);
    hand_device(&hand, 0, "GPU");
    hand_activity(&hand, ACTIVITY_COPY, ACTIVITY_COPY_UNKNOWN, "", SNAPSHOT_NONE, 1, 5, 1);
    hand_activity(&hand, ACTIVITY_COPY, 77, "", SNAPSHOT_NONE, 1, 5, 1);
    hand_activity(&hand, ACTIVITY_COPY, 78, "", SNAPSHOT_NONE, 1, 5, 1);
    char *text = exported(export_prometheus);
    CHECK_EQ_U64(times_in(text, "stint_copy_runs_total{name=\"memcpy unknown\""), 1);
    hand_end(&hand);
}
