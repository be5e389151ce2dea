/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of `stint diff`: pure functions over histograms and small samples.
 */
#ifndef STINT_TOOL_DIFF_MATH_H
#define STINT_TOOL_DIFF_MATH_H

#include <stdint.h>

#include "base/histogram.h"

struct diff_histogram {
    const struct histogram_bucket *bucket; /* the lowest first */
    uint32_t used;
    double unit; /* nanoseconds per tick */
};

double diff_count(const struct diff_histogram *h);
/* The value that `share` of the samples do not exceed; within a bucket they are assumed to be
 * evenly spread. */
double diff_percentile(const struct diff_histogram *h, double share);
/* The mean of the fastest `share` of them; scaled so that the mean of all is `mean`, which is known
 * exactly where buckets are 6 % wide. */
double diff_fastest(const struct diff_histogram *h, double share, double mean);
/* The squared relative error of the mean of the fastest `share` of the samples. */
double diff_mean_error(const struct diff_histogram *h, double share);

/* Two-sided p of the rank test (Mann-Whitney, ties counted half, normal approximation): whether a
 * sample of one side is larger than one of the other more often than not. 1 with fewer than
 * DIFF_RANKS on a side. */
#define DIFF_RANKS 8.0
double diff_rank_p(const struct diff_histogram *a, uint32_t a_count, const struct diff_histogram *b,
                   uint32_t b_count);

/* Welch's test on the means of two small samples. `error`: the variance that a value has at least.
 */
struct diff_welch {
    double difference; /* mean b - mean a */
    double error;      /* its standard error */
    double freedom;
};
void diff_welch(struct diff_welch *out, const double *a, uint32_t a_count, const double *b,
                uint32_t b_count, double error);
/* Two-sided p of Student's t. */
double diff_student_p(double t, double freedom);
/* The t that p belongs to. */
double diff_student_t(double p, double freedom);

/* About how many more runs per side decide a change of that size (logarithm): a change of `least`
 * or more is then significant, a smaller one within 2.5 times `least`. error: half of its 95 %
 * interval with `runs` runs per side. At least 1. */
double diff_more_runs(double size, double error, double runs, double least);

/* Sorts. 0 if count is 0. */
double diff_median(double *values, uint32_t count);
/* The largest p that may be called a finding if a share of `q` false ones among the findings is
 * accepted (Benjamini and Hochberg); -1: none. Sorts. */
double diff_finding_p(double *p, uint32_t count, double q);

/* ---- diff_order.c: the order of the runs. */

/* A run with a value, one after the other as they started. */
struct diff_ordered {
    double value;
    double kept; /* the correlation of its drift with the drift of the run before */
    int side;
};

/* The correlation over that distance in time, in usual distances of runs. */
double diff_order_kept(double distance);
/* Whether drift cancels, rather than adds to the difference of the sides. Values do not matter. */
int diff_order_cancels(const struct diff_ordered *run, uint32_t count);
/* By what factor the 95 % interval of the difference of the sides' means is wider than for
 * independent runs: 1 where drift cancels. At least two runs per side. */
double diff_order_widen(const struct diff_ordered *run, uint32_t count);

/* ---- diff_pairs.c: the sequential test of `stint ab`: pure functions from the changes of pairs
 * to a verdict. */

/* The mean change of the pairs (logarithm), and where the true one is. */
struct pairs_interval {
    double mean;
    double half;  /* of the interval; < 0: the pairs are too few for one */
    double p;     /* of no change; valid at any number of pairs */
    double error; /* standard error of the mean */
};

/* The probability of so many pairs with more on side 1 and with more on side 0 if neither is more
 * likely; valid at any number of pairs. */
double pairs_sign_p(uint32_t up, uint32_t down);

enum pairs_verdict { PAIRS_UNDECIDED, PAIRS_SLOWER, PAIRS_FASTER, PAIRS_WITHIN };

/* The interval after `count` pairs. With a probability of at least 1 - alpha the intervals after
 * all numbers of pairs contain the true change, so the caller may look after each pair and stop at
 * any. zeros: many differences may be equal or 0; none is moved, and the interval excludes 0 only
 * if the signs alone do. */
void pairs_compare(struct pairs_interval *out, const double *change, uint32_t count, double alpha,
                   int zeros);

/* SLOWER and FASTER: the interval excludes 0, and the mean is at least `least`. WITHIN: the whole
 * interval is nearer to 0 than `least`. */
enum pairs_verdict pairs_verdict(const struct pairs_interval *i, double least);

#endif
