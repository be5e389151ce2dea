/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of gen/records.ini: what two records have together, and what an earlier reading had. */
#include "model/records.h"

#include <string.h>

#include "arena/arena.h"
#include "base/arithmetic.h"
#include "harness.h"

struct scope {
    SCOPE_BY_NAME;
};
struct activity {
    ACTIVITY_BY_NAME;
};

static struct scope scope_of(uint64_t count, uint64_t total, uint64_t min, uint64_t max) {
    struct scope s = {.number = {0}};
    s.count = count;
    s.total = total;
    s.min = min;
    s.max = max;
    return s;
}

TEST(records, a_sum_of_scopes_follows_the_rules) {
    struct scope sum, a = scope_of(2, 30, 10, 20), b = scope_of(1, 5, 5, 5);
    a.first = 20, a.first_at = 700, a.max_at = 700;
    b.first = 5, b.first_at = 300, b.max_at = 300;
    a.recursions = 3;
    numbers_clear(&record_scope, sum.number);
    CHECK_EQ_U64(sum.min, UINT64_MAX);
    numbers_add(&record_scope, sum.number, a.number, 0);
    CHECK(!memcmp(&sum, &a, sizeof sum));
    numbers_add(&record_scope, sum.number, b.number, 0);
    CHECK_EQ_U64(sum.count, 3);
    CHECK_EQ_U64(sum.total, 35);
    CHECK_EQ_U64(sum.min, 5);
    CHECK_EQ_U64(sum.max, 20);
    CHECK_EQ_U64(sum.max_at, 700);
    CHECK_EQ_U64(sum.first, 5);
    CHECK_EQ_U64(sum.first_at, 300);
    CHECK_EQ_U64(sum.recursions, 3);
}

TEST(records, a_moment_of_0_is_none) {
    struct scope a = scope_of(1, 9, 9, 9), b = scope_of(1, 7, 7, 7);
    a.first = 9, a.first_at = 50;
    b.first = 7;
    numbers_add(&record_scope, a.number, b.number, 0);
    CHECK_EQ_U64(a.first, 9);
    CHECK_EQ_U64(a.first_at, 50);
}

TEST(records, sums_stay_at_the_largest_number) {
    struct scope a = scope_of(1, UINT64_MAX - 1, 1, 1), b = scope_of(1, 5, 1, 1);
    numbers_add(&record_scope, a.number, b.number, 0);
    CHECK_EQ_U64(a.total, UINT64_MAX);
}

TEST(records, a_call_inside_one_of_its_name_adds_its_own_numbers) {
    struct scope a = scope_of(1, 100, 100, 100), b = scope_of(1, 40, 40, 40);
    b.recursions = 2;
    numbers_add(&record_scope, a.number, b.number, OF_CALLS);
    CHECK_EQ_U64(a.count, 1);
    CHECK_EQ_U64(a.total, 100);
    CHECK_EQ_U64(a.recursions, 2);
}

TEST(records, an_earlier_reading_is_subtracted_from_sums_alone) {
    struct scope now = scope_of(5, 100, 3, 60), then = scope_of(2, 30, 10, 20);
    numbers_subtract(&record_scope, now.number, then.number);
    CHECK_EQ_U64(now.count, 3);
    CHECK_EQ_U64(now.total, 70);
    CHECK_EQ_U64(now.min, 3);
    CHECK_EQ_U64(now.max, 60);
    numbers_subtract(&record_scope, now.number, scope_of(9, 0, 0, 0).number);
    CHECK_EQ_U64(now.count, 0);
}

TEST(records, squares_are_doubles) {
    struct activity a = {.number = {0}}, b = a;
    a.squares = 2.5;
    b.squares = 0.25;
    numbers_add(&record_activity, a.number, b.number, 0);
    CHECK(a.squares > 2.7499 && a.squares < 2.7501);
    b.squares = 7;
    numbers_subtract(&record_activity, a.number, b.number);
    CHECK(!(a.squares > 0) && !(a.squares < 0));
}

TEST(records, a_record_of_a_file_comes_back) {
    struct stint_impl_node node = {.seq = 7, .total = 1, .bytes = 5, .flops = 6};
    struct arena_activity file = {.seq = 0};
    struct scope s;
    struct activity a, same;
    numbers_load(&record_scope, s.number, &node);
    CHECK_EQ_U64(s.count, 4); /* the fourth is being written */
    CHECK_EQ_U64(s.total, 1);
    for (uint32_t i = 0; i < ACTIVITY_NUMBERS; ++i) {
        a.number[i] = 1000 + i;
    }
    a.squares = 0.5;
    a.byte_squares = 8;
    numbers_store(&record_activity, a.number, &file);
    CHECK_EQ_U64(file.seq, 2 * a.count);
    CHECK_EQ_U64(file.delay_total, a.delay_total);
    numbers_load(&record_activity, same.number, &file);
    CHECK(!memcmp(&same, &a, sizeof same));
    a.count = (uint64_t)1 << 63; /* more than a sequence word counts */
    numbers_store(&record_activity, a.number, &file);
    CHECK_EQ_U64(file.seq, UINT64_MAX - 1);
}

TEST(records, damaged_squares_are_0) {
    struct arena_activity file = {.squares = UINT64_MAX};
    struct activity a;
    numbers_load(&record_activity, a.number, &file);
    CHECK_EQ_U64(a.number[ACTIVITY_SQUARES], 0);
}

TEST(records, groups_that_only_one_has_are_taken_as_they_are) {
    struct stint_impl_node node = {.bytes = 5, .flops = 6};
    struct arena_gpu gpu = {.seq = 4, .total = 90, .min = 40, .max = 50};
    struct measures none = {.groups = 0}, sum = none, more = none, empty = none;
    measures_load(&more, MEASURE_GROUP_DECLARED, &node, MEASURES_OF_DECLARED);
    measures_load(&more, MEASURE_GROUP_GPU, &gpu, MEASURES_OF_GPU);
    measures_load(&empty, MEASURE_GROUP_GPU, &(struct arena_gpu){.min = UINT64_MAX},
                  MEASURES_OF_GPU);
    CHECK(!measures_any(&none) && !measures_any(&empty) && measures_any(&more));
    measures_add(&sum.groups, sum.measure, &empty, 0);
    measures_add(&sum.groups, sum.measure, &more, 0);
    CHECK_EQ_U64(sum.gpu_min_ns, 40);
    measures_add(&sum.groups, sum.measure, &more, OF_GPU);
    CHECK_EQ_U64(sum.gpu_calls, 2);
    CHECK_EQ_U64(sum.gpu_total_ns, 90);
    CHECK_EQ_U64(sum.bytes, 10);
    CHECK_EQ_U64(sum.flops, 12);
    measures_subtract(&sum, &more);
    CHECK_EQ_U64(sum.gpu_calls, 0);
    CHECK_EQ_U64(sum.bytes, 5);
    CHECK_EQ_U64(sum.gpu_max_ns, 50);
}

TEST(records, a_time_in_ticks_may_be_below_0) {
    struct measures a = {.groups = 1u << MEASURE_GROUP_RECURSION}, b = a;
    a.measure[MEASURE_INNER_TICKS] = 5;
    b.measure[MEASURE_INNER_TICKS] = (uint64_t)-8;
    measures_add(&a.groups, a.measure, &b, 0);
    CHECK_EQ_U64(a.measure[MEASURE_INNER_TICKS], (uint64_t)-3);
    measures_subtract(&a, &b);
    CHECK_EQ_U64(a.measure[MEASURE_INNER_TICKS], 5);
}
