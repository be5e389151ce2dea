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
struct scopes {
    SCOPE_SUMS_BY_NAME;
};
struct activity {
    ACTIVITY_BY_NAME;
};
struct activities {
    ACTIVITY_SUMS_BY_NAME;
};

#define WORD ((u128)1 << 64)

static struct scope scope_of(uint64_t count, uint64_t total, uint64_t min, uint64_t max) {
    struct scope s = {.number = {0}};
    s.count = count;
    s.total = total;
    s.min = min;
    s.max = max;
    return s;
}

static struct scopes scopes_of(struct scope one) {
    struct scopes sum;
    numbers_widen(&record_scope, sum.number, one.number);
    return sum;
}

TEST(records, a_sum_of_scopes_follows_the_rules) {
    struct scope a = scope_of(2, 30, 10, 20), b = scope_of(1, 5, 5, 5);
    struct scopes sum, one;
    a.first = 20, a.first_at = 700, a.max_at = 700;
    b.first = 5, b.first_at = 300, b.max_at = 300;
    a.recursions = 3;
    one = scopes_of(a);
    numbers_clear(&record_scope, sum.number);
    CHECK_EQ_U64(sum.min, UINT64_MAX);
    numbers_add(&record_scope, sum.number, a.number, 0);
    CHECK(!memcmp(&sum, &one, sizeof sum));
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

TEST(records, sums_of_sums_follow_the_rules) {
    struct scope a = scope_of(2, UINT64_MAX, 10, 20), b = scope_of(1, UINT64_MAX, 5, 50);
    a.first = 20, a.first_at = 700, a.max_at = 700;
    b.first = 5, b.first_at = 300, b.max_at = 300;
    struct scopes sum = scopes_of(a), more = scopes_of(b);
    numbers_add(&record_scope, more.number, b.number, 0);
    numbers_add_sums(&record_scope, sum.number, more.number);
    CHECK_EQ_U64(sum.count, 4);
    CHECK_EQ_U64(sum.total, 3 * (WORD - 1));
    CHECK_EQ_U64(sum.min, 5);
    CHECK_EQ_U64(sum.max, 50);
    CHECK_EQ_U64(sum.max_at, 300);
    CHECK_EQ_U64(sum.first, 5);
}

TEST(records, a_moment_of_0_is_none) {
    struct scope a = scope_of(1, 9, 9, 9), b = scope_of(1, 7, 7, 7);
    a.first = 9, a.first_at = 50;
    b.first = 7;
    struct scopes sum = scopes_of(a);
    numbers_add(&record_scope, sum.number, b.number, 0);
    CHECK_EQ_U64(sum.first, 9);
    CHECK_EQ_U64(sum.first_at, 50);
}

TEST(records, sums_have_more_than_64_bits) {
    struct scope a = scope_of(UINT64_MAX, UINT64_MAX, UINT64_MAX - 3, UINT64_MAX - 1), narrow;
    struct scopes sum;
    a.nested = a.recursions = UINT64_MAX;
    a.first = a.first_at = a.max_at = UINT64_MAX;
    numbers_clear(&record_scope, sum.number);
    for (int i = 0; i < 1000; ++i) {
        numbers_add(&record_scope, sum.number, a.number, 0);
    }
    CHECK_EQ_U64(sum.count, 1000 * (WORD - 1));
    CHECK_EQ_U64(sum.total, 1000 * (WORD - 1));
    CHECK_EQ_U64(sum.nested, 1000 * (WORD - 1));
    CHECK_EQ_U64(sum.recursions, 1000 * (WORD - 1));
    CHECK_EQ_U64(sum.min, UINT64_MAX - 3);
    CHECK_EQ_U64(sum.max, UINT64_MAX - 1);
    CHECK_EQ_U64(sum.first, UINT64_MAX);
    CHECK_EQ_U64(sum.first_at, UINT64_MAX);
    CHECK_EQ_U64(sum.max_at, UINT64_MAX);
    numbers_narrow(&record_scope, narrow.number, sum.number);
    CHECK_EQ_U64(narrow.count, UINT64_MAX / 2); /* it is stored twice as large */
    CHECK_EQ_U64(narrow.total, UINT64_MAX);
    CHECK_EQ_U64(narrow.min, UINT64_MAX - 3);
}

/* The largest sums that a record has room for, and one more. */
TEST(records, a_record_has_room_for_64_bits) {
    struct scope a = scope_of(0, 0, UINT64_MAX, 0), b = a;
    for (uint32_t i = 0; i < SCOPE_NUMBERS; ++i) {
        int is_sum =
            i == SCOPE_COUNT || i == SCOPE_TOTAL || i == SCOPE_NESTED || i == SCOPE_RECURSIONS;
        uint64_t most = i == SCOPE_COUNT ? UINT64_MAX / 2 : UINT64_MAX;
        struct scope x = a, y = b;
        x.number[i] = most - 7;
        y.number[i] = 7;
        CHECK(numbers_fit(&record_scope, x.number, y.number));
        y.number[i] = 8;
        CHECK(numbers_fit(&record_scope, x.number, y.number) == !is_sum);
    }
}

TEST(records, a_call_inside_one_of_its_name_adds_its_own_numbers) {
    struct scope b = scope_of(1, 40, 40, 40);
    struct scopes sum = scopes_of(scope_of(1, 100, 100, 100));
    b.recursions = 2;
    numbers_add(&record_scope, sum.number, b.number, OF_CALLS);
    CHECK_EQ_U64(sum.count, 1);
    CHECK_EQ_U64(sum.total, 100);
    CHECK_EQ_U64(sum.recursions, 2);
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
    struct activities sum;
    a.squares = 2.5;
    b.squares = 0.25;
    numbers_widen(&record_activity, sum.number, a.number);
    numbers_add(&record_activity, sum.number, b.number, 0);
    CHECK(sum.squares > 2.7499 && sum.squares < 2.7501);
    a.squares = b.squares = 1e300; /* of any size */
    CHECK(numbers_fit(&record_activity, a.number, b.number));
    numbers_narrow(&record_activity, a.number, sum.number);
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
    struct measures none = {.groups = 0}, more = none, empty = none, narrow;
    struct measure_sums sum = {.groups = 0};
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
    measures_narrow(&narrow, &sum);
    CHECK_EQ_U64(narrow.groups, sum.groups);
    measures_subtract(&narrow, &more);
    CHECK_EQ_U64(narrow.gpu_calls, 0);
    CHECK_EQ_U64(narrow.bytes, 5);
    CHECK_EQ_U64(narrow.gpu_max_ns, 50);
}

TEST(records, sums_of_groups_have_more_than_64_bits) {
    struct measures more = {.groups = 1u << MEASURE_GROUP_DECLARED};
    struct measure_sums sum = {.groups = 0};
    struct measures narrow;
    more.bytes = more.flops = UINT64_MAX;
    for (int i = 0; i < 18; ++i) {
        measures_add(&sum.groups, sum.measure, &more, 0);
    }
    CHECK_EQ_U64(sum.bytes, 18 * (WORD - 1));
    CHECK_EQ_U64(sum.flops, 18 * (WORD - 1));
    measures_narrow(&narrow, &sum);
    CHECK_EQ_U64(narrow.flops, UINT64_MAX);
}

TEST(records, a_group_of_a_file_is_added_to_where_it_has_room) {
    struct measures have = {.groups = 0}, more = {.groups = 1u << MEASURE_GROUP_DECLARED};
    more.bytes = 3;
    more.flops = UINT64_MAX - 5;
    CHECK(measures_group_fits(&have, MEASURE_GROUP_DECLARED, &more));
    measures_group_add(&have, MEASURE_GROUP_DECLARED, &more);
    CHECK_EQ_U64(have.flops, UINT64_MAX - 5);
    more.flops = 5;
    CHECK(measures_group_fits(&have, MEASURE_GROUP_DECLARED, &more));
    more.flops = 6;
    CHECK(!measures_group_fits(&have, MEASURE_GROUP_DECLARED, &more));
    measures_group_add(&have, MEASURE_GROUP_DECLARED, &more);
    CHECK_EQ_U64(have.bytes, 6);
    CHECK_EQ_U64(have.flops, UINT64_MAX);
}

TEST(records, a_time_in_ticks_may_be_below_0) {
    struct measures a = {.groups = 1u << MEASURE_GROUP_RECURSION}, b = a, least = a;
    struct measure_sums sum = {.groups = 0};
    uint64_t *ticks = &a.measure[MEASURE_INNER_TICKS];
    *ticks = 5;
    b.measure[MEASURE_INNER_TICKS] = (uint64_t)-8;
    least.measure[MEASURE_INNER_TICKS] = (uint64_t)INT64_MIN;
    measures_add(&sum.groups, sum.measure, &a, 0);
    measures_add(&sum.groups, sum.measure, &b, 0);
    CHECK_EQ_U64(sum.measure[MEASURE_INNER_TICKS], (u128)-3);
    measures_narrow(&a, &sum);
    CHECK_EQ_U64(*ticks, (uint64_t)-3);
    measures_subtract(&a, &b);
    CHECK_EQ_U64(*ticks, 5);
    *ticks = (uint64_t)-1;
    CHECK(!measures_group_fits(&a, MEASURE_GROUP_RECURSION, &least));
    measures_group_add(&a, MEASURE_GROUP_RECURSION, &least);
    CHECK_EQ_U64(*ticks, (uint64_t)INT64_MIN);
    *ticks = (uint64_t)INT64_MAX;
    CHECK(!measures_group_fits(&a, MEASURE_GROUP_RECURSION, &a));
    CHECK(measures_group_fits(&a, MEASURE_GROUP_RECURSION, &least));
    measures_group_add(&a, MEASURE_GROUP_RECURSION, &a);
    CHECK_EQ_U64(*ticks, (uint64_t)INT64_MAX);
}
