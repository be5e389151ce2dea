/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of rows for the GPU and for declared work: sums, peaks and rates. The expected values
 * are computed from the times and the work that the test declares.
 */
#include "model/rows.h"

#include <pthread.h>

#include "gpu_sums.h"
#include "support.h"

static struct snapshot s;
static struct rows rows;

static void flat(int each_thread) {
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_flat(&rows, &s, each_thread));
}

static const struct stint_row *flat_row(const char *name) {
    const struct stint_row *r = row_in(&rows, 0, name);
    return CHECK(r != NULL) ? r : &rows.row[0];
}

static uint32_t device;

static void on_the_gpu(uint64_t cpu, uint64_t gpu) {
    REGISTER_TIMER("gpu");
    gpu_took(device, gpu);
    fake_advance(cpu);
}

TEST(rows, gpu_times_beside_the_cpus) {
    on_the_gpu(100, 900);
    on_the_gpu(100, 300);
    timed("cpu", 10);
    flat(0);
    const struct stint_row *r = flat_row("gpu");
    CHECK_EQ_U64(r->total_ns, 200);
    CHECK_EQ_U64(r->extra->gpu_calls, 2);
    CHECK_EQ_U64(r->extra->gpu_total_ns, 1200);
    CHECK_EQ_U64(r->extra->gpu_avg_ns, 600);
    CHECK_EQ_U64(r->extra->gpu_min_ns, 300);
    CHECK_EQ_U64(r->extra->gpu_max_ns, 900);
    CHECK(r->extra->gpu_percentile_ns[PERCENTILE_P50] >= 300 &&
          r->extra->gpu_percentile_ns[PERCENTILE_P50] <= 310);
    CHECK(r->extra->gpu_percentile_ns[PERCENTILE_P99] >= 870 &&
          r->extra->gpu_percentile_ns[PERCENTILE_P99] <= 900);
    CHECK_EQ_U64(r->extra->cpu_share_ppm, 142858);
    CHECK_EQ_U64(r->extra->gpu_share_ppm, 857142);
    CHECK_EQ_U64(r->has, ROW_SAMPLES | ROW_SELF | ROW_HISTOGRAM | ROW_STDDEV | ROW_FIRST | ROW_GPU |
                             ROW_GPU_HISTOGRAM);
    r = flat_row("cpu");
    CHECK_EQ_U64(r->extra->gpu_calls + r->extra->gpu_total_ns + r->extra->gpu_min_ns +
                     r->extra->gpu_max_ns,
                 0);
    CHECK_EQ_U64(r->has, ROW_SAMPLES | ROW_SELF | ROW_HISTOGRAM | ROW_STDDEV | ROW_FIRST);
    interval_close(&s);
}

static void *on_a_thread(void *ns) {
    on_the_gpu(10, *(uint64_t *)ns);
    return NULL;
}

TEST(rows, gpu_times_of_threads_sum_to_the_merged_row) {
    uint64_t ns = 5000;
    pthread_t thread;
    REGISTER_TIMER("hold");
    on_the_gpu(10, 1000);
    pthread_create(&thread, NULL, on_a_thread, &ns);
    pthread_join(thread, NULL);
    flat(1);
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_total_ns, 1000); /* the oldest thread's */
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_max_ns, 1000);
    interval_close(&s);
    flat(0);
    CHECK_EQ_U64(flat_row("gpu")->extra->gpu_calls, 2);
    CHECK_EQ_U64(flat_row("gpu")->extra->gpu_total_ns, 6000);
    CHECK_EQ_U64(flat_row("gpu")->extra->gpu_min_ns, 1000);
    CHECK_EQ_U64(flat_row("gpu")->extra->gpu_max_ns, 5000);
    interval_close(&s);
}

TEST(rows, gpu_times_of_a_name_nested_in_itself_are_not_counted_twice) {
    {
        REGISTER_TIMER("gpu");
        gpu_took(device, 1000);
        gpu_does(10, 1);
        fake_advance(50);
        {
            REGISTER_TIMER("between");
            REGISTER_TIMER("gpu");
            gpu_took(device, 800);
            gpu_does(30, 2); /* declared once, counted once */
        }
    }
    {
        REGISTER_TIMER("mixed"); /* on the CPU alone: does not hold what is inside */
        REGISTER_TIMER("mixed");
        gpu_took(device, 70);
    }
    flat(0);
    const struct stint_row *r = flat_row("gpu");
    CHECK_EQ_U64(r->calls, 2);
    CHECK_EQ_U64(r->samples, 1);
    CHECK_EQ_U64(r->extra->gpu_calls, 1);
    CHECK_EQ_U64(r->extra->gpu_total_ns, 1000);
    CHECK_EQ_U64(r->extra->gpu_min_ns, 1000);
    CHECK(r->extra->gpu_percentile_ns[PERCENTILE_P50] >= 968);
    CHECK_EQ_U64(r->extra->bytes, 40);
    CHECK_EQ_U64(r->extra->flops, 3);
    CHECK_EQ_U64(flat_row("mixed")->extra->gpu_total_ns, 70);
    CHECK_EQ_U64(flat_row("mixed")->extra->gpu_calls, 1);
    interval_close(&s);
}

TEST(rows, a_tree_row_has_the_gpu_time_of_its_path) {
    on_the_gpu(10, 100);
    {
        REGISTER_TIMER("outer");
        on_the_gpu(10, 7000);
    }
    CHECK(!interval_open(&s, 0));
    CHECK(!rows_tree(&rows, &s));
    u128 total[2] = {0, 0};
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *r = &rows.row[i];
        if (!strcmp(r->name, "gpu")) {
            CHECK_EQ_U64(r->extra->gpu_calls, 1);
            CHECK_EQ_U64(r->extra->gpu_min_ns, r->extra->gpu_max_ns);
            total[r->parent != SNAPSHOT_NONE] = r->extra->gpu_total_ns;
        }
    }
    CHECK_EQ_U64(total[0], 100);
    CHECK_EQ_U64(total[1], 7000);
    interval_close(&s);
}

static void moves(uint64_t ns) {
    REGISTER_TIMER("moves");
    gpu_does(1000, 2000);
    gpu_took(device, ns);
    fake_advance(1);
}

/* A scope has the peaks of its device. It has none if its devices differ, or if one of them is
 * unknown. */
TEST(rows, peaks_of_the_devices_it_ran_on) {
    timed("open", 1);
    device = gpu_sums_device("fast", 2000000000, 10000000000);
    moves(1000);
    flat(0);
    CHECK_EQ_U64(flat_row("moves")->extra->peak_bytes_ppm, 500000);
    CHECK_EQ_U64(flat_row("moves")->extra->peak_flops_ppm, 200000);
    CHECK_STR_EQ(flat_row("moves")->extra->bound, "memory");
    interval_close(&s);
    {
        REGISTER_TIMER("elsewhere");
        device = gpu_sums_device("as fast in one way", 2000000000, 7);
        moves(1000);
    }
    flat(0);
    CHECK_EQ_U64(flat_row("moves")->extra->peak_bytes_ppm, 500000);
    CHECK(flat_row("moves")->extra->peak_flops_ppm == ROW_UNKNOWN);
    interval_close(&s);
    {
        REGISTER_TIMER("nowhere");
        device = 0;
        moves(1000);
    }
    flat(0);
    CHECK(flat_row("moves")->extra->peak_bytes_ppm == ROW_UNKNOWN);
    CHECK_EQ_U64(flat_row("moves")->extra->bytes_per_s, 1000000000);
    interval_close(&s);
}

TEST(rows, declared_work_is_the_innermost_scopes) {
    {
        REGISTER_TIMER("outer");
        gpu_does(5, 0);
        {
            REGISTER_TIMER("inner");
            gpu_does(100, 40);
            fake_advance(10);
        }
        gpu_does(5, 0);
        fake_advance(90);
    }
    flat(0);
    CHECK_EQ_U64(flat_row("outer")->extra->bytes, 10);
    CHECK_EQ_U64(flat_row("outer")->extra->flops, 0);
    CHECK_EQ_U64(flat_row("outer")->extra->bytes_per_s, 100000000); /* over its whole time */
    CHECK_EQ_U64(flat_row("inner")->extra->bytes, 100);
    CHECK_EQ_U64(flat_row("inner")->extra->flops_per_s, 4000000000);
    interval_close(&s);
}
