/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that calls of the library get are given back. Leak checkers see the allocator's blocks, not
 * mmap: the size of the address space, as /proc/self/statm says it, does.
 */

#include "recorded.h"
#include "support.h"

static unsigned generation;
static uint64_t before;

static int count_row(void *rows, const char *name, const stint_stat *stat) {
    (void)name, (void)stat;
    ++*(int *)rows;
    return 0;
}

static void report_all(const char *file) {
    static const char *const views[] = {"table", "tree", "gpu", "fluid", "legacy"};
    static const char *const formats[] = {"text", "csv", "json"};
    int rows = 0;
    timed("again", 5);
    for (size_t i = 0; i < sizeof views / sizeof *views; ++i) {
        CHECK(!stint_report(views[i]));
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
        CHECK(!stint_export(file, formats[i]));
    }
    CHECK(!stint_stat_each(NULL, count_row, &rows) && rows);
    stint_reset();
}

static void compare_calls(void *file) {
    report_all(file);
    before = harness_mapped();
    for (int i = 0; i < 20; ++i) {
        report_all(file);
    }
    CHECK_EQ_U64(harness_mapped(), before);
}

TEST(pages_leak, reports_and_exports) {
    if (SANITIZED) {
        SKIP("a sanitizer keeps what is freed");
    }
    char file[] = "/tmp/stint_pages_leak.XXXXXX";
    close(mkstemp(file));
    harness_capture(2, compare_calls, file);
    unlink(file);
}

/* Each child starts a run of its own, with what a program's start needs. */
static void live_as_child(void) {
    timed("child", 5);
    uint64_t now = harness_mapped();
    if (generation > 1) {
        CHECK_EQ_U64(now, before);
    }
    before = now;
    if (++generation < 5) {
        harness_in_child(live_as_child);
    }
}

TEST(pages_leak, children_of_children) {
    if (SANITIZED) {
        SKIP("a sanitizer keeps what is freed");
    }
    timed("parent", 5);
    harness_in_child(live_as_child);
}
