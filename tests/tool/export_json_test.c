/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_columns.h"
#include "hand_test.h"

static int without_run(struct sink *out, struct run *r) {
    return export_json_snapshot(out, &r->snapshot, NULL, NULL);
}

TEST(export_json, without_a_file_it_says_nothing_of_one) {
    hand_run_of(&hand, "full");
    char *text = exported(without_run);
    CHECK_CONTAINS(text, "\"run\":{\"wall_ns\":1000000000,\"steps\":3,\"gpu_in_flight\":1},");
    CHECK_EQ_U64(times_in(text, "\"state\""), 0);
    hand_end(&hand);
}

TEST(export_json, sums_of_all_threads_and_of_each) {
    hand_start(&hand);
    uint32_t site = hand_named("n");
    hand_node(&hand, hand_thread(&hand, 7, "a"), site, 1, 3, 0);
    hand_node(&hand, hand_thread(&hand, 8, "b"), site, 2, 8, 0);
    char *text = exported(export_json);
    CHECK_CONTAINS(text, "\"stats\":[\n{\"name\":\"n\",\"set\":\"GlobalStatInfo\",\"calls\":3,"
                         "\"total_ns\":11,");
    CHECK_CONTAINS(text, "\"thread\":0,\"calls\":1,\"total_ns\":3,");
    CHECK_CONTAINS(text, "\"thread\":1,\"calls\":2,\"total_ns\":8,");
    hand_end(&hand);
}

TEST(export_json, the_state_even_out_of_range) {
    static const char *const states[] = {"live", "ended", "killed", "killed"};
    for (unsigned i = 0; i < sizeof states / sizeof *states; ++i) {
        char want[32];
        hand_start(&hand);
        hand.run.state = i < 3 ? (enum run_state)i : (enum run_state)77;
        char *text = exported(export_json);
        snprintf(want, sizeof want, "\"state\":\"%s\"", states[i]);
        CHECK_CONTAINS(text, want);
        hand_end(&hand);
    }
}

TEST(export_json, a_peak_nobody_knows_is_absent) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t node = hand_node(&hand, root, hand_named("n"), 1, 1000, 0);
    static const struct measures measures = {.groups = 1u << MEASURE_GROUP_DECLARED |
                                                       1u << MEASURE_GROUP_GPU,
                                             .bytes = 1000,
                                             .gpu_calls = 1,
                                             .gpu_total_ns = 500,
                                             .gpu_min_ns = 500,
                                             .gpu_max_ns = 500};
    hand.nodes[node].measures = &measures;
    char *text = exported(export_json);
    CHECK_CONTAINS(text, "\"bytes_per_s\":2000000000,");
    CHECK_EQ_U64(times_in(text, "peak_bytes"), 0);
    hand_end(&hand);
}
