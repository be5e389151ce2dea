/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of the fluid report and of the memory report, one by one; whole reports are in
 * tests/screens. Activities are made by hand (activities.h).
 */
#include "activities.h"
#include "compat/fluid_report.h"
#include "compat/fluid_rows.h"
#include "gpu_sums.h"

#define MS 1000000u
#define COPY(direction, async)                                                                     \
    ACTIVITY_COPY_DETAIL(ACTIVITY_COPY_##direction, ACTIVITY_MEMORY_DEVICE,                        \
                         ACTIVITY_MEMORY_DEVICE, async)

static struct fluid_instances numbers;

static void take(void) {
    CHECK(!snapshot_take(&snapshot));
    memset(activities, 0, sizeof activities);
    snapshot.activities = activities;
    snapshot.activity_count = 0;
}

static const struct fluid_row *row_named(const struct fluid_sheet *f, const char *name) {
    static const struct fluid_row none;
    for (uint32_t i = 0; i < f->count; ++i) {
        if (f->row[i].tree != SNAPSHOT_NONE && !strcmp(f->rows.row[f->row[i].tree].name, name)) {
            return &f->row[i];
        }
    }
    CHECK_STR_EQ("no row", name);
    return &none;
}

static struct fluid_sheet sheet(enum fluid_state state) {
    static struct report_options o;
    struct fluid_sheet f;
    o = (struct report_options){.set = REPORT_ALL_SETS, .fluid = {.state = state}};
    CHECK(!fluid_sheet(&f, &snapshot, &o, 0, &numbers));
    return f;
}

static int is(double a, double b) {
    return a > b - 0.5 && a < b + 0.5; /* nanoseconds */
}

TEST(report_fluid, computation_is_what_is_innermost) {
    {
        REGISTER_TIMER("step");
        fake_advance(MS);
        REGISTER_TIMER_ROLE("forward", STINT_ROLE_COMPUTE); /* another one is in it */
        fake_advance(2 * MS);
        {
            REGISTER_TIMER_ROLE("matmul", STINT_ROLE_COMPUTE);
            fake_advance(4 * MS);
            timed("of it", 8 * MS);
        }
        REGISTER_TIMER_ROLE("shape", STINT_ROLE_FRAMEWORK);
        fake_advance(16 * MS);
    }
    timed("compute", 32 * MS); /* a name says nothing */
    take();
    struct fluid_sheet f = sheet(FLUID_ALL);
    CHECK(is(f.total, 63 * MS));
    CHECK(is(f.computation, 12 * MS));
    CHECK(f.computes);
}

TEST(report_fluid, gpu_time_goes_up_and_is_added_to_the_total) {
    scopes_and_one_gpu();
    did(ACTIVITY_KERNEL, 0, "load", 2, 5 * MS, 0);
    did(ACTIVITY_FILL, ACTIVITY_MEMORY_DEVICE, "step", 1, MS, 64);
    did(ACTIVITY_KERNEL, 0, NULL, 1, 100 * MS, 0); /* of no scope */
    did(ACTIVITY_API, 0, "load", 1, 100 * MS, 0);  /* no work of a GPU */
    struct fluid_sheet f = sheet(FLUID_ALL);
    CHECK(f.source == FLUID_TRACER);
    CHECK(is(row_named(&f, "load")->gpu, 5 * MS));
    CHECK(is(row_named(&f, "store")->gpu, 0));
    CHECK(is(row_named(&f, "step")->gpu, 6 * MS));
    CHECK(is(row_named(&f, "main")->gpu, 6 * MS));
    CHECK(is(f.total, 10 * MS + 6 * MS));
    CHECK(is(row_named(&f, "main")->cpu, 10 * MS));
    CHECK(row_named(&f, "main")->ratio > 0.999);
    f = sheet(FLUID_CPU);
    CHECK(is(f.total, 10 * MS));
    f = sheet(FLUID_GPU);
    CHECK(is(f.total, 6 * MS));
    CHECK(is(row_named(&f, "load")->ave, 5 * MS));
}

/* A tracer's times are those of kernels; events are what passes on a stream: never both. */
TEST(report_fluid, a_tracer_beats_events) {
    {
        REGISTER_TIMER("outer");
        {
            REGISTER_TIMER("inner");
            gpu_took(0, 3 * MS);
            fake_advance(MS);
        }
        gpu_took(0, 4 * MS); /* holds the inner one's */
    }
    timed("none", MS);
    take();
    struct fluid_sheet f = sheet(FLUID_ALL);
    CHECK(f.source == FLUID_EVENTS);
    CHECK(is(row_named(&f, "outer")->gpu, 4 * MS));
    CHECK(is(row_named(&f, "inner")->gpu, 3 * MS));
    did(ACTIVITY_KERNEL, 0, "inner", 1, 2 * MS, 0);
    f = sheet(FLUID_ALL);
    CHECK(f.source == FLUID_TRACER);
    CHECK(is(row_named(&f, "outer")->gpu, 2 * MS));
}

TEST(report_fluid, no_mean_outside_its_bounds) {
    timed("a", 10);
    timed("a", 1000);
    stint_reset();
    for (uint64_t i = 0; i < 3; ++i) {
        timed("a", 100 + i);
    }
    CHECK(!interval_open(&snapshot, 0));
    for (int state = FLUID_ALL; state <= FLUID_GPU; ++state) {
        struct fluid_sheet f = sheet((enum fluid_state)state);
        const struct fluid_row *r = row_named(&f, "a");
        CHECK(r->min <= r->ave && r->ave <= r->max);
        CHECK(state == FLUID_GPU || (r->min > 90 && r->max < 110)); /* not 10 and 1000 */
    }
    interval_close(&snapshot);
}

TEST(report_fluid, each_direction_has_a_name) {
    static const struct {
        uint32_t detail;
        const char *name;
    } ways[] = {{COPY(HTOD, 0), "GpuMemcpySync:CPU->GPU "},
                {COPY(HTOA, 1), "GpuMemcpyAsync:CPU->GPU "},
                {COPY(DTOH, 1), "GpuMemcpyAsync:GPU->CPU "},
                {COPY(ATOH, 0), "GpuMemcpySync:GPU->CPU "},
                {COPY(DTOD, 1), "GpuMemcpyAsync(same_gpu):GPU->GPU "},
                {COPY(ATOA, 0), "GpuMemcpySync(same_gpu):GPU->GPU "},
                {COPY(PTOP, 1), "GpuMemcpyAsync:GPU->GPU "},
                {COPY(HTOH, 0), "GpuMemcpySync:CPU->CPU "},
                {COPY(UNKNOWN, 0), "GpuMemcpySync:unknown "}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; ++i) {
        scopes_and_one_gpu();
        did(ACTIVITY_COPY, ways[i].detail, "load", 1, 5, 9);
        did(ACTIVITY_COPY, ways[i].detail, "load", 1, 6, 1)->stream = 8; /* the same row */
        const char *text = said(report_fluid);
        CHECK_CONTAINS(text, ways[i].name);
        CHECK_EQ_U64(times_in(text, "GpuMemcpy"), 3); /* its sum, its kind, its row */
        CHECK_CONTAINS(text, "Bytes: 10\n");
        snapshot_free(&snapshot);
    }
}

TEST(report_fluid, waits_count_once) {
    scopes_and_one_gpu();
    did(ACTIVITY_SYNC, ACTIVITY_SYNC_STREAM, "load", 2, 3 * MS, 0);
    did(ACTIVITY_SYNC, ACTIVITY_SYNC_STREAM_WAIT, "load", 2, 90 * MS, 0); /* the stream's */
    did(ACTIVITY_COPY, COPY(DTOH, 0), "load", 1, MS, 4)->launch_total = 2 * MS;
    did(ACTIVITY_COPY, COPY(DTOH, 1), "load", 1, MS, 4)->launch_total = 70 * MS; /* does not wait */
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_ANY, NULL, 1, 2 * MS, 0);
    did(ACTIVITY_BUSY, ACTIVITY_BUSY_COPY, NULL, 1, 2 * MS, 0);
    did(ACTIVITY_BUSY, 77, NULL, 1, 2 * MS, 0); /* of a later version */
    const char *text = said(report_fluid);
    CHECK_CONTAINS(text, "CPU waits for the GPU    Total: 5           Ratio: 50%\n");
    CHECK_CONTAINS(text, "  synchronisation        Total: 3           Ratio: 30%\n");
    CHECK_CONTAINS(text, "GPU 0 busy               Total: 2           Ratio: 20%  Test GPU\n");
    CHECK_CONTAINS(text, "CPU time in scopes       Total: 10          Ratio: 100%  of 1 thread\n");
}

/* Instances of two types, seen in an order that is neither that of names nor that of rows. */
static void instance(int which, const char *name) {
    if (which) {
        REGISTER_TIMER_OP("conv", name);
        fake_advance(1);
    } else {
        REGISTER_TIMER_OP("pool", name);
        fake_advance(1);
    }
}

TEST(report_fluid, instances_are_numbered_as_they_were_seen) {
    stint_level_set(STINT_LEVEL_ALL_OP_DETAIL);
    instance(1, "w");
    instance(0, "z");
    instance(1, "a");
    {
        REGISTER_TIMER("elsewhere");
        instance(1, "a");
        instance(1, "b");
    }
    instance(0, "a");
    REGISTER_TIMER_ROLE("op", STINT_ROLE_OP);
    timed("plain", 1);
    take();
    struct fluid_sheet f = sheet(FLUID_ALL);
    static const struct {
        const char *type, *name;
        uint32_t number;
    } want[] = {{"conv", "w", 0}, {"conv", "a", 1}, {"conv", "b", 2},
                {"pool", "z", 0}, {"pool", "a", 1}, {"op", "plain", 0}};
    CHECK_EQ_U64(numbers.count, sizeof want / sizeof *want);
    unsigned found = 0;
    for (uint32_t i = 0; i < f.rows.count; ++i) {
        const struct stint_row *r = &f.rows.row[i];
        const char *type = r->parent == SNAPSHOT_NONE ? "" : f.rows.row[r->parent].name;
        for (size_t k = 0; k < sizeof want / sizeof *want; ++k) {
            if (!strcmp(r->name, want[k].name) && !strcmp(type, want[k].type)) {
                CHECK_EQ_U64(f.scope[i].number, want[k].number);
                ++found;
            }
        }
    }
    CHECK_EQ_U64(found, 7); /* conv1 twice */
    CHECK(fluid_instances_of(&numbers, 0, 0) == SNAPSHOT_NONE);
}

TEST(report_fluid, numbers_of_nonsense) {
    static const uint64_t bad[] = {0, 1, UINT64_MAX, UINT64_MAX / 2, (uint64_t)1 << 63};
    for (size_t i = 0; i < 5 * 5 * 5; ++i) {
        scopes_and_one_gpu();
        for (uint32_t kind = 0; kind < ACTIVITY_KINDS; ++kind) {
            struct snapshot_activity *a =
                did(kind, (uint32_t)bad[i % 5], "load", bad[i % 5], bad[i / 5 % 5], bad[i / 25]);
            a->launch_total = bad[i / 25];
            a->device = (uint32_t)bad[i % 5];
            a->max_bytes = bad[i / 5 % 5];
            did(kind, (uint32_t)bad[i / 5 % 5], NULL, bad[i / 25], bad[i % 5], bad[i / 5 % 5])
                ->node = (uint32_t)bad[i % 5];
        }
        snapshot.nodes[1].total = bad[i / 5 % 5];
        CHECK(!strstr(said(report_fluid), "nan"));
        CHECK(!strstr(said(fluid_memory), "nan"));
        snapshot_free(&snapshot);
    }
}

TEST(report_fluid, nothing_of_memory_where_none_was_seen) {
    scopes_and_one_gpu();
    did(ACTIVITY_KERNEL, 0, "load", 1, 5, 0);
    did(ACTIVITY_ALLOC, ACTIVITY_MEMORY_DEVICE, "load", 0, 0, 0); /* not in this interval */
    did(ACTIVITY_MEMORY, 0, NULL, 1, 0, 0);
    CHECK_STR_EQ(said(fluid_memory), "");
    did(ACTIVITY_FREE, ACTIVITY_MEMORY_MANAGED_STATIC, "load", 3, 0, 1 << 20);
    CHECK_CONTAINS(said(fluid_memory), "CUDAManagedPlace(0):main/step/load");
}
