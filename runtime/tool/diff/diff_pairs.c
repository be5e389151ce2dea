/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_math.h"

#include <math.h>
#include <stdlib.h>

#include "base/arithmetic.h"

/* The variance of the prior, in variances of a pair: the test is the most powerful for changes of
 * about three standard deviations of a pair, and loses little for smaller ones. */
#define PRIOR 10.0
/* Pairs that agree by accident, or by a coarse clock, are not more certain than this. */
#define LEAST_DEVIATION 1e-4
/* A pair is moved to so many robust standard deviations from the median: a run that was preempted
 * for long shows nothing about the program, and would hide a change for the rest of the test. */
#define FURTHEST 5.0
#define CLIP_LEAST 8u /* fewer pairs do not show what is far */
#define MAD_TO_SIGMA 1.4826

struct moments {
    double mean;
    double deviation;
};

static void sum_pairs(struct moments *out, const double *v, uint32_t n, double low, double high) {
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += double_min(double_max(v[i], low), high);
    }
    out->mean = sum / n;
    for (uint32_t i = 0; i < n; ++i) {
        double off = double_min(double_max(v[i], low), high) - out->mean;
        squares += off * off;
    }
    out->deviation = double_max(sqrt(squares / double_max((double)n - 1, 1)), LEAST_DEVIATION);
}

/* The range that pairs are moved to; all numbers with few pairs or without memory. */
static void find_range(const double *change, uint32_t n, double *low, double *high) {
    double *copy = NULL;
    *low = -INFINITY;
    *high = INFINITY;
    if (n >= CLIP_LEAST) {
        copy = malloc(n * sizeof *copy);
    }
    if (!copy) {
        return;
    }
    for (uint32_t i = 0; i < n; ++i) {
        copy[i] = change[i];
    }
    double middle = diff_median(copy, n);
    for (uint32_t i = 0; i < n; ++i) {
        copy[i] = fabs(change[i] - middle);
    }
    double spread = MAD_TO_SIGMA * diff_median(copy, n);
    if (spread > LEAST_DEVIATION) {
        *low = middle - FURTHEST * spread;
        *high = middle + FURTHEST * spread;
    }
    free(copy);
}

/*
 * The sequential t-test with a normal prior on the standardised change (Lai 1976): the likelihood
 * ratio
 *     r^(-1/2) * ((1 + t^2 / v) / (1 + t^2 / (v r)))^(n/2),   r = 1 + n PRIOR,   v = n - 1
 * of scale-invariant data is a martingale without a change, so it reaches 1/alpha at any time with
 * a probability of alpha at most. The interval has the changes for which it is below 1/alpha.
 */
static void compare_moments(struct pairs_interval *out, const struct moments *m, uint32_t count,
                            double alpha) {
    double n = count;
    *out = (struct pairs_interval){.mean = m->mean, .half = -1, .p = 1};
    if (count < 2) {
        return;
    }
    double freedom = n - 1, r = 1 + n * PRIOR, error = m->deviation / sqrt(n);
    double t = m->mean / error;
    double ratio = (n * (log1p(t * t / freedom) - log1p(t * t / freedom / r)) - log(r)) / 2;
    out->error = error;
    out->p = double_min(exp(-ratio), 1);
    double k = exp((log(r) - 2 * log(alpha)) / n);
    if (k < r) {
        out->half = sqrt(freedom * (k - 1) / (1 - k / r)) * error;
    }
}

/*
 * Bets on the next sign: a share of the wealth that is won or lost, on one side and on the other.
 * While the signs are as likely as each other, the wealth is a martingale that begins with 1.
 */
static double bet_on_signs(double share, double up, double down) {
    double one = up * log1p(share) + down * log1p(-share);
    double other = down * log1p(share) + up * log1p(-share);
    return (exp(one) + exp(other)) / 2;
}

/* The larger share wins soonest if all signs are the same, the smaller one if most are. */
double pairs_sign_p(uint32_t up, uint32_t down) {
    double wealth = 0.85 * bet_on_signs(0.9, up, down) + 0.15 * bet_on_signs(0.45, up, down);
    return double_min(1 / wealth, 1);
}

/* The interval excludes 0 only if the signs alone do. */
static void widen_by_signs(struct pairs_interval *out, const double *change, uint32_t count,
                           double alpha) {
    uint32_t up = 0, down = 0;
    for (uint32_t i = 0; i < count; ++i) {
        up += change[i] > 0;
        down += change[i] < 0;
    }
    double p = pairs_sign_p(up, down);
    out->p = double_max(out->p, p);
    if (out->half >= 0 && p > alpha) {
        out->half = double_max(out->half, fabs(out->mean));
    }
}

void pairs_compare(struct pairs_interval *out, const double *change, uint32_t count, double alpha,
                   int zeros) {
    struct moments m = {0, 0};
    double low, high;
    find_range(change, zeros ? 0 : count, &low, &high);
    if (count) {
        sum_pairs(&m, change, count, low, high);
    }
    compare_moments(out, &m, count, alpha);
    if (zeros) {
        widen_by_signs(out, change, count, alpha);
    }
}

enum pairs_verdict pairs_verdict(const struct pairs_interval *i, double least) {
    double size = fabs(i->mean);
    if (i->half < 0) {
        return PAIRS_UNDECIDED;
    }
    if (size > i->half && size >= least) {
        return i->mean > 0 ? PAIRS_SLOWER : PAIRS_FASTER;
    }
    return size + i->half < least ? PAIRS_WITHIN : PAIRS_UNDECIDED;
}
