/* SPDX-License-Identifier: Apache-2.0 */
#include "read/rows_private.h"

#include "support.h"

#define BITS (ROW_BYTES | ROW_FLOPS | ROW_BOUND)

static struct stint_row row(uint64_t samples, uint64_t total_ns, uint64_t bytes, uint64_t flops) {
    struct stint_row r = {
        .calls = samples, .samples = samples, .covered = samples, .total_ns = total_ns};
    r.bytes = bytes;
    r.flops = flops;
    r.bound = "";
    return r;
}

static struct stint_row on_the_gpu(struct stint_row r, uint64_t calls, uint64_t total_ns) {
    r.gpu_calls = calls;
    r.gpu_total_ns = total_ns;
    return r;
}

TEST(rates, by_cpu_time) {
    struct stint_row r = row(4, 2000, 3000, 0);
    rates_fill(&r, 1000000, 1000000);
    CHECK_EQ_U64(r.bytes_per_s, 1500000000);
    CHECK_EQ_U64(r.flops_per_s, 0);
    CHECK_EQ_U64(r.has, ROW_BYTES);
    CHECK(r.peak_bytes_ppm == ROW_UNKNOWN); /* of a GPU's peak there is no share in CPU time */
    CHECK_STR_EQ(r.bound, "");
}

/* Half of the calls were measured: the others' bytes must not double the rate. */
TEST(rates, by_gpu_time_of_the_calls_that_have_one) {
    struct stint_row r = on_the_gpu(row(10, 50, 20000, 40000), 5, 10000);
    rates_fill(&r, 2000000000, 10000000000);
    CHECK_EQ_U64(r.bytes_per_s, 1000000000);
    CHECK_EQ_U64(r.flops_per_s, 2000000000);
    CHECK_EQ_U64(r.peak_bytes_ppm, 500000);
    CHECK_EQ_U64(r.peak_flops_ppm, 200000);
    CHECK_EQ_U64(r.has, BITS);
    CHECK_STR_EQ(r.bound, "memory");
}

TEST(rates, the_nearer_peak_is_the_bound) {
    struct stint_row r = on_the_gpu(row(1, 50, 1000, 4000), 1, 1000);
    rates_fill(&r, 2000000000, 5000000000);
    CHECK_EQ_U64(r.peak_bytes_ppm, 500000);
    CHECK_EQ_U64(r.peak_flops_ppm, 800000);
    CHECK_STR_EQ(r.bound, "compute");
}

TEST(rates, no_bound_unless_both_are_known) {
    struct stint_row one = on_the_gpu(row(1, 50, 1000, 0), 1, 1000);
    rates_fill(&one, 2000000000, 5000000000);
    CHECK_EQ_U64(one.has, ROW_BYTES);
    CHECK_STR_EQ(one.bound, "");
    struct stint_row unknown = on_the_gpu(row(1, 50, 1000, 1000), 1, 1000);
    rates_fill(&unknown, 2000000000, 0);
    CHECK_EQ_U64(unknown.has, ROW_BYTES | ROW_FLOPS);
    CHECK_EQ_U64(unknown.peak_bytes_ppm, 500000);
    CHECK(unknown.peak_flops_ppm == ROW_UNKNOWN);
    CHECK_STR_EQ(unknown.bound, "");
}

/* Recursive calls lie inside their outermost one, whose time is all there is. */
TEST(rates, recursive_calls) {
    struct stint_row r = row(1, 1000, 5000, 0);
    r.calls = 5;
    rates_fill(&r, 0, 0);
    CHECK_EQ_U64(r.bytes_per_s, 5000000000);
    r = on_the_gpu(r, 1, 2000);
    rates_fill(&r, 0, 0);
    CHECK_EQ_U64(r.bytes_per_s, 2500000000);
}

TEST(rates, nothing_to_divide_by) {
    struct stint_row open = row(0, 0, 1000, 1000);
    rates_fill(&open, 1, 1);
    CHECK_EQ_U64(open.has, 0);
    struct stint_row late = on_the_gpu(row(0, 0, 1000, 1000), 1, 1000); /* after a reset */
    rates_fill(&late, 1, 1);
    CHECK_EQ_U64(late.has, 0);
    struct stint_row instant = row(3, 0, 1000, 1000);
    rates_fill(&instant, 1, 1);
    CHECK_EQ_U64(instant.has, 0);
    struct stint_row idle = row(3, 100, 0, 0);
    rates_fill(&idle, 1, 1);
    CHECK_EQ_U64(idle.has, 0);
}

TEST(rates, too_large_for_a_number) {
    struct stint_row r = on_the_gpu(row(1, 1, UINT64_MAX, UINT64_MAX), 1, 1);
    rates_fill(&r, 1, UINT64_MAX);
    CHECK_EQ_U64(r.bytes_per_s, UINT64_MAX - 1);
    CHECK_EQ_U64(r.peak_bytes_ppm, UINT64_MAX - 1);
    CHECK_EQ_U64(r.peak_flops_ppm, 1000000);
}

HARNESS_MAIN()
