/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a scope besides its times, and how each is added up: gen/measures.ini. */
#ifndef STINT_MEASURE_H
#define STINT_MEASURE_H

#include <stdint.h>

#include "measure_ids.inc"

enum measure_add {
    MEASURE_SUM,   /* only grows */
    MEASURE_STATE, /* what is in use now */
    MEASURE_MOST,  /* the largest ever */
    MEASURE_TICKS  /* a time in ticks, modulo 2^64: it may be below 0 */
};

struct measure_rule {
    enum measure_add add;
    int of_calls;   /* of whole calls, with what is nested in them */
    uint32_t place; /* in the block of its group */
};

/* The head of a group's block: the number of its first measure, which names the group, and how many
 * values there are. */
struct measure_range {
    uint16_t first;
    uint16_t count;
};

/* The measures of a group, in the order of their values. */
struct measure_list {
    const uint16_t *number;
    uint32_t count;
};

const struct measure_rule *measure_rule_of(enum measure m);
/* Combines two numbers of one measure into that of both together. */
uint64_t measure_sum(enum measure m, uint64_t a, uint64_t b);
struct measure_range measure_range_of(enum measure_group group);
struct measure_list measure_list_of(enum measure_group group);
/* The group of a block that begins with this number. MEASURE_GROUP_COUNT if there is none. */
uint32_t measure_group_with(uint16_t first);

#endif
