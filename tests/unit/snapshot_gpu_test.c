/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU sums and devices that a snapshot reads. It trusts no byte of them: the test spoils a copy
 * of a real arena, and a sanitizer sees the first byte past it.
 */
#include "arena_copy.h"
#include "gpu_sums.h"
#include "model/columns.h"
#include "model/snapshot.h"
#include "report/report.h"

static const struct report_about nowhere;
static void record(void) {
    timed("second", 20);
    gpu_sums_record();
    copy_arena();
}

static void print_views(struct snapshot *s) {
    for (int view = REPORT_TABLE; view < REPORT_VIEWS; ++view) {
        struct text out;
        struct report_options o = {.view = (enum report_view)view,
                                   .sort = report_column_find("gpu_total", 9),
                                   .set = REPORT_ALL_SETS};
        struct report r = {s, &o, &out, &(struct report_cost){.timed = 1000}, &nowhere};
        text_start(&out);
        CHECK(!(view == REPORT_TABLE ? report_table(&r) : report_tree(&r)));
        CHECK(!report_footer(&r));
        text_free(&out);
    }
}

static void read_all(void) {
    struct snapshot s;
    if (CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now))) {
        print_views(&s);
        snapshot_free(&s);
    }
}

static const struct snapshot_node *read_node(struct snapshot *s, const char *name) {
    CHECK(!snapshot_read(s, copy, used, FAKE_START, &now));
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (s->nodes[i].site && !strcmp(s->sites[s->nodes[i].site].name, name)) {
            return &s->nodes[i];
        }
    }
    CHECK_STR_EQ("no such node", name);
    return &s->nodes[0];
}

TEST(snapshot, reads_gpu_sums_and_devices) {
    struct snapshot s;
    record();
    const struct snapshot_node *n = read_node(&s, "kernel");
    CHECK_EQ_U64(n->measures->gpu_calls, 2);
    CHECK_EQ_U64(n->measures->gpu_total_ns, 900);
    CHECK_EQ_U64(n->measures->gpu_min_ns, 400);
    CHECK_EQ_U64(n->measures->gpu_max_ns, 500);
    CHECK(n->extra->gpu.histogram != 0);
    CHECK_EQ_U64(n->measures->bytes, 1200);
    CHECK_EQ_U64(n->measures->flops, 2700000);
    CHECK_EQ_U64(s.device_count, 2);
    CHECK_EQ_U64(n->extra->gpu.device, 0); /* the newest is the first */
    CHECK_STR_EQ(s.devices[0].name, "second GPU");
    CHECK_EQ_U64(s.devices[0].bytes_per_s, 3000000000);
    CHECK_EQ_U64(s.devices[0].flops_per_s, 7000000000000);
    CHECK_STR_EQ(s.devices[1].name, "first GPU");
    CHECK_EQ_U64(s.gpu_in_flight, 3);
    CHECK_EQ_U64(s.steps, 11);
    snapshot_free(&s);
    n = read_node(&s, "copy");
    CHECK_EQ_U64(n->measures->gpu_calls, 1);
    CHECK(n->extra->gpu.device == SNAPSHOT_NONE);
    snapshot_free(&s);
    n = read_node(&s, "second");
    CHECK_EQ_U64(n->measures->gpu_calls + n->measures->bytes + n->measures->flops, 0);
    CHECK(n->extra->gpu.device == SNAPSHOT_NONE);
    snapshot_free(&s);
}

static struct stint_impl_node *kernel_node(void) {
    struct snapshot s;
    uint32_t unit = read_node(&s, "kernel")->unit;
    snapshot_free(&s);
    return (struct stint_impl_node *)at(unit);
}

TEST(snapshot, gpu_records_outside_are_none) {
    static const uint32_t bad[] = {UINT32_MAX, UINT32_MAX / 64, 0x04000000};
    struct snapshot s;
    record();
    struct stint_impl_node *n = kernel_node();
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; ++i) {
        uint32_t unit = i < 3 ? bad[i] : (uint32_t)(used / STINT_IMPL_UNIT), good = n->gpu;
        struct arena_gpu *g = at(good), sums = *g;
        n->gpu = unit;
        CHECK_EQ_U64(read_node(&s, "kernel")->measures->gpu_calls, 0);
        snapshot_free(&s);
        read_all();
        n->gpu = good;
        g->device = unit;
        CHECK(read_node(&s, "kernel")->extra->gpu.device == SNAPSHOT_NONE);
        snapshot_free(&s);
        g->histogram = unit;
        read_all();
        *g = sums;
        header()->first_device = unit;
        CHECK_EQ_U64(read_node(&s, "kernel")->measures->gpu_calls, 2);
        CHECK_EQ_U64(s.device_count, 0);
        snapshot_free(&s);
        read_all();
        memcpy(copy, arena.base, sizeof(struct arena_header));
    }
}

TEST(snapshot, a_circle_of_devices_ends) {
    struct snapshot s;
    record();
    struct arena_device *newest = at(header()->first_device), *oldest = at(newest->next);
    oldest->next = header()->first_device;
    CHECK(read_node(&s, "kernel")->extra->gpu.device < s.device_count);
    CHECK_EQ_U64(s.device_count, SNAPSHOT_DEVICES);
    snapshot_free(&s);
    read_all();
}

TEST(snapshot, a_device_name_without_end_has_one) {
    struct snapshot s;
    record();
    struct arena_device *d = at(header()->first_device);
    memset(d->name, 'x', sizeof d->name);
    read_node(&s, "kernel");
    CHECK_EQ_U64(strlen(s.devices[0].name), sizeof d->name - 1);
    snapshot_free(&s);
    read_all();
}

TEST(snapshot, gpu_sums_of_nonsense) {
    static const uint64_t bad[] = {0, 1, UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 63};
    struct snapshot s;
    struct rows rows;
    record();
    struct stint_impl_node *n = kernel_node();
    struct arena_gpu *g = at(n->gpu);
    struct arena_device *d = at(g->device);
    for (size_t i = 0; i < 5 * 5 * 5 * 5; ++i) {
        g->seq = bad[i % 5];
        g->total = n->bytes = bad[i / 5 % 5];
        g->min = n->flops = bad[i / 25 % 5];
        g->max = d->bytes_per_s = d->flops_per_s = bad[i / 125];
        CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now));
        CHECK(!rows_flat(&rows, &s, 0));
        const struct stint_row *r = row_in(&rows, 0, "kernel");
        CHECK(r && r->extra->gpu_min_ns <= r->extra->gpu_avg_ns &&
              r->extra->gpu_avg_ns <= r->extra->gpu_max_ns);
        CHECK(r && r->extra->gpu_share_ppm <= 1000000 && r->extra->cpu_share_ppm <= 1000000);
        print_views(&s);
        snapshot_free(&s);
    }
}
