/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The straight lines through all of a number of vertical intervals: what two clocks that run at
 * constant rates can differ by, if each interval holds their difference at one moment.
 */
#ifndef STINT_ALIGN_LINES_H
#define STINT_ALIGN_LINES_H

#include <stdint.h>

/* At a time in seconds, a difference in nanoseconds: between low and high, and probably near
 * `likely`. */
struct align_point {
    double at;
    double low;
    double high;
    double likely;
    double enter; /* the difference if the ranks had come together: not used here */
};

struct align_line {
    double offset; /* at 0 */
    double rate;   /* nanoseconds per second */
};

/* The clocks run so much apart, and not quite at constant rates; a clock's rate is measured as
 * exactly as this at worst. */
#define ALIGN_RATE_MOST 2e6       /* nanoseconds per second */
#define ALIGN_WIGGLE_NS 1000.0    /* so much from a line, */
#define ALIGN_WIGGLE_PER_S 1000.0 /* and this per second between the first and the last point */

/* The line nearest to the likely differences, and how far another one that passes through all
 * intervals is from it at most, between the times `from` and `to`. 0, or -1: there is none. */
int align_fit(struct align_line *out, double *error, const struct align_point *point,
              uint32_t count, double from, double to);

#endif
