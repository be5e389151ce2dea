/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rows_private.h"

#include "support.h"

#define BITS (ROW_BYTES | ROW_FLOPS | ROW_BOUND)

struct rated {
    struct stint_row row;
    struct stint_row_extra extra;
};

static struct rated row(uint64_t samples, uint64_t total_ns, uint64_t bytes, uint64_t flops) {
    struct rated r = {.row = {.calls = samples, .samples = samples, .total_ns = total_ns},
                      .extra = stint_row_no_extra};
    r.extra.bytes = bytes;
    r.extra.flops = flops;
    return r;
}

static struct rated on_the_gpu(struct rated r, uint64_t calls, uint64_t total_ns) {
    r.extra.gpu_calls = calls;
    r.extra.gpu_total_ns = total_ns;
    return r;
}

static void rate(struct rated *r, uint64_t peak_bytes_per_s, uint64_t peak_flops_per_s) {
    rates_fill(&r->row, &r->extra, peak_bytes_per_s, peak_flops_per_s);
}

TEST(rates, by_cpu_time) {
    struct rated r = row(4, 2000, 3000, 0);
    rate(&r, 1000000, 1000000);
    CHECK_EQ_U64(r.extra.bytes_per_s, 1500000000);
    CHECK_EQ_U64(r.extra.flops_per_s, 0);
    CHECK_EQ_U64(r.row.has, ROW_BYTES);
    CHECK(r.extra.peak_bytes_ppm ==
          ROW_UNKNOWN); /* of a GPU's peak there is no share in CPU time */
    CHECK_STR_EQ(r.extra.bound, "");
}

/* Half of the calls were measured: the others' bytes must not double the rate. */
TEST(rates, by_gpu_time_of_the_calls_that_have_one) {
    struct rated r = on_the_gpu(row(10, 50, 20000, 40000), 5, 10000);
    rate(&r, 2000000000, 10000000000);
    CHECK_EQ_U64(r.extra.bytes_per_s, 1000000000);
    CHECK_EQ_U64(r.extra.flops_per_s, 2000000000);
    CHECK_EQ_U64(r.extra.peak_bytes_ppm, 500000);
    CHECK_EQ_U64(r.extra.peak_flops_ppm, 200000);
    CHECK_EQ_U64(r.row.has, BITS);
    CHECK_STR_EQ(r.extra.bound, "memory");
}

TEST(rates, the_nearer_peak_is_the_bound) {
    struct rated r = on_the_gpu(row(1, 50, 1000, 4000), 1, 1000);
    rate(&r, 2000000000, 5000000000);
    CHECK_EQ_U64(r.extra.peak_bytes_ppm, 500000);
    CHECK_EQ_U64(r.extra.peak_flops_ppm, 800000);
    CHECK_STR_EQ(r.extra.bound, "compute");
}

TEST(rates, no_bound_unless_both_are_known) {
    struct rated one = on_the_gpu(row(1, 50, 1000, 0), 1, 1000);
    rate(&one, 2000000000, 5000000000);
    CHECK_EQ_U64(one.row.has, ROW_BYTES);
    CHECK_STR_EQ(one.extra.bound, "");
    struct rated unknown = on_the_gpu(row(1, 50, 1000, 1000), 1, 1000);
    rate(&unknown, 2000000000, 0);
    CHECK_EQ_U64(unknown.row.has, ROW_BYTES | ROW_FLOPS);
    CHECK_EQ_U64(unknown.extra.peak_bytes_ppm, 500000);
    CHECK(unknown.extra.peak_flops_ppm == ROW_UNKNOWN);
    CHECK_STR_EQ(unknown.extra.bound, "");
}

/* Recursive calls lie inside their outermost one, whose time is all there is. */
TEST(rates, recursive_calls) {
    struct rated r = row(1, 1000, 5000, 0);
    r.row.calls = 5;
    rate(&r, 0, 0);
    CHECK_EQ_U64(r.extra.bytes_per_s, 5000000000);
    r = on_the_gpu(r, 1, 2000);
    rate(&r, 0, 0);
    CHECK_EQ_U64(r.extra.bytes_per_s, 2500000000);
}

TEST(rates, nothing_to_divide_by) {
    struct rated open = row(0, 0, 1000, 1000);
    rate(&open, 1, 1);
    CHECK_EQ_U64(open.row.has, 0);
    struct rated late = on_the_gpu(row(0, 0, 1000, 1000), 1, 1000); /* after a reset */
    rate(&late, 1, 1);
    CHECK_EQ_U64(late.row.has, 0);
    struct rated instant = row(3, 0, 1000, 1000);
    rate(&instant, 1, 1);
    CHECK_EQ_U64(instant.row.has, 0);
    struct rated idle = row(3, 100, 0, 0);
    rate(&idle, 1, 1);
    CHECK_EQ_U64(idle.row.has, 0);
}

TEST(rates, too_large_for_a_number) {
    struct rated r = on_the_gpu(row(1, 1, UINT64_MAX, UINT64_MAX), 1, 1);
    rate(&r, 1, UINT64_MAX);
    CHECK_EQ_U64(r.extra.bytes_per_s, UINT64_MAX - 1);
    CHECK_EQ_U64(r.extra.peak_bytes_ppm, UINT64_MAX - 1);
    CHECK_EQ_U64(r.extra.peak_flops_ppm, 1000000);
}
