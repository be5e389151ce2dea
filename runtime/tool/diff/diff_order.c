/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much wider the interval of a difference between two sides is because of the order of their
 * runs. diff.c has the runs sorted once, and asks for each number that it compares.
 *
 * A machine drifts: a run is like the runs before and after it. If the sides alternate, both have
 * the same drift, and it cancels. If one side runs after the other, drift looks like a change, and
 * the runs of a side, which are alike, do not show how large it is. The share of drift in the
 * variance of a run is not known, and few runs hardly show it. So the interval is an average over
 * six models: drift is 0, 1/5, ... 5/5 of the variance, and neighbours have a correlation of 0.95
 * in it. The weight of a model is its restricted likelihood, by how the runs of a side follow each
 * other: where neighbours differ as much as distant runs do, models with less drift weigh more.
 */
#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "diff.h"

#define NEIGHBOURS 0.95 /* correlation of the drift of two runs at the usual distance */
#define SHORTEST 0.1    /* a shorter distance, in usual ones, counts as this */
#define MODELS 6u
#define MARGIN 1.2     /* of the interval: drift has other forms, too, steps for example */
#define ROUNDING 1e-16 /* a variance below this part of the squared values is none */
#define HALVINGS 24    /* of the range of possible intervals */
#define OUTSIDE 0.05   /* the interval is one of 95 % */

double diff_order_kept(double distance) {
    return pow(NEIGHBOURS, double_max(distance, SHORTEST));
}

/* Sums of the correlations of pairs of runs, if all of their variance is drift. */
struct pairs_alike {
    double runs[2];
    double within[2]; /* pairs of runs of one side */
    double between;
};

static struct pairs_alike sum_pairs_alike(const struct diff_ordered *run, uint32_t count) {
    struct pairs_alike p = {{0, 0}, {0, 0}, 0};
    double before[2] = {0, 0};
    for (uint32_t i = 0; i < count; ++i) {
        int side = run[i].side;
        before[0] *= run[i].kept;
        before[1] *= run[i].kept;
        p.within[side] += before[side];
        p.between += before[!side];
        ++before[side];
        ++p.runs[side];
    }
    return p;
}

/* The variance of the mean of a side, in variances of a run, of which `share` is drift. */
static double mean_variance(const struct pairs_alike *p, int side, double share) {
    return (1 + 2 * share * p->within[side] / p->runs[side]) / p->runs[side];
}

static double difference_variance(const struct pairs_alike *p, double share) {
    double common = share * p->between / p->runs[0] / p->runs[1];
    return mean_variance(p, 0, share) + mean_variance(p, 1, share) - 2 * common;
}

int diff_order_cancels(const struct diff_ordered *run, uint32_t count) {
    struct pairs_alike p = sum_pairs_alike(run, count);
    double seen = 0; /* the variance of a run that the differences within the sides show */
    if (count < 3 || p.runs[0] < 1 || p.runs[1] < 1) {
        return 0;
    }
    for (int side = 0; side < 2; ++side) {
        seen += p.runs[side] * (1 - mean_variance(&p, side, 1)) / (count - 2.0);
    }
    return difference_variance(&p, 1) <= seen * difference_variance(&p, 0);
}

/* Sums of products of three columns in which neighbours are not correlated any more: the values,
 * and 1 for the runs of side 0 and of side 1. */
struct products {
    double sum[3][3];
    double log_variance; /* sum over the runs */
};

/* A Kalman filter: a step predicts the drift of a run from the runs before it, and leaves what was
 * not predicted. */
static void products_fill(struct products *out, const struct diff_ordered *run, uint32_t count,
                          double share) {
    double drift[3] = {0, 0, 0}, variance = share;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < count; ++i) {
        double column[3] = {run[i].value - run[0].value, !run[i].side, run[i].side};
        double kept = run[i].kept;
        variance = kept * kept * variance + (1 - kept * kept) * share;
        double all = variance + 1 - share;
        for (int k = 0; k < 3; ++k) {
            drift[k] *= kept;
            column[k] -= drift[k];
            drift[k] += column[k] * variance / all;
            for (int l = 0; l <= k; ++l) {
                out->sum[k][l] += column[k] * column[l] / all;
            }
        }
        variance -= variance * variance / all;
        out->log_variance += log(all);
    }
}

struct model {
    double weight; /* logarithm of the likelihood */
    double error;  /* standard error of the difference */
};

/* Returns whether the values differ. */
static int model_fit(struct model *out, const struct diff_ordered *run, uint32_t count,
                     double share) {
    struct products p;
    struct pairs_alike pairs = sum_pairs_alike(run, count);
    products_fill(&p, run, count, share);
    double xa = p.sum[1][0], xb = p.sum[2][0];
    double aa = p.sum[1][1], ab = p.sum[2][1], bb = p.sum[2][2];
    double sides = aa * bb - ab * ab, freedom = count - 2.0;
    double rest = p.sum[0][0] - (xa * xa * bb - 2 * xa * xb * ab + xb * xb * aa) / sides;
    if (!(rest > ROUNDING * p.sum[0][0])) {
        return 0;
    }
    out->weight = -(p.log_variance + log(sides) + freedom * log(rest)) / 2;
    out->error = sqrt(difference_variance(&pairs, share) * rest / freedom);
    return 1;
}

/* The probability that the difference is off by more than `half`. */
static double find_outside(const struct model m[MODELS], double half, double freedom) {
    double sum = 0, weights = 0, best = m[0].weight;
    for (uint32_t i = 1; i < MODELS; ++i) {
        best = double_max(best, m[i].weight);
    }
    for (uint32_t i = 0; i < MODELS; ++i) {
        double weight = exp(m[i].weight - best);
        sum += weight * diff_student_p(half / m[i].error, freedom);
        weights += weight;
    }
    return sum / weights;
}

double diff_order_widen(const struct diff_ordered *run, uint32_t count) {
    struct model m[MODELS];
    double freedom = count - 2.0, t = diff_student_t(OUTSIDE, freedom), from = 0, to = 0;
    if (diff_order_cancels(run, count)) {
        return 1;
    }
    for (uint32_t i = 0; i < MODELS; ++i) {
        if (!model_fit(&m[i], run, count, (double)i / (MODELS - 1))) {
            return 1;
        }
        to = double_max(to, t * m[i].error);
    }
    for (int i = 0; i < HALVINGS; ++i) {
        double half = (from + to) / 2;
        if (find_outside(m, half, freedom) > OUTSIDE) {
            from = half;
        } else {
            to = half;
        }
    }
    return double_max(MARGIN * to / (t * m[0].error), 1);
}

/* ---- The runs of a comparison. */

static int is_started_before(const void *what, uint32_t a, uint32_t b) {
    const struct diff_place *given = what;
    return given[a].start < given[b].start;
}

int diff_order_find(struct diff *d) {
    uint32_t count = d->runs[0] + d->runs[1];
    struct diff_place *given = scratch_array(&d->memory, count, sizeof *given);
    double *distance = scratch_array(&d->memory, count, sizeof *distance);
    d->order = scratch_array(&d->memory, count, sizeof *d->order);
    d->ordered = scratch_array(&d->memory, count, sizeof *d->ordered);
    if (!given || !distance || !d->order || !d->ordered) {
        return -1;
    }
    for (uint32_t i = 0; i < count; ++i) {
        int side = i >= d->runs[0];
        uint32_t number = side ? i - d->runs[0] : i;
        given[i] = (struct diff_place){d->run[side][number].start_real_ns, 0, number, side};
    }
    uint32_t *order = order_by(&d->memory, count, is_started_before, given);
    if (!order) {
        return -1;
    }
    d->order_is_known = given[order[0]].start != 0;
    for (uint32_t i = 1; i < count; ++i) {
        d->order_is_known &= given[order[i]].start > given[order[i - 1]].start;
    }
    for (uint32_t i = 0; i < count; ++i) {
        d->order[i] = given[d->order_is_known ? order[i] : i];
        d->order[i].at = d->order_is_known ? (double)(d->order[i].start - d->order[0].start) : i;
        distance[i] = i ? d->order[i].at - d->order[i - 1].at : 0;
    }
    double usual = double_max(diff_median(distance + 1, count - 1), 1);
    for (uint32_t i = 0; i < count; ++i) {
        d->order[i].at /= usual;
        d->ordered[i].side = d->order[i].side;
        d->ordered[i].kept = i ? diff_order_kept(d->order[i].at - d->order[i - 1].at) : 0;
    }
    d->alternated = diff_order_cancels(d->ordered, count);
    return 0;
}
