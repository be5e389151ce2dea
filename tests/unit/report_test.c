/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of reports, the order of rows, and the parts that every view has. The views are compared
 * to the digit in tests/screens.
 */
#include "report/report.h"

#include "gpu_sums.h"
#include "model/columns.h"
#include "support.h"
#include "system/config.h"

static struct report_options options;

static int parses(const char *text) {
    return !report_options_parse(text, &options);
}

static const char *sort_key(void) {
    return report_column(options.sort)->key;
}

TEST(report_options, all_forms) {
    CHECK(parses("legacy") && options.view == REPORT_LEGACY);
    CHECK(options.top == 0 && !options.threads && options.set == REPORT_ALL_SETS);
    CHECK_STR_EQ(sort_key(), "total");
    CHECK(parses("table") && options.view == REPORT_TABLE);
    CHECK(parses("tree") && options.view == REPORT_TREE);
    CHECK(parses("table,top=1") && options.top == 1);
    CHECK(parses("table,top=100000000") && options.top == 100000000);
    CHECK(parses("tree,threads,top=7,sort=p99") && options.threads && options.top == 7);
    CHECK_STR_EQ(sort_key(), "p99");
    CHECK(!options.corrected);
    CHECK(parses("table,corrected") && options.corrected && !options.threads);
    CHECK(parses("tree,top=2,corrected,threads") && options.corrected && options.threads);
    static const char *const keys[] = {
        "total",     "self",      "calls",   "min",     "max",          "avg",   "p99",
        "gpu_total", "gpu_calls", "gpu_max", "gpu_p99", "device_total", "stddev"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        char text[32];
        snprintf(text, sizeof text, "legacy,sort=%s", keys[i]);
        CHECK(parses(text));
        CHECK_STR_EQ(sort_key(), keys[i]);
    }
    CHECK(parses("table,sort=min,sort=max")); /* the last one counts */
    CHECK_STR_EQ(sort_key(), "max");
}

static const char *const bad[] = {"",
                                  ",",
                                  "tables",
                                  "tab",
                                  "TABLE",
                                  "table,",
                                  "table,,",
                                  "table top",
                                  "table,top",
                                  "table,top=",
                                  "table,top=0",
                                  "table,top=-1",
                                  "table,top=1x",
                                  "table,top= 1",
                                  "table,top=99999999999",
                                  "table,sort",
                                  "table,sort=",
                                  "table,sort=name",
                                  "table,sort=totals",
                                  "table,sort=p50",
                                  "table,sort=gpu",
                                  "table,sort=gpu_",
                                  "table,sort=gpu total",
                                  "table,sort=bound",
                                  "table,thread",
                                  "table,threads=1",
                                  "table,correct",
                                  "table,corrected=1",
                                  "table,legacy",
                                  "table ",
                                  " table",
                                  "table,top=1,",
                                  "table\n"};

TEST(report_options, bad_forms_change_nothing) {
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        struct report_options before;
        CHECK(parses("tree,top=3"));
        before = options;
        CHECK(!parses(bad[i]));
        CHECK(!memcmp(&before, &options, sizeof before));
    }
}

TEST(report_options, a_bad_form_is_one_line) {
    timed("a", 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        char *said = harness_capture(2, support_bad_report, (void *)(uintptr_t)bad[i]);
        CHECK_EQ_U64(lines_of(said), 1);
        CHECK_CONTAINS(said, "stint: report \"");
        CHECK_CONTAINS(said, "\": expected " REPORT_NONE_OR REPORT_OPTIONS_FORM "\n");
    }
}

/* Names in the order in which the first column shows them. */
static const char *order_in(const char *text) {
    static char names[256];
    const char *line = strstr(text, "\nname ");
    size_t n = 0;
    for (line = line ? strchr(line + 1, '\n') : NULL;
         line && !strchr("\n(", line[1]) && n + 20 < 256; line = strchr(line + 1, '\n')) {
        size_t width = strcspn(line + 1, " (");
        memcpy(names + n, line + 1, width);
        n += width;
        names[n++] = ' ';
    }
    names[n ? n - 1 : 0] = '\0';
    return names;
}

#define ORDER(view, want)                                                                          \
    do {                                                                                           \
        char *text = report_of(view);                                                              \
        CHECK_STR_EQ(order_in(text), want);                                                        \
        free(text);                                                                                \
    } while (0)

TEST(report, sorting) {
    for (int i = 0; i < 4; ++i) {
        timed("often", 10); /* total 40 */
    }
    timed("long", 30);
    {
        REGISTER_TIMER("around"); /* total 50, self 5 */
        fake_advance(5);
        timed("inner", 45);
    }
    ORDER("table", "around inner often long");
    ORDER("table,sort=total", "around inner often long");
    ORDER("table,sort=self", "inner often long around");
    ORDER("table,sort=calls", "often around inner long"); /* ties by name */
    ORDER("table,sort=min", "around inner long often");
    ORDER("table,sort=max", "around inner long often");
    ORDER("table,sort=avg", "around inner long often");
    ORDER("table,sort=p99", "around inner long often");
    ORDER("tree", "around  often long"); /* inner is indented below */
}

static void on_the_gpu(const char *name, uint64_t calls, uint64_t ns) {
    for (uint64_t i = 0; i < calls; ++i) {
        REGISTER_TIMER_DYNAMIC(name);
        gpu_took(0, ns);
        fake_advance(1);
    }
}

TEST(report, sorting_by_the_gpu) {
    on_the_gpu("often", 4, 10);
    on_the_gpu("long", 1, 35);
    timed("cpu", 50);
    ORDER("table,sort=gpu_total", "often long cpu");
    ORDER("table,sort=gpu_calls", "often long cpu");
    ORDER("table,sort=gpu_max", "long often cpu");
    ORDER("table,sort=gpu_p99", "long often cpu");
    ORDER("tree,sort=gpu_max", "long often cpu");
    CHECK_CONTAINS(report_of("table,sort=gpu_max"), ", by gpu_max\n");
}

static int has_title(const char *view, const char *title) {
    char *text = report_of(view);
    char *from = strstr(text, "\nname "), *end = from ? strchr(from + 1, '\n') : NULL;
    int has = 0;
    if (CHECK(end != NULL)) {
        *end = '\0';
        has = strstr(from, title) != NULL;
    }
    return has;
}

/* A column is there from the first row on that has something for it. */
TEST(report, columns_of_the_gpu_are_shown_where_there_is_something) {
    timed("a", 10);
    CHECK(!has_title("table", "gpu") && !has_title("tree", "gpu") && !has_title("table", "/s"));
    {
        REGISTER_TIMER("bytes");
        gpu_does(100, 0);
        fake_advance(1);
    }
    CHECK(has_title("table", " GB/s") && has_title("tree", " GB/s"));
    CHECK(!has_title("table", "GFLOP/s") && !has_title("table", "gpu"));
    CHECK(!has_title("table", "peak") && !has_title("table", "% GPU"));
    CHECK(!has_title("table,top=1", " GB/s")); /* of the rows that are printed */
    on_the_gpu("gpu", 1, 10);
    CHECK(has_title("table", " gpu p99") && has_title("table", "% GPU"));
    CHECK(!has_title("tree", "gpu p99") && has_title("tree", " gpu total"));
    CHECK(!has_title("table", "peak")); /* no row has both */
    {
        REGISTER_TIMER("both");
        gpu_does(0, 100);
        gpu_took(0, 10);
        fake_advance(1);
    }
    CHECK(has_title("table", "% peak F") && !has_title("table", "% peak B"));
    CHECK(!has_title("table", "bound"));
}

TEST(report, ties_are_by_name_whatever_the_order_of_arrival) {
    const char *const names[] = {"d", "b", "a", "c"};
    for (int i = 0; i < 4; ++i) {
        timed(names[i], 10);
    }
    ORDER("table", "a b c d");
    ORDER("tree,sort=calls", "a b c d");
}

TEST(report, top_keeps_the_first_and_says_how_many_more) {
    const char *const names[] = {"d", "b", "a", "c"};
    for (uint64_t i = 0; i < 4; ++i) {
        timed(names[i], 10 + i);
    }
    ORDER("table,top=2", "c a");
    char *text = report_of("table,top=3");
    CHECK_CONTAINS(text, "\n(1 more)\n");
    text = report_of("table,top=4");
    CHECK_EQ_U64(times_in(text, "more)"), 0);
    text = report_of("tree,top=1");
    CHECK_CONTAINS(text, "\n(3 more)\n");
    text = report_of("legacy,top=1");
    CHECK_EQ_U64(times_in(text, "Stat="), 1);
}

static void nested(char last, char level) {
    char name[] = {level, '\0'};
    REGISTER_TIMER_DYNAMIC(name);
    if (level < last) {
        nested(last, (char)(level + 1));
    }
}

/* Names are indented at most as far as the name column is wide there: two columns per level, at
 * least sixteen. */
TEST(report, on_a_narrow_terminal_a_tree_is_set_less_far_in) {
    static const struct report_about nowhere;
    struct snapshot s;
    struct text out;
    nested('k', 'a');
    CHECK(parses("tree"));
    options.width = 48;
    CHECK(!snapshot_take(&s));
    text_start(&out);
    struct report r = {&s, &options, &out, NULL, &nowhere};
    CHECK(!report_tree(&r));
    text_put(&out, "", 1);
    CHECK_CONTAINS(out.data, "\n              h ");
    CHECK_CONTAINS(out.data, "\n                i ");
    CHECK_CONTAINS(out.data, "\n                [9] j ");
    CHECK_CONTAINS(out.data, "\n                [10] k ");
    text_free(&out);
    snapshot_free(&s);
}

TEST(report, null_is_the_view_of_the_environment) {
    setenv("STINT_REPORT", "tree,top=1", 1);
    timed("a", 10);
    char *text = report_of(NULL);
    CHECK_CONTAINS(text, "stint tree: ");
    text = report_of("legacy"); /* a call wins */
    CHECK_EQ_U64(times_in(text, "stint tree: "), 0);
    config.report = NULL;
    text = report_of(NULL);
    CHECK_CONTAINS(text, "stint table: ");
}

TEST(report, before_anything_was_recorded) {
    const char *const views[] = {"legacy", "table", "tree"};
    for (int i = 0; i < 3; ++i) {
        char *text = report_of(views[i]);
        CHECK(text && *text);
        CHECK_EQ_U64(times_in(text, "Stat="), 0);
    }
}

TEST(report, hostile_names_stay_in_their_row) {
    static char name[4096 + 1];
    timed("one\ntwo\x1b[2J 100%s \"q\"", 10);
    for (int i = 0; i < 4096; i += 4) {
        memcpy(name + i, "\xf0\x9f\x9a\x80", 4);
    }
    timed(name, 5);
    const char *const views[] = {"legacy", "table", "tree"};
    for (int i = 0; i < 3; ++i) {
        char *text = report_of(views[i]);
        CHECK_CONTAINS(text, "one\\ntwo\\x1b[2J 100%s \"q\"");
        CHECK(text && !strchr(text, '\x1b'));
        CHECK_CONTAINS(text, "1 names longer than 1000 bytes, cut\n");
    }
}

static void print_status(void *name) {
    CHECK(printStatus(name) != 0);
}

TEST(report, an_unknown_name_is_one_line) {
    const char *const names[] = {"nobody", "no\nbody", ""};
    timed("a", 1);
    for (int i = 0; i < 3; ++i) {
        char *text = harness_capture(2, print_status, (void *)(uintptr_t)names[i]);
        CHECK_EQ_U64(lines_of(text), 1);
        CHECK_CONTAINS(text, "is not registered in GlobalStatInfo\n");
    }
    char *text = harness_capture(2, print_status, NULL);
    CHECK_EQ_U64(lines_of(text), 1);
}

static void slow(void *info) {
    REGISTER_TIMER_INFO("slow", info);
    fake_advance(12003045000);
}

TEST(report, slow_scopes_say_so_in_the_words_of_the_ancestor) {
    char *text = harness_capture(2, slow, (void *)(uintptr_t) "file=a.bin");
    CHECK_STR_EQ(text, "Stat: [slow] file=a.bin [Span:12003ms45us] \n");
}

static void slow_name(void *name) {
    REGISTER_TIMER_DYNAMIC(name, 10);
    fake_advance(10000);
}

TEST(report, slow_scopes_with_hostile_names) {
    static char name[2001];
    memset(name, 'x', 2000);
    memcpy(name, "a\nb", 3);
    char *text = harness_capture(2, slow_name, name);
    CHECK_EQ_U64(lines_of(text), 1);
    CHECK_CONTAINS(text, "[Span:0ms10us] \n");
}

TEST(report, errno_is_kept) {
    errno = 55;
    timed("a", 1);
    report_of("table");
    report_of("legacy");
    CHECK_EQ_U64((uint64_t)errno, 55);
}

TEST(report_columns, the_table_is_whole) {
    uint32_t n = 0;
    for (const struct report_column *c; (c = report_column(n)); ++n) {
        CHECK(c->key[0] && c->title[0]);
        CHECK(c->field.at <
              (c->field.in_extra ? sizeof(struct stint_row_extra) : sizeof(struct stint_row)));
        CHECK_EQ_U64(report_column_find(c->key, strlen(c->key)), c->sortable ? n : UINT32_MAX);
    }
    CHECK(n >= 32); /* and those of gen/records.ini */
    CHECK(report_column_find("tot", 3) == UINT32_MAX);
    CHECK(report_column_find("", 0) == UINT32_MAX);
}
