/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over threads that have more than 64 bits: each number of a thread is near the largest one of
 * 64 bits, and all formats have the sum, or the largest number that the format holds.
 */
#include "hand_test.h"

#include "arena/activity_kind.h"
#include "model/rows.h"

#define YEAR UINT64_C(31536000000000000)
#define THREADS 20u

static uint32_t names, nodes[THREADS];

/* 50 calls of a year in each thread. */
static void start_years(void) {
    hand_start(&hand);
    names = hand_named("years");
    for (uint32_t i = 0; i < THREADS; ++i) {
        nodes[i] = hand_node(&hand, hand_thread(&hand, 7 + i, "t"), names, 50, 50 * YEAR, 0);
    }
    hand.run.snapshot.wall_ns = 50 * YEAR;
}

TEST(export_sums, times) {
    start_years();
    char *text = exported(export_csv);
    CHECK_CONTAINS(text, "\r\n\"years\",\"GlobalStatInfo\",,,1000,,31536000000000000000,"
                         "31536000000000000000,");
    text = exported(export_json);
    CHECK_CONTAINS(text, "\"calls\":1000,\"total_ns\":31536000000000000000,"
                         "\"self_ns\":31536000000000000000,\"share_ppm\":20000000,"
                         "\"avg_ns\":31536000000000000,");
    text = exported(export_prometheus);
    CHECK_CONTAINS(text, "stint_scope_seconds_sum{name=\"years\",set=\"GlobalStatInfo\"} "
                         "31536000000.000000000\n");
    hand_end(&hand);
}

static struct rows rows;

static const struct stint_row *only_row(void) {
    CHECK(!rows_flat(&rows, &hand_run(&hand)->snapshot, 0));
    CHECK_EQ_U64(rows.count, 1);
    return &rows.row[0];
}

/* Each is rounded as a sum of 64 bits is, and above them the product is exact. */
TEST(export_sums, ticks_become_nanoseconds) {
    start_years();
    hand.run.snapshot.ns_per_tick = 0.5;
    CHECK_EQ_U64(only_row()->total_ns, (u128)THREADS * 25 * YEAR);
    hand.run.snapshot.ns_per_tick = 2.25;
    const struct stint_row *r = only_row();
    CHECK_EQ_U64(r->total_ns, (u128)THREADS * 50 * YEAR / 4 * 9);
    CHECK_EQ_U64(r->self_ns, r->total_ns);
    CHECK_EQ_U64(r->avg_ns, YEAR / 4 * 9);
    CHECK_EQ_U64(r->share_ppm, 45000000);
    hand.run.snapshot.ns_per_tick = 1e300; /* of a damaged file */
    CHECK(only_row()->total_ns > UINT64_MAX);
    hand.run.snapshot.ns_per_tick = 1;
    hand.nodes[nodes[0]].total += 1;
    CHECK_EQ_U64(only_row()->total_ns, (u128)THREADS * 50 * YEAR + 1);
    hand_end(&hand);
}

TEST(export_sums, calls_and_declared_amounts) {
    static struct measures more = {.groups = 1u << MEASURE_GROUP_DECLARED};
    more.bytes = more.flops = UINT64_MAX;
    start_years();
    for (uint32_t i = 0; i < THREADS; ++i) {
        hand.nodes[nodes[i]].measures = &more;
        hand.nodes[nodes[i]].recursions = UINT64_MAX;
    }
    const struct stint_row *r = only_row();
    CHECK_EQ_U64(r->calls, (u128)THREADS * UINT64_MAX + 1000);
    CHECK_EQ_U64(r->extra->bytes, (u128)THREADS * UINT64_MAX);
    CHECK_EQ_U64(r->extra->flops, (u128)THREADS * UINT64_MAX);
    CHECK_EQ_U64(r->extra->flops_per_s, 11698848347); /* over 31536000000 s */
    char *text = exported(export_json);
    CHECK_CONTAINS(text, "\"calls\":368934881474191033300,");
    CHECK_CONTAINS(text, "\"bytes\":368934881474191032300,\"flops\":368934881474191032300");
    hand_end(&hand);
}

TEST(export_sums, activities) {
    start_years();
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t a =
            hand_activity(&hand, ACTIVITY_COPY, ACTIVITY_COPY_HTOD, "", nodes[i], 2, 100, 100);
        hand.activities[a].total = hand.activities[a].bytes = UINT64_MAX;
        hand.activities[a].max = hand.activities[a].max_bytes = UINT64_MAX;
    }
    char *text = exported(export_json);
    CHECK_EQ_U64(times_in(text, "\"calls\":6,\"total_ns\":55340232221128654845,"), 1);
    CHECK_EQ_U64(times_in(text, "\"bytes\":55340232221128654845,"), 1);
    CHECK_EQ_U64(only_row()->extra->device_total_ns, 3 * (u128)UINT64_MAX);
    hand_end(&hand);
}
