/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "arithmetic.h"
#include "measure_table.inc"

const struct measure_rule *measure_rule_of(enum measure m) {
    return &measure_rules[m];
}

struct measure_range measure_range_of(enum measure_group group) {
    struct measure_list list = measure_lists[group];
    return (struct measure_range){list.number[0], (uint16_t)list.count};
}

struct measure_list measure_list_of(enum measure_group group) {
    return measure_lists[group];
}

uint32_t measure_group_with(uint16_t first) {
    uint32_t group = 0;
    while (group < MEASURE_GROUP_COUNT && measure_lists[group].number[0] != first) {
        ++group;
    }
    return group;
}

uint64_t measure_sum(enum measure m, uint64_t a, uint64_t b) {
    switch (measure_rule_of(m)->add) {
    case MEASURE_MOST:
        return u64_max(a, b);
    case MEASURE_TICKS:
        return a + b;
    default:
        return saturating_add(a, b);
    }
}
