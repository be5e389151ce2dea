/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sequential test of `stint ab`: pure functions from the changes of pairs to a verdict.
 */
#ifndef STINT_TOOL_DIFF_PAIRS_H
#define STINT_TOOL_DIFF_PAIRS_H

#include <stdint.h>

/* The mean change of the pairs (logarithm), and where the true one is. */
struct pairs_interval {
    double mean;
    double half; /* of the interval; < 0: the pairs are too few for one */
    double p;    /* of no change; valid at any number of pairs */
};

enum pairs_verdict { PAIRS_UNDECIDED, PAIRS_SLOWER, PAIRS_FASTER, PAIRS_WITHIN };

/* The interval after `count` pairs. With a probability of at least 1 - alpha the intervals after
 * all numbers of pairs contain the true change, so the caller may look after each pair and stop at
 * any. */
void pairs_compare(struct pairs_interval *out, const double *change, uint32_t count, double alpha);

/* SLOWER and FASTER: the interval excludes 0, and the mean is at least `least`. WITHIN: the whole
 * interval is nearer to 0 than `least`. */
enum pairs_verdict pairs_verdict(const struct pairs_interval *i, double least);

#endif
