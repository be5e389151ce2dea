/* SPDX-License-Identifier: Apache-2.0 */
#include "hand_test.h"

TEST(export_folded, self_time_of_closed_and_open_scopes) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t outer = hand_node(&hand, root, hand_named("outer"), 1, 10, 0);
    hand_node(&hand, outer, hand_named("in it"), 2, 4, 0);
    hand_open(&hand, outer, 100);
    uint32_t empty = hand_node(&hand, root, hand_named("empty"), 1, 5, 0);
    hand_node(&hand, empty, hand_named("all of it"), 1, 5, 0);
    CHECK_STR_EQ(exported(export_folded), "outer 106\nouter;in it 4\nempty;all of it 5\n");
    hand_end(&hand);
}

/* Self time of calls of "a" inside "b" is shown where "a" is. */
TEST(export_folded, self_time_of_recursive_calls) {
    static struct measures measures;
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t a = hand_node(&hand, root, hand_named("a"), 1, 60, 0);
    uint32_t b = hand_node(&hand, a, hand_named("b"), 1, 50, 0);
    measures.measure[MEASURE_INNER_TICKS] = 45;
    hand.nodes[a].measures = &measures;
    hand.nodes[b].nested = 45;
    CHECK_STR_EQ(exported(export_folded), "a 55\na;b 5\n");
    hand_end(&hand);
}

TEST(export_folded, names_cannot_end_frames_or_lines) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    hand_node(&hand, root,
              hand_named("a;b\nc\rd\xe2\x80\xa8"
                         "e\xc2\x85"
                         "f\x7f"),
              1, 1, 0);
    char *text = exported(export_folded);
    CHECK_STR_EQ(text, "a\\x3bb\\x0ac\\x0dd\\xe2\\x80\\xa8e\\xc2\\x85f\\x7f 1\n");
    hand_end(&hand);
}

TEST(export_folded, intervals_are_left_out) {
    hand_start(&hand);
    uint32_t root = hand_thread(&hand, 7, "t");
    uint32_t node = hand_node(&hand, root, hand_named("interval"), 1, 10, 0);
    hand.nodes[node].kind = STINT_IMPL_INTERVAL_NODE;
    CHECK_STR_EQ(exported(export_folded), "");
    hand_end(&hand);
}
