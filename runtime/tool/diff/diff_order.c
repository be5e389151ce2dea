/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much wider the interval of a difference between two sides is because of the order of their
 * runs. diff.c has the runs sorted once, and asks for each number that it compares.
 *
 * A machine drifts: a run is like the runs before and after it. If the sides alternate, both have
 * the same drift, and it cancels. If one side runs after the other, drift looks like a change, and
 * the runs of a side, which are alike, do not show how large it is. The share of drift in the
 * variance of a run is not known, and few runs hardly show it. So its square is an average over
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

double diff_order_kept(double distance) {
    return pow(NEIGHBOURS, double_max(distance, SHORTEST));
}

/* How the order acts on the difference of the sides' means, in variances of a run. */
struct order_sums {
    double noise; /* its variance if runs are independent */
    double drift; /* if all of the variance is drift */
    double seen;  /* in that case: the variance that the runs of a side show */
};

static struct order_sums sum_order(const struct diff_ordered *run, uint32_t count) {
    double runs[2] = {0, 0}, before[2] = {0, 0}, hidden = 2;
    for (uint32_t i = 0; i < count; ++i) {
        ++runs[run[i].side];
    }
    double noise = 1 / runs[0] + 1 / runs[1], drift = noise;
    for (uint32_t i = 0; i < count; ++i) {
        int side = run[i].side;
        before[0] *= run[i].kept;
        before[1] *= run[i].kept;
        drift += 2 * (before[side] / runs[side] - before[!side] / runs[!side]) / runs[side];
        hidden += 2 * before[side] / runs[side];
        ++before[side];
    }
    return (struct order_sums){noise, drift, (count - hidden) / double_max(count - 2.0, 1)};
}

static int drift_cancels(const struct order_sums *s) {
    return s->drift <= s->seen * s->noise;
}

int diff_order_cancels(const struct diff_ordered *run, uint32_t count) {
    struct order_sums s = sum_order(run, count);
    return drift_cancels(&s);
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
    double rest;   /* the variance of a run, besides the difference */
};

/* Returns whether the values differ. */
static int model_fit(struct model *out, const struct diff_ordered *run, uint32_t count,
                     double share) {
    struct products p;
    products_fill(&p, run, count, share);
    double xa = p.sum[1][0], xb = p.sum[2][0];
    double aa = p.sum[1][1], ab = p.sum[2][1], bb = p.sum[2][2];
    double sides = aa * bb - ab * ab, freedom = count - 2.0;
    double rest = p.sum[0][0] - (xa * xa * bb - 2 * xa * xb * ab + xb * xb * aa) / sides;
    out->weight = -(p.log_variance + log(sides) + freedom * log(rest)) / 2;
    out->rest = rest;
    return rest > ROUNDING * p.sum[0][0];
}

double diff_order_widen(const struct diff_ordered *run, uint32_t count) {
    struct order_sums s = sum_order(run, count);
    struct model m[MODELS];
    double variance = 0, weights = 0, best = -INFINITY;
    if (drift_cancels(&s)) {
        return 1;
    }
    for (uint32_t i = 0; i < MODELS; ++i) {
        if (!model_fit(&m[i], run, count, (double)i / (MODELS - 1))) {
            return 1;
        }
        best = double_max(best, m[i].weight);
    }
    for (uint32_t i = 0; i < MODELS; ++i) {
        double weight = exp(m[i].weight - best), share = (double)i / (MODELS - 1);
        variance += weight * (s.noise + share * (s.drift - s.noise)) * m[i].rest;
        weights += weight;
    }
    return double_max(MARGIN * sqrt(variance / weights / (s.noise * m[0].rest)), 1);
}

/* ---- The runs of a comparison. */

static int is_started_before(const void *what, uint32_t a, uint32_t b) {
    const struct diff_place *run = what;
    return run[a].start < run[b].start;
}

int diff_order_find(struct diff *d) {
    uint32_t count = d->runs[0] + d->runs[1];
    struct diff_place *given = scratch_array(&d->memory, count, sizeof *given);
    double *distance = scratch_array(&d->memory, count, sizeof *distance);
    d->order = scratch_array(&d->memory, count, sizeof *d->order);
    d->ordered = scratch_array(&d->memory, count, sizeof *d->ordered);
    if (scratch_failed(&d->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < count; ++i) {
        int side = i >= d->runs[0];
        uint32_t number = side ? i - d->runs[0] : i;
        given[i] = (struct diff_place){d->run[side][number].start_real_ns, 0, number, side};
    }
    uint32_t *order = order_by(&d->memory, count, is_started_before, given);
    if (scratch_failed(&d->memory)) {
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
    double usual = diff_median(distance + 1, count - 1);
    for (uint32_t i = 0; i < count; ++i) {
        d->order[i].at /= usual;
        d->ordered[i].side = d->order[i].side;
        d->ordered[i].kept = i ? diff_order_kept(d->order[i].at - d->order[i - 1].at) : 0;
    }
    d->alternated = diff_order_cancels(d->ordered, count);
    return 0;
}
