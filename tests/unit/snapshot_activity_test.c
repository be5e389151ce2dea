/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPU activities that a snapshot reads. It trusts no byte of them: the test spoils a copy of a
 * real arena, and a sanitizer sees the first byte past it.
 */
#include <float.h>

#include "arena_copy.h"
#include "gpu_activities.h"
#include "model/columns.h"
#include "model/snapshot.h"
#include "report/report.h"

static const struct report_about nowhere;
#define PINNED_TO_DEVICE                                                                           \
    ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_HTOD, ACTIVITY_MEMORY_PINNED, ACTIVITY_MEMORY_DEVICE, 1)

static void record_activities(void) {
    static const struct gpu_shape shape = {{64, 2, 1}, {256, 1, 1}, 32, 1024, 48};
    REGISTER_TIMER("step");
    uint32_t device = gpu_activities_device(0);
    struct arena_activity *k = gpu_activity(ACTIVITY_KERNEL, 0, "scale(float*)", device, 7);
    gpu_activity_shape(k, &shape);
    gpu_activity_took(k, 300, 0);
    gpu_activity_took(k, 500, 0);
    gpu_activity_launched(k, 2, 90, 40);
    k->first_at = 1000;
    k->last_at = 3000;
    struct arena_activity *c = gpu_activity(ACTIVITY_COPY, PINNED_TO_DEVICE, NULL, device, 8);
    gpu_activity_took(c, 100, 4096);
    fake_advance(900);
}

static void record(void) {
    timed("second", 20);
    record_activities();
    copy_arena();
}

static struct arena_activity *newest(void) {
    return at(header()->first_activity);
}

static void read_and_print(void) {
    struct snapshot s;
    if (!CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now))) {
        return;
    }
    struct report_options o = {.sort = report_column_find("total", 5), .set = REPORT_ALL_SETS};
    for (int view = REPORT_TABLE; view < REPORT_VIEWS; ++view) {
        struct text out;
        o.view = (enum report_view)view;
        o.threads = view & 1;
        struct report r = {&s, &o, &out, &(struct report_cost){.timed = 1000}, &nowhere};
        text_start(&out);
        CHECK(!report_render(&r));
        text_free(&out);
    }
    snapshot_free(&s);
}

TEST(snapshot_activity, reads_them_oldest_first) {
    struct snapshot s;
    record();
    CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now));
    CHECK_EQ_U64(s.activity_count, 2);
    const struct snapshot_activity *k = &s.activities[0], *c = &s.activities[1];
    CHECK_EQ_U64(k->kind, ACTIVITY_KERNEL);
    CHECK_STR_EQ(k->name, "scale(float*)");
    CHECK_EQ_U64(k->name_length, strlen("scale(float*)"));
    CHECK_EQ_U64(k->count, 2);
    CHECK_EQ_U64(k->total, 800);
    CHECK_EQ_U64(k->min, 300);
    CHECK_EQ_U64(k->max, 500);
    CHECK(k->squares == 340000);
    CHECK_EQ_U64(k->launches, 2);
    CHECK_EQ_U64(k->launch_total, 90);
    CHECK_EQ_U64(k->delay_total, 40);
    CHECK_EQ_U64(k->first_at, 1000);
    CHECK_EQ_U64(k->last_at, 3000);
    CHECK_EQ_U64(k->stream, 7);
    CHECK_EQ_U64(k->device, 0);
    CHECK_EQ_U64(k->grid[0] * 100 + k->grid[1] * 10 + k->grid[2], 6421);
    CHECK_EQ_U64(k->block[0], 256);
    CHECK_EQ_U64(k->registers, 32);
    CHECK_EQ_U64(k->shared_static + k->shared_dynamic, 1072);
    CHECK(k->histogram && k->unit && !k->loose && !k->varies);
    CHECK_STR_EQ(s.sites[s.nodes[k->node].site].name, "step");
    CHECK_EQ_U64(c->kind, ACTIVITY_COPY);
    CHECK_EQ_U64(c->detail, PINNED_TO_DEVICE);
    CHECK_EQ_U64(c->bytes, 4096);
    CHECK_EQ_U64(c->max_bytes, 4096);
    CHECK_STR_EQ(c->name, "");
    CHECK_EQ_U64(s.devices[0].threads_per_mp, 2048);
    snapshot_free(&s);
}

/* The first activity read, after a change of the file. */
static struct snapshot_activity read_first(uint32_t count) {
    struct snapshot s;
    struct snapshot_activity first = {0};
    if (CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now))) {
        CHECK_EQ_U64(s.activity_count, count);
        first = s.activities[0]; /* there is always room for one */
        snapshot_free(&s);
    }
    return first;
}

TEST(snapshot_activity, references_outside_are_none) {
    static const uint32_t bad[] = {UINT32_MAX, UINT32_MAX / 64, 0x04000000, 0};
    record();
    struct arena_activity *k = at(newest()->next), whole = *k;
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; ++i) {
        uint32_t unit = i < 4 ? bad[i] : (uint32_t)(used / STINT_IMPL_UNIT);
        k->name = unit == UINT32_MAX / 64 ? (uint32_t)(used / 8) : unit;
        k->node = k->device = k->histogram = unit;
        struct snapshot_activity a = read_first(2);
        CHECK_STR_EQ(a.name, "");
        CHECK_EQ_U64(a.name_length, 0);
        CHECK(a.node == SNAPSHOT_NONE && a.device == SNAPSHOT_NONE);
        read_and_print();
        *k = whole;
        uint32_t next = newest()->next;
        newest()->next = unit;
        read_first(1);
        newest()->next = next;
        next = header()->first_activity;
        header()->first_activity = unit;
        read_first(0);
        read_and_print();
        header()->first_activity = next;
    }
}

TEST(snapshot_activity, a_circle_ends) {
    struct snapshot s;
    record();
    struct arena_activity *k = at(newest()->next);
    k->next = header()->first_activity;
    CHECK(!snapshot_read(&s, copy, used, FAKE_START, &now));
    CHECK_EQ_U64(s.activity_count, used / sizeof *k);
    snapshot_free(&s);
    read_and_print();
}

TEST(snapshot_activity, unknown_kinds_are_left_out) {
    static const uint32_t bad[] = {ACTIVITY_NONE, ACTIVITY_KINDS, 31, 32, UINT32_MAX};
    record();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        newest()->kind = bad[i];
        CHECK_EQ_U64(read_first(1).kind, ACTIVITY_KERNEL);
        read_and_print();
    }
}

/* A writer that was killed between the two: what is there is taken. */
TEST(snapshot_activity, an_odd_sequence_word_costs_tries_only) {
    struct snapshot s;
    record();
    newest()->seq |= 1;
    uint64_t reads = 0;
    CHECK(!snapshot_read_live(&s, copy, used, FAKE_START, &now));
    reads = s.patience;
    CHECK_EQ_U64(s.activities[1].count, 2); /* the one that was under way too */
    snapshot_free(&s);
    newest()->seq = 2;
    CHECK(!snapshot_read_live(&s, copy, used, FAKE_START, &now));
    CHECK(s.patience > reads);
    CHECK_EQ_U64(s.activities[1].count, 1);
    snapshot_free(&s);
}

TEST(snapshot_activity, times_of_nonsense) {
    static const uint64_t bad[] = {0,
                                   1,
                                   UINT64_MAX,
                                   UINT64_MAX / 2,
                                   (uint64_t)1 << 63,
                                   0x7ff0000000000000u,
                                   0x7ff8000000000000u};
    record();
    struct arena_activity *k = at(newest()->next);
    for (size_t i = 0; i < 7 * 7 * 7; ++i) {
        k->seq = k->squares = k->last_at = k->launches = bad[i % 7];
        k->total = k->bytes = k->first_at = k->launch_total = bad[i / 7 % 7];
        k->min = k->max_bytes = k->delay_total = bad[i / 49];
        k->max = bad[(i + 3) % 7];
        for (int d = 0; d < 3; ++d) {
            k->grid[d] = k->block[d] = (uint32_t)bad[(i + (size_t)d) % 7];
        }
        k->registers = k->shared_static = k->shared_dynamic = (uint32_t)bad[i % 7];
        struct snapshot_activity a = read_first(2);
        CHECK(a.min <= a.max && a.first_at <= a.last_at);
        CHECK(a.squares >= 0 && a.squares <= DBL_MAX);
        if (i % 5 == 0) {
            read_and_print();
        }
    }
}

TEST(snapshot_activity, limits_of_nonsense) {
    static const uint32_t bad[] = {0, 1, 31, UINT32_MAX};
    record();
    struct arena_device *d = at(header()->first_device);
    for (size_t i = 0; i < 4 * 4 * 4; ++i) {
        d->threads_per_mp = d->major = bad[i % 4];
        d->blocks_per_mp = d->registers_per_mp = bad[i / 4 % 4];
        d->shared_per_mp = d->reserved_shared = bad[i / 16];
        read_and_print();
    }
}
