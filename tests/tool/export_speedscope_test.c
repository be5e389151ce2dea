/* SPDX-License-Identifier: Apache-2.0 */
#include "hand_test.h"

TEST(export_speedscope, one_name_is_one_frame) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    hand_node(&hand, root, hand_named("same"), 1, 1, 0);
    hand_named("other");
    hand_node(&hand, root, hand_named("same"), 1, 2, 0);
    char *text = exported(export_speedscope);
    CHECK_EQ_U64(times_in(text, "{\"name\":\"same\"}"), 1);
    CHECK_EQ_U64(times_in(text, "{\"name\":\"other\"}"), 1);
    CHECK_EQ_U64(times_in(text, "{\"type\":\"O\",\"frame\":1,"), 2);
    free(text);
    hand_end(&hand);
}

TEST(export_speedscope, children_longer_than_their_parent_widen_it) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t parent = hand_node(&hand, root, hand_named("parent"), 1, 10, 0);
    hand_node(&hand, parent, hand_named("first"), 1, 8, 0);
    hand_node(&hand, parent, hand_named("second"), 1, 5, 0);
    char *text = exported(export_speedscope);
    CHECK_CONTAINS(
        text, "{\"type\":\"O\",\"frame\":1,\"at\":0},\n{\"type\":\"O\",\"frame\":2,\"at\":0},\n"
              "{\"type\":\"C\",\"frame\":2,\"at\":8},\n{\"type\":\"O\",\"frame\":3,\"at\":8},\n"
              "{\"type\":\"C\",\"frame\":3,\"at\":13},\n"
              "{\"type\":\"C\",\"frame\":1,\"at\":13}],\"startValue\":0,\"endValue\":13}");
    free(text);
    hand_end(&hand);
}

TEST(export_speedscope, intervals_are_not_laid_out) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t node = hand_node(&hand, root, hand_named("interval"), 1, 10, 0);
    hand.nodes[node].kind = STINT_IMPL_INTERVAL_NODE;
    hand_node(&hand, root, hand_named("scope"), 1, 3, 0);
    char *text = exported(export_speedscope);
    CHECK_CONTAINS(text, "\"t (7): sums of the call tree, not a timeline\"");
    CHECK_CONTAINS(text, "\"endValue\":3}");
    CHECK_EQ_U64(times_in(text, "\"type\":\"O\""), 1);
    free(text);
    hand_end(&hand);
}

/* A chain too long for recursion on the stack, and sums past 64 bits. */
TEST(export_speedscope, a_damaged_tree) {
    enum { NODES = 300000 };
    struct snapshot_node *nodes = calloc(NODES, sizeof *nodes);
    hand_start(&hand);
    hand_thread(&hand, 7, "t");
    uint32_t site = hand_named("n");
    for (uint32_t i = 0; nodes && i < NODES; ++i) {
        nodes[i].parent = i ? i - 1 : SNAPSHOT_NONE;
        nodes[i].site = site;
        nodes[i].extra = &snapshot_no_extra;
        nodes[i].total = i ? (uint64_t)1 << 62 : 0;
    }
    for (uint32_t i = NODES - 6; nodes && i < NODES; ++i) {
        nodes[i].parent = NODES - 7;
    }
    hand.run.snapshot.nodes = nodes;
    hand.run.snapshot.node_count = NODES;
    char *text = exported(export_speedscope);
    CHECK_EQ_U64(times_in(text, "\"type\":\"O\""), NODES - 1);
    CHECK_EQ_U64(times_in(text, "\"type\":\"C\""), NODES - 1);
    CHECK_CONTAINS(text, "\"startValue\":0,\"endValue\":18446744073709551615}");
    free(text);
    free(nodes);
    hand_end(&hand);
}

HARNESS_MAIN()
