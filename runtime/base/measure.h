/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a scope besides its times, and how each is added up: gen/measures.ini. */
#ifndef STINT_MEASURE_H
#define STINT_MEASURE_H

#include <stdint.h>

#include "measure_ids.inc"

enum measure_add {
    MEASURE_SUM,   /* only grows */
    MEASURE_STATE, /* what is in use now */
    MEASURE_MOST   /* the largest ever */
};

struct measure_rule {
    enum measure_add add;
    int of_calls; /* of whole calls, with what is nested in them */
};

/* Consecutive measures. */
struct measure_range {
    uint16_t first;
    uint16_t count;
};

const struct measure_rule *measure_rule_of(enum measure m);
struct measure_range measure_range_of(enum measure_group group);

#endif
