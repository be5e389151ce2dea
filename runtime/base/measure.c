/* SPDX-License-Identifier: Apache-2.0 */
#include "measure.h"

#include "measure_table.inc"

struct measure_list measure_list_of(enum measure_group group) {
    return measure_lists[group];
}

struct measure_range measure_range_of(enum measure_group group) {
    struct measure_list list = measure_lists[group];
    return (struct measure_range){list.number[0], (uint16_t)list.count};
}

uint32_t measure_place_of(enum measure m) {
    return measure_places[m];
}

uint32_t measure_group_with(uint16_t first) {
    uint32_t group = 0;
    while (group < MEASURE_GROUP_COUNT && (measure_lists[group].place != MEASURES_IN_BLOCK ||
                                           measure_lists[group].number[0] != first)) {
        ++group;
    }
    return group;
}
