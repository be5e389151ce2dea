/* SPDX-License-Identifier: Apache-2.0 */
/* The groups of the numbers that only some scopes have: gen/records.ini. */
#ifndef STINT_MEASURE_H
#define STINT_MEASURE_H

#include <stdint.h>

#include "arithmetic.h" /* u128 */
#include "record_ids.inc"

/* The head of a group's block: the number of its first measure, which names the group, and how many
 * values there are. */
struct measure_range {
    uint16_t first;
    uint16_t count;
};

/* Where the values of a group lie in a run file. */
enum measure_place { MEASURES_IN_BLOCK, MEASURES_IN_NODE, MEASURES_IN_GPU };

/* The measures of a group, in the order of their values. */
struct measure_list {
    const uint16_t *number;
    uint32_t count;
    enum measure_place place;
};

struct measure_range measure_range_of(enum measure_group group);
struct measure_list measure_list_of(enum measure_group group);
/* The place of a number among the values of its group. */
uint32_t measure_place_of(enum measure m);
/* The group of a block that begins with this number. MEASURE_GROUP_COUNT if there is none. */
uint32_t measure_group_with(uint16_t first);

#endif
