/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU times, declared work and steps that are left after a reset. */
#include "arena/arena.h"
#include "gpu_sums.h"
#include "interval/interval.h"
#include "support.h"

static stint_stat st;

/* Times on the GPU, `first` of them for the first time. */
static struct stint_impl_node *on_the_gpu(uint64_t first, uint64_t ns, stint_set *set) {
    REGISTER_TIMER_DYNAMIC("gpu", -1, set);
    gpu_took(0, first);
    gpu_took(0, ns);
    gpu_does(10 * ns, ns);
    fake_advance(1);
    return gpu_sums_node();
}

TEST(interval, gpu_sums_and_declared_work_are_subtracted) {
    on_the_gpu(100, 9000, NULL);
    stint_reset();
    CHECK(stint_stat_get("gpu", &st, sizeof st) == -1);
    on_the_gpu(400, 700, NULL);
    CHECK(!stint_stat_get("gpu", &st, sizeof st));
    CHECK_EQ_U64(st.gpu_calls, 2);
    CHECK_EQ_U64(st.gpu_total_ns, 1100);
    CHECK_EQ_U64(st.bytes, 7000);
    CHECK_EQ_U64(st.flops, 700);
    CHECK_EQ_U64(st.gpu_min_ns, 400); /* the bounds of their steps: within 6.3 % */
    CHECK_EQ_U64(st.gpu_max_ns, 703);
    CHECK(st.gpu_p50_ns >= 400 && st.gpu_p50_ns <= 416);
}

/* Its bounds would be seen at once in ticks that are no nanoseconds. */
TEST(interval, gpu_bounds_are_nanoseconds_whatever_a_tick_is) {
    struct snapshot s;
    struct rows rows;
    on_the_gpu(100, 9000, NULL);
    stint_reset();
    on_the_gpu(400, 700, NULL);
    CHECK(!interval_open(&s, 0));
    s.ns_per_tick = 0.25;
    CHECK(!rows_flat(&rows, &s, 0));
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_total_ns, 1100);
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_percentile_ns[PERCENTILE_P50], 407);
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_percentile_ns[PERCENTILE_P99], 687);
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_min_ns, 400);
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_max_ns, 703);
    CHECK(!rows_tree(&rows, &s)); /* a path has its own histogram, unlike on the CPU */
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_min_ns, 400);
    CHECK_EQ_U64(row_in(&rows, 0, "gpu")->extra->gpu_max_ns, 703);
    interval_close(&s);
}

TEST(interval, gpu_times_that_come_after_the_reset) {
    struct stint_impl_node *n = on_the_gpu(100, 200, NULL);
    stint_reset();
    gpu_sums_add(n, 0, 50);
    CHECK(!stint_stat_get("gpu", &st, sizeof st));
    CHECK_EQ_U64(st.calls, 0);
    CHECK_EQ_U64(st.gpu_calls, 1);
    CHECK_EQ_U64(st.gpu_total_ns, 50);
    const char *const views[] = {"table", "tree"};
    for (int i = 0; i < 2; ++i) {
        char *text = report_of(views[i]);
        CHECK_CONTAINS(text, "\ngpu ");
        CHECK_CONTAINS(text, " gpu total ");
    }
}

TEST(interval, gpu_sums_of_sets_are_reset_one_by_one) {
    stint_set *other = stint_set_get("other");
    for (int i = 0; i < 3; ++i) {
        on_the_gpu(100, 100, NULL);
        on_the_gpu(70, 700, other);
        if (i == 0) {
            stint_set_reset(other);
        } else if (i == 1) {
            stint_set_reset(NULL);
        }
    }
    CHECK(!stint_stat_get("gpu", &st, sizeof st));
    CHECK_EQ_U64(st.gpu_calls, 2);
    CHECK_EQ_U64(st.bytes, 1000);
    CHECK(!stint_set_stat_get(other, "gpu", &st, sizeof st));
    CHECK_EQ_U64(st.gpu_calls, 4);
    CHECK_EQ_U64(st.gpu_total_ns, 1540);
    CHECK_EQ_U64(st.bytes, 14000);
    CHECK_EQ_U64(st.flops, 1400);
    CHECK(st.gpu_p50_ns >= 68 && st.gpu_p50_ns <= 72); /* of four: two of each kind */
    CHECK(st.gpu_p99_ns >= 680 && st.gpu_p99_ns <= 720);
}

/* Made after its set was reset, it must not be taken for reset when another set is. */
TEST(interval, a_gpu_histogram_that_came_between_two_resets) {
    stint_set *other = stint_set_get("other");
    struct stint_impl_node *n = NULL;
    for (int i = 0; i < 2; ++i) {
        REGISTER_TIMER("gpu", -1, other);
        n = gpu_sums_node();
        fake_advance(1);
    }
    stint_set_reset(other);
    gpu_sums_add(n, 0, 300);
    stint_set_reset(NULL);
    CHECK(!stint_set_stat_get(other, "gpu", &st, sizeof st));
    CHECK_EQ_U64(st.gpu_calls, 1);
    CHECK_EQ_U64(st.gpu_p50_ns, 300);
}

/* Both histograms of every node, in a table that must not be full. */
TEST(interval, many_nodes_with_two_histograms) {
    char name[16];
    for (int i = 0; i < 1000; ++i) {
        snprintf(name, sizeof name, "n %d", i);
        REGISTER_TIMER_DYNAMIC(name);
        gpu_took(0, 100);
        fake_advance(1);
    }
    stint_reset();
    stint_reset();
    CHECK(stint_stat_get("n 0", &st, sizeof st) == -1 &&
          stint_stat_get("n 999", &st, sizeof st) == -1);
}

TEST(interval, steps_are_of_the_interval) {
    struct snapshot s;
    timed("a", 1);
    arena_header()->steps = 5;
    CHECK(!interval_open(&s, 1));
    CHECK_EQ_U64(s.steps, 5);
    interval_close(&s);
    arena_header()->steps = 7;
    stint_set_reset(NULL); /* steps belong to no set */
    CHECK(!interval_open(&s, 0));
    CHECK_EQ_U64(s.steps, 2);
    interval_close(&s);
}
