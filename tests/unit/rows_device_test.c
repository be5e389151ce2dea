/* SPDX-License-Identifier: Apache-2.0 */
/* The work of scopes on GPUs, in the table and the tree. */
#include "gpu_activities.h"
#include "model/rows.h"
#include "support.h"

static struct snapshot s;
static struct rows rows;

static void does(uint32_t kind, uint64_t ns) {
    gpu_activity_took(gpu_activity(kind, 0, "x", 0, 7), ns, 0);
}

static void is(const char *name, uint64_t calls, uint64_t total) {
    const struct stint_row *r = row_in(&rows, 0, name);
    if (CHECK(r != NULL)) {
        CHECK_EQ_U64(r->extra->device_calls, calls);
        CHECK_EQ_U64(r->extra->device_total_ns, total);
        CHECK((r->has & ROW_DEVICE) == (calls ? ROW_DEVICE : 0));
    }
}

static void inner(void) {
    REGISTER_TIMER("inner");
    does(ACTIVITY_KERNEL, 100);
    does(ACTIVITY_COPY, 10);
    does(ACTIVITY_FILL, 1);
    does(ACTIVITY_API, 5000); /* on the host */
    does(ACTIVITY_SYNC, 7000);
    fake_advance(1);
}

static void outer(void) {
    REGISTER_TIMER("outer");
    does(ACTIVITY_KERNEL, 1000);
    inner();
    inner();
    timed("plain", 5);
}

TEST(rows, device_work_is_inclusive) {
    outer();
    CHECK(!snapshot_take(&s));
    CHECK(!rows_flat(&rows, &s, 0));
    is("outer", 7, 1222);
    is("inner", 6, 222);
    is("plain", 0, 0);
    CHECK(!rows_tree(&rows, &s));
    is("outer", 7, 1222);
    is("inner", 6, 222);
    is("plain", 0, 0);
}

/* a > b > a: the inner a lies in the outer one. */
static void again(int depth) {
    REGISTER_TIMER("a");
    REGISTER_TIMER("between");
    does(ACTIVITY_KERNEL, 100);
    if (depth) {
        again(depth - 1);
    }
}

TEST(rows, device_work_of_recursive_scopes_counts_once) {
    again(3);
    {
        REGISTER_TIMER("outside");
        again(0);
    }
    CHECK(!snapshot_take(&s));
    CHECK(!rows_flat(&rows, &s, 0));
    is("a", 5, 500);
    is("between", 5, 500);
    is("outside", 1, 100);
}

/* Two of one name, one around the other, are two nodes of one row. */
TEST(rows, device_work_below_its_own_name_counts_once) {
    {
        REGISTER_TIMER("same", -1, stint_set_get("other"));
        REGISTER_TIMER("x");
        REGISTER_TIMER("same");
        REGISTER_TIMER("y");
        stint_set *none = NULL;
        REGISTER_TIMER("same", -1, none);
        does(ACTIVITY_KERNEL, 100);
    }
    CHECK(!snapshot_take(&s));
    CHECK(!rows_flat(&rows, &s, 0));
    is("same", 1, 100);
    is("x", 1, 100);
    const struct stint_row *r = row_in(&rows, 1, "same");
    CHECK(r && r->extra->device_calls == 1);
}

/* Kernels that come after a reset belong to a scope without a call. */
TEST(rows, device_work_without_a_call) {
    struct arena_activity *a;
    {
        REGISTER_TIMER("launch");
        a = gpu_activity(ACTIVITY_KERNEL, 0, "x", 0, 7);
    }
    stint_reset();
    gpu_activity_took(a, 30, 0);
    char *table = report_of("table"), *tree = report_of("tree");
    CHECK_CONTAINS(table, "\nlaunch ");
    CHECK_CONTAINS(table, "device ops  device total");
    CHECK_CONTAINS(tree, "\nlaunch ");
}

TEST(rows, without_activities_there_are_no_columns) {
    timed("plain", 5);
    char *table = report_of("table,sort=device_total");
    CHECK(!strstr(table, "device ops"));
}
