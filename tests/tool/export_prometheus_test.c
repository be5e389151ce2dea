/* SPDX-License-Identifier: Apache-2.0 */
#include "arena/activity_kind.h"
#include "hand_test.h"

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
    free(text);
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
    CHECK_EQ_U64(times_in(text, "stint_scope_duration_seconds_bucket{name=\"short\","), 29);
    CHECK_EQ_U64(times_in(text, "stint_scope_duration_seconds_bucket{name=\"long\","), 29);
    CHECK_EQ_U64(times_in(text, "stint_scope_duration_seconds_bucket{name=\"none\","), 0);
    CHECK_CONTAINS(text, "{name=\"short\",set=\"GlobalStatInfo\",le=\"0.0000001\"} 0\n");
    CHECK_CONTAINS(text, "{name=\"short\",set=\"GlobalStatInfo\",le=\"0.0000002\"} 2\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"0.005\"} 0\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"0.01\"} 3\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"100.0\"} 3\n");
    CHECK_CONTAINS(text, "{name=\"long\",set=\"GlobalStatInfo\",le=\"+Inf\"} 3\n");
    CHECK_CONTAINS(text,
                   "stint_scope_duration_seconds_count{name=\"long\",set=\"GlobalStatInfo\"} 3\n");
    free(text);
    hand_end(&hand);
}

/* Both as U+FFFD would be one series twice, and the whole scrape fails. */
TEST(export_prometheus, names_that_are_no_utf8_stay_apart) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    hand_node(&hand, root, hand_named("\xfe"), 1, 1, 0);
    hand_node(&hand, root, hand_named("\xff"), 1, 1, 0);
    char *text = exported(export_prometheus);
    CHECK_EQ_U64(times_in(text, "stint_scope_calls_total{name=\"\\\\xfe\","), 1);
    CHECK_EQ_U64(times_in(text, "stint_scope_calls_total{name=\"\\\\xff\","), 1);
    free(text);
    hand_end(&hand);
}

TEST(export_prometheus, labels_are_escaped) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    hand_node(&hand, root, hand_named("a\"b\\c\nd"), 1, 1, 0);
    char *text = exported(export_prometheus);
    CHECK_CONTAINS(text, "{name=\"a\\\"b\\\\c\\nd\",");
    free(text);
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
    free(text);
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
    free(text);
    hand_end(&hand);
}

HARNESS_MAIN()
