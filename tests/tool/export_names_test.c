/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_names.h"

#include "hand_test.h"

TEST(export_names, a_name_is_cut_where_no_recorder_would_go_on) {
    static char text[5000];
    memset(text, 'a', sizeof text);
    CHECK_EQ_U64(export_name(text, sizeof text).length, EXPORT_NAME_BYTES);
    CHECK_EQ_U64(export_field("ab\0cd", 5).length, 2);
    CHECK_EQ_U64(export_field("abcd", 2).length, 2);
}

TEST(export_names, a_site_that_is_not_there_has_a_name) {
    hand_start(&hand);
    uint32_t site = hand_named("here");
    CHECK_EQ_U64(export_site(&hand.run.snapshot, site).length, 4);
    CHECK(!memcmp(export_site(&hand.run.snapshot, 0).bytes, "?", 1));
    CHECK(!memcmp(export_site(&hand.run.snapshot, site + 1).bytes, "?", 1));
    CHECK(!memcmp(export_site(&hand.run.snapshot, UINT32_MAX).bytes, "?", 1));
    hand_end(&hand);
}

TEST(export_names, cleaned_is_three_times_as_long_at_most) {
    char in[EXPORT_NAME_BYTES], out[3 * EXPORT_NAME_BYTES];
    memset(in, '\xff', sizeof in);
    CHECK_EQ_U64(export_clean(out, export_name(in, sizeof in)), sizeof out);
    CHECK_EQ_U64(export_clean(out, export_name("a\xc3\xa9\xc3", 4)), 6);
    CHECK(!memcmp(out, "a\xc3\xa9\xef\xbf\xbd", 6));
}

TEST(export_names, no_number_is_given_twice) {
    hand_start(&hand);
    uint32_t a = hand_thread(&hand, 100, "a");
    uint32_t again = hand_thread(&hand, 100, "a"); /* the kernel gave it out again */
    uint32_t none = hand_thread(&hand, 0, "b");
    uint32_t wild = hand_thread(&hand, UINT32_MAX, "c");
    const uint32_t roots[] = {a, a, again, none, wild, SNAPSHOT_NONE, SNAPSHOT_NONE};
    enum { LANES = sizeof roots / sizeof *roots };
    for (uint32_t i = 0; i < LANES; ++i) {
        hand_lane(&hand, roots[i], "lane");
    }
    uint32_t *tids = export_tids(hand_run(&hand));
    CHECK_EQ_U64(tids[0], 100);
    for (uint32_t i = 1; i < LANES; ++i) {
        CHECK(tids[i] >= EXPORT_TIDS && tids[i] < INT32_MAX);
        for (uint32_t k = 0; k < i; ++k) {
            CHECK(tids[i] != tids[k]);
        }
    }
    hand_end(&hand);
}

TEST(export_names, a_process_has_a_number) {
    hand_start(&hand);
    CHECK_EQ_U64(export_pid(&hand.run), 1);
    hand.run.pid = 4242;
    CHECK_EQ_U64(export_pid(&hand.run), 4242);
    hand.run.pid = UINT32_MAX;
    CHECK_EQ_U64(export_pid(&hand.run), 1);
}

HARNESS_MAIN()
