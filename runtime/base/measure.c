/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "measure_table.inc"

const struct measure_rule *measure_rule_of(enum measure m) {
    return &measure_rules[m];
}

struct measure_range measure_range_of(enum measure_group group) {
    return measure_ranges[group];
}
