/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the view gpu that no screen shows: narrow terminals, colours, filters, sets. The
 * expected lines are in this file.
 */
#include "gpu_activities.h"
#include "interval/interval.h"
#include "model/columns.h"
#include "report/report.h"
#include "support.h"

static const struct report_about nowhere;

static int wants_scale(const char *name, size_t length) {
    return length >= 5 && !memcmp(name, "scale", 5);
}

static int wants_nothing(const char *name, size_t length) {
    (void)name;
    (void)length;
    return 0;
}

static const struct gpu_shape shape = {{64, 1, 1}, {256, 1, 1}, 32, 0, 0};

static void record(void) {
    timed("first", 10);
    uint32_t device = gpu_activities_device(0);
    {
        REGISTER_TIMER("other", -1, stint_set_get("second"));
        struct arena_activity *a =
            gpu_activity(ACTIVITY_KERNEL, 0, "add_with_a_name_that_goes_on_and_on", device, 7);
        gpu_activity_shape(a, &shape);
        gpu_activity_took(a, 5000, 0);
    }
    REGISTER_TIMER("step");
    struct arena_activity *a = gpu_activity(ACTIVITY_KERNEL, 0, "scale", device, 7);
    gpu_activity_shape(a, &shape);
    gpu_activity_took(a, 1000, 0);
    gpu_activity_took(gpu_activity(ACTIVITY_API, 0, "cudaMalloc", 0, 0), 400, 0);
}

/* The view with these options. */
static char *shown(struct report_options o) {
    struct snapshot s;
    struct text out;
    o.view = REPORT_GPU;
    o.sort = o.sort ? o.sort : report_column_find("total", 5);
    text_start(&out);
    CHECK(!interval_open(&s, 0));
    struct report r = {&s, &o, &out, &(struct report_cost){.timed = 0}, &nowhere};
    CHECK(!report_activity(&r));
    text_put(&out, "", 1);
    char *copy = harness_keep(strdup(out.data));
    text_free(&out);
    interval_close(&s);
    return copy;
}

static size_t widest(const char *text) {
    size_t most = 0;
    while (*text) {
        size_t width = strcspn(text, "\n");
        most = width > most && strncmp(text, "(no room", 8) ? width : most;
        text += width + (text[width] != '\0');
    }
    return most;
}

TEST(report_activity, columns_that_do_not_fit_are_left_out) {
    setenv("LC_ALL", "C", 1);
    record();
    char *narrow = shown((struct report_options){.set = REPORT_ALL_SETS, .width = 80});
    CHECK(widest(narrow) <= 80);
    CHECK_CONTAINS(narrow, "\n% time     total  calls ");
    CHECK_CONTAINS(narrow, "name\n");
    CHECK_CONTAINS(narrow, "(no room for: min, max, stddev)\n");
    CHECK_CONTAINS(narrow, "  add_with_a_name_that_go...\n"); /* a third */
    char *least = shown((struct report_options){.set = REPORT_ALL_SETS, .width = 20});
    CHECK_CONTAINS(least, "\n% time     total  calls  name\n");
    CHECK_CONTAINS(least, " 16.67  1.000 us      1  scale\n");
    char *wide = shown((struct report_options){.set = REPORT_ALL_SETS});
    CHECK(!strstr(wide, "no room"));
    CHECK_CONTAINS(wide, "add_with_a_name_that_goes_on_and_on\n");
}

TEST(report_activity, unified_memory) {
    record();
    uint32_t device = gpu_activities_device(1);
    struct arena_activity *a =
        gpu_activity(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_HTOD, NULL, device, 0);
    gpu_activity_took(a, 3000, 65536);
    gpu_activity_took(a, 1000, 4096);
    gpu_activity_took(gpu_activity(ACTIVITY_UNIFIED, ACTIVITY_UNIFIED_CPU_FAULT, NULL, 0, 0), 0, 0);
    char *text = shown((struct report_options){.set = REPORT_ALL_SETS});
    CHECK_CONTAINS(text, "Unified memory, 4.000 us in all\n");
    CHECK_CONTAINS(text,
                   "100.00  4.000 us      2  2.000 us  2.000 us  1.000 us  3.000 us  1.414 us  "
                   "69.63 kB  34.82 kB  65.54 kB");
    CHECK_CONTAINS(text, "unified migration HtoD\n");
    CHECK_CONTAINS(text, "unified CPU page fault\n");
}

TEST(report_activity, colours) {
    record();
    char *text = shown((struct report_options){.set = REPORT_ALL_SETS, .colour = 1});
    CHECK_CONTAINS(text, "\x1b[1m% time\x1b[0m");
    CHECK_CONTAINS(text, "\x1b[2m0 ns\x1b[0m");
    CHECK_CONTAINS(text, "  scale\n"); /* names are as they are */
}

TEST(report_activity, a_filter_is_for_names) {
    record();
    char *text = shown((struct report_options){.set = REPORT_ALL_SETS, .wanted = wants_scale});
    CHECK_CONTAINS(text, " 16.67  1.000 us"); /* of everything */
    CHECK(!strstr(text, "add_with"));
    CHECK(!strstr(text, "API calls"));
    text = shown((struct report_options){.set = REPORT_ALL_SETS, .wanted = wants_nothing});
    CHECK_CONTAINS(text, "No GPU activity of this kind\n");
}

TEST(report_activity, of_one_set) {
    record();
    char *text = shown((struct report_options){.set = 1});
    CHECK_CONTAINS(text, "100.00  5.000 us ");
    CHECK(!strstr(text, "scale"));
}

TEST(report_activity, sorted) {
    static const struct {
        const char *key;
        int scale_first;
    } keys[] = {{"total", 0}, {"calls", 1}, {"avg", 0}, {"min", 0},       {"max", 0},
                {"p99", 0},   {"self", 0},  {"p99", 0}, {"gpu_calls", 1}, {"gpu_total", 0}};
    record();
    gpu_activity_took(gpu_activity(ACTIVITY_KERNEL, 0, "scale",
                                   __atomic_load_n(&arena_header()->first_device, __ATOMIC_ACQUIRE),
                                   7),
                      1000, 0);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) {
        char *text = shown((struct report_options){
            .set = REPORT_ALL_SETS, .sort = report_column_find(keys[i].key, strlen(keys[i].key))});
        const char *scale = strstr(text, "scale"), *add = strstr(text, "add_with");
        CHECK(scale && add && (scale < add) == keys[i].scale_first);
    }
}

static void expect_none(const struct report_about *about, const char *line) {
    struct report_options o = {
        .view = REPORT_GPU, .sort = report_column_find("total", 5), .set = REPORT_ALL_SETS};
    struct snapshot s;
    struct text out;
    text_start(&out);
    CHECK(!interval_open(&s, 0));
    struct report r = {&s, &o, &out, &(struct report_cost){.timed = 0}, about};
    CHECK(!report_activity(&r));
    text_put(&out, "", 1);
    CHECK_STR_EQ(out.data, line);
    text_free(&out);
    interval_close(&s);
}

/* The line is the same whatever the tracer's name is. */
TEST(report_activity, nothing_and_why) {
    static const struct report_about about = {.gpu = "script (no such file)"}, bare;
    timed("first", 10);
    expect_none(&about, "No GPU activity was recorded; STINT_GPU=cupti records it\n\n");
    arena_header()->tracer_requested = 1;
    expect_none(&about, "No GPU activity was recorded: script (no such file)\n\n");
    expect_none(&bare, "No GPU activity was recorded\n\n"); /* known only at the end of a program */
}
