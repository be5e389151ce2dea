/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points of a series: pure functions. The same values have the same result.
 */
#ifndef STINT_TOOL_TREND_MATH_H
#define STINT_TOOL_TREND_MATH_H

#include <stdint.h>

#define TREND_LEAST 8u   /* values that a series needs */
#define TREND_SIDE 3u    /* values on each side of a change */
#define TREND_ALPHA 0.01 /* the probability of any change in a series that has none */
#define TREND_CHANGES 64u

struct trend_change {
    uint32_t at;   /* the first value after it */
    double before; /* the median between the change before it and this one */
    double after;  /* the median from here to the next change */
    double p;      /* of a change so clear anywhere in the part of the series that was searched */
    uint32_t back; /* the change that undid it: its number + 1; 0 = it stayed */
};

/* Finds the changes of `n` values (logarithms), in order; their number, at most TREND_CHANGES.
 * work: room for 4 (n + 1) numbers. */
uint32_t trend_find(struct trend_change out[TREND_CHANGES], const double *value, uint32_t n,
                    double *work);

#endif
