/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of diff.c: means and percentiles of histograms, the rank test, Welch's and
 * Student's tests, and the limit for p of many tests at once. Pure functions. Only the rank test
 * needs memory, for its values; without it the test says nothing (p = 1).
 */
#include "diff_math.h"

#include <math.h>
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/histogram.h"

static double bucket_low(const struct diff_histogram *h, uint32_t i) {
    return (double)histogram_low(h->bucket[i].index) * h->unit;
}

/* The first bucket has the value 0 alone. */
static double bucket_width(const struct diff_histogram *h, uint32_t i) {
    if (!h->bucket[i].index) {
        return 0;
    }
    return (double)histogram_low(h->bucket[i].index + 1) * h->unit - bucket_low(h, i);
}

static double bucket_middle(const struct diff_histogram *h, uint32_t i) {
    return bucket_low(h, i) + bucket_width(h, i) / 2;
}

double diff_count(const struct diff_histogram *h) {
    double n = 0;
    for (uint32_t i = 0; i < h->used; ++i) {
        n += (double)h->bucket[i].count;
    }
    return n;
}

double diff_percentile(const struct diff_histogram *h, double share) {
    double rank = diff_count(h) * share;
    for (uint32_t i = 0; i < h->used; ++i) {
        double n = (double)h->bucket[i].count;
        if (rank <= n || i + 1 == h->used) {
            double part = n > 0 ? double_min(rank / n, 1) : 1;
            return bucket_low(h, i) + bucket_width(h, i) * part;
        }
        rank -= n;
    }
    return 0;
}

/* Number, sum and sum of squares of the fastest `share` of the samples. */
static void sum_moments(const struct diff_histogram *h, double share, double *n, double *sum,
                        double *squares) {
    double left = diff_count(h) * share;
    *n = *sum = *squares = 0;
    for (uint32_t i = 0; i < h->used && left > 0; ++i) {
        double take = double_min((double)h->bucket[i].count, left);
        left -= take;
        *n += take;
        *sum += take * bucket_middle(h, i);
        /* Within a bucket values are spread evenly: a twelfth of its width squared. */
        *squares += take * (bucket_middle(h, i) * bucket_middle(h, i) +
                            bucket_width(h, i) * bucket_width(h, i) / 12);
    }
}

double diff_fastest(const struct diff_histogram *h, double share, double mean) {
    double n, sum, squares, all, all_sum;
    sum_moments(h, 1, &all, &all_sum, &squares);
    sum_moments(h, share, &n, &sum, &squares);
    if (all_sum <= 0 || n <= 0) {
        return mean;
    }
    return sum / n * (mean / (all_sum / all));
}

double diff_mean_error(const struct diff_histogram *h, double share) {
    double n, sum, squares;
    sum_moments(h, share, &n, &sum, &squares);
    if (n < 2 || sum <= 0) {
        return 0;
    }
    double mean = sum / n;
    double variance = squares / n - mean * mean;
    return double_max(variance, 0) / (mean * mean) / n;
}

/* ---- Ranks. */

struct weight {
    double value;
    double side[2];
};

static int compare_values(const void *left, const void *right) {
    const struct weight *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

static uint32_t put_weights(struct weight *out, const struct diff_histogram *h, uint32_t count,
                            int side) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < count; ++k) {
        for (uint32_t i = 0; i < h[k].used; ++i) {
            out[n].value = bucket_middle(&h[k], i);
            out[n].side[side] = (double)h[k].bucket[i].count;
            out[n++].side[!side] = 0;
        }
    }
    return n;
}

/* Values that differ by less than half a bucket count as equal: the ticks of two runs do not have
 * exactly the same length. */
static double compute_rank_z(const struct weight *w, uint32_t count) {
    double n[2] = {0, 0}, above = 0, ties = 0;
    for (uint32_t i = 0; i < count; ++i) {
        n[0] += w[i].side[0];
        n[1] += w[i].side[1];
    }
    if (n[0] < DIFF_RANKS || n[1] < DIFF_RANKS) {
        return 0;
    }
    double seen = 0; /* values of side 0 so far */
    for (uint32_t i = 0; i < count;) {
        double a = 0, b = 0, from = w[i].value;
        for (; i < count && w[i].value <= from * 1.02; ++i) {
            a += w[i].side[0];
            b += w[i].side[1];
        }
        above += b * (seen + a / 2);
        seen += a;
        ties += pow(a + b, 3) - (a + b);
    }
    double all = n[0] + n[1];
    double variance = n[0] * n[1] / 12 * (all + 1 - ties / (all * (all - 1)));
    if (variance <= 0) {
        return 0;
    }
    return (above - n[0] * n[1] / 2) / sqrt(variance);
}

double diff_rank_p(const struct diff_histogram *a, uint32_t a_count, const struct diff_histogram *b,
                   uint32_t b_count) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < a_count; ++k) {
        most += a[k].used;
    }
    for (uint32_t k = 0; k < b_count; ++k) {
        most += b[k].used;
    }
    struct weight *w = calloc((size_t)most + 1, sizeof *w);
    if (!w) {
        return 1;
    }
    uint32_t n = put_weights(w, a, a_count, 0);
    n += put_weights(w + n, b, b_count, 1);
    qsort(w, n, sizeof *w, compare_values);
    double z = compute_rank_z(w, n);
    free(w);
    return erfc(fabs(z) / sqrt(2));
}

/* ---- Student. */

static double compute_mean(const double *v, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += v[i];
    }
    return sum / double_max(n, 1);
}

/* The variance of the mean. The variance of one value is at least `error`. */
static double compute_variance(const double *v, uint32_t n, double error) {
    double mean = compute_mean(v, n), sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += (v[i] - mean) * (v[i] - mean);
    }
    double variance = sum / double_max((double)n - 1, 1);
    return double_max(variance, error) / double_max(n, 1);
}

void diff_welch(struct diff_welch *out, const double *a, uint32_t a_count, const double *b,
                uint32_t b_count, double error) {
    double va = compute_variance(a, a_count, error), vb = compute_variance(b, b_count, error);
    double both = va + vb;
    double parts = 0;
    if (a_count > 1) {
        parts += va * va / (a_count - 1);
    }
    if (b_count > 1) {
        parts += vb * vb / (b_count - 1);
    }
    out->difference = compute_mean(b, b_count) - compute_mean(a, a_count);
    out->error = sqrt(both);
    if (parts > 0) {
        out->freedom = both * both / parts;
    } else {
        out->freedom = double_max((double)a_count + b_count - 2, 1);
    }
}

static double replace_zero(double v) {
    return fabs(v) < 1e-300 ? 1e-300 : v;
}

/* Coefficient 2 m (odd = 0) or 2 m + 1 of the continued fraction. */
static double beta_coefficient(double a, double b, double x, int m, int odd) {
    if (odd) {
        return -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    }
    return m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/* The continued fraction of the incomplete beta function (modified Lentz). */
static double beta_fraction(double a, double b, double x) {
    double c = 1, d = 1 / replace_zero(1 - (a + b) * x / (a + 1));
    double f = d;
    for (int m = 1; m < 300; ++m) {
        for (int odd = 0; odd < 2; ++odd) {
            double k = beta_coefficient(a, b, x, m, odd);
            d = 1 / replace_zero(1 + k * d);
            c = replace_zero(1 + k / c);
            f *= c * d;
        }
        if (fabs(c * d - 1) < 1e-12) {
            break;
        }
    }
    return f;
}

static double beta_share(double a, double b, double x) {
    if (x <= 0 || x >= 1) {
        return x >= 1;
    }
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double diff_student_p(double t, double freedom) {
    return beta_share(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double diff_student_t(double p, double freedom) {
    double from = 0, to = 1e6;
    for (int i = 0; i < 80; ++i) {
        double at = (from + to) / 2;
        if (diff_student_p(at, freedom) > p) {
            from = at;
        } else {
            to = at;
        }
    }
    return to;
}

/* The limit for many tests is at a t of about 3.3, a 95 % interval at one of 2. */
#define FINDING_SHARE 0.6
#define SAME_LIMIT 2.5

double diff_more_runs(double size, double error, double runs, double least) {
    double wanted = SAME_LIMIT * least - size;
    if (size >= least) {
        wanted = double_max(wanted, FINDING_SHARE * size);
    }
    double all = runs * (error / wanted) * (error / wanted);
    return double_max(ceil(all - runs), 1);
}

/* ---- Many values. */

static int compare_numbers(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double diff_median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, compare_numbers);
    if (!count) {
        return 0;
    }
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

double diff_finding_p(double *p, uint32_t count, double q) {
    qsort(p, count, sizeof *p, compare_numbers);
    for (uint32_t k = count; k-- > 0;) {
        if (p[k] <= q * (k + 1) / count) {
            return p[k];
        }
    }
    return -1;
}
