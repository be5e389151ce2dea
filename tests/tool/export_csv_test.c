/* SPDX-License-Identifier: Apache-2.0 */
#include "export/export_columns.h"
#include "hand_test.h"

static int each_thread(struct sink *out, struct run *r) {
    return export_csv_snapshot(out, &r->snapshot, r, 1);
}

static void two_threads(const char *name) {
    uint32_t site;
    hand_start(&hand);
    site = hand_named(name);
    hand_node(&hand, hand_thread(&hand, 7, "a"), site, 1, 3, 0);
    hand_node(&hand, hand_thread(&hand, 8, "=b"), site, 2, 8, 0);
}

TEST(export_csv, a_row_a_name_or_one_a_thread) {
    two_threads("n");
    char *text = exported(export_csv);
    CHECK_EQ_U64(times_in(text, "\r\n"), 2);
    CHECK_CONTAINS(text, "\r\n\"n\",\"GlobalStatInfo\",,,3,,11,11,");
    text = exported(each_thread);
    CHECK_EQ_U64(times_in(text, "\r\n"), 3);
    CHECK_CONTAINS(text, "\r\n\"n\",\"GlobalStatInfo\",8,\"'=b\",2,,8,8,");
    CHECK_CONTAINS(text, "\r\n\"n\",\"GlobalStatInfo\",7,\"a\",1,,3,3,");
    hand_end(&hand);
}

TEST(export_csv, no_cell_is_a_formula) {
    static const char *const names[][2] = {
        {"=1+1", "\"'=1+1\""}, {"+1", "\"'+1\""},      {"-1", "\"'-1\""},
        {"@x", "\"'@x\""},     {"\tx", "\"'\tx\""},    {"\rx", "\"'\rx\""},
        {"a=1", "\"a=1\""},    {"\"=1", "\"\"\"=1\""}, {"a,\"b\"\n", "\"a,\"\"b\"\"\n\""}};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        two_threads(names[i][0]);
        char *text = exported(export_csv), want[64];
        snprintf(want, sizeof want, "\r\n%s,", names[i][1]);
        CHECK_CONTAINS(text, want);
        hand_end(&hand);
    }
}

TEST(export_csv, keys_say_the_unit_and_are_the_reports) {
    const struct report_column *c, *last = NULL;
    uint32_t rates = 0;
    CHECK_STR_EQ(report_column(0)->key, "name");
    CHECK_STR_EQ(report_column(EXPORT_FIRST_COLUMN)->export_key, "calls");
    CHECK_STR_EQ(report_column(3)->export_key, "total_ns");
    CHECK_STR_EQ(report_column(6)->export_key, "share_ppm");
    for (uint32_t i = EXPORT_FIRST_COLUMN; (c = report_column(i)); ++i) {
        rates += !strcmp(c->export_key, "bytes_per_s") || !strcmp(c->export_key, "flops_per_s");
        last = c;
    }
    CHECK_EQ_U64(rates, 2);
    CHECK_STR_EQ(last->export_key, "gpu_beyond");
}
