/* SPDX-License-Identifier: Apache-2.0 */
#include "diff_math.h"

#include <math.h>
#include <stdlib.h>

#include "base/histogram.h"

static double low(const struct diff_histogram *h, uint32_t i) {
    return (double)histogram_low(h->bucket[i].index) * h->unit;
}

static double width(const struct diff_histogram *h, uint32_t i) {
    return (double)histogram_low(h->bucket[i].index + 1) * h->unit - low(h, i);
}

static double middle(const struct diff_histogram *h, uint32_t i) {
    return low(h, i) + width(h, i) / 2;
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
            return low(h, i) + width(h, i) * (rank < n ? rank / n : 1);
        }
        rank -= n;
    }
    return 0;
}

/* Sum and sum of squares of the fastest. */
static void moments(const struct diff_histogram *h, double share, double *n, double *sum,
                    double *squares) {
    double left = diff_count(h) * share;
    *n = *sum = *squares = 0;
    for (uint32_t i = 0; i < h->used && left > 0; ++i) {
        double take = (double)h->bucket[i].count;
        take = take < left ? take : left;
        left -= take;
        *n += take;
        *sum += take * middle(h, i);
        /* Within a bucket values are spread evenly: a twelfth of its width squared. */
        *squares += take * (middle(h, i) * middle(h, i) + width(h, i) * width(h, i) / 12);
    }
}

double diff_fastest(const struct diff_histogram *h, double share, double mean) {
    double n, sum, squares, all, all_sum;
    moments(h, 1, &all, &all_sum, &squares);
    moments(h, share, &n, &sum, &squares);
    return all_sum > 0 && n > 0 ? sum / n * (mean / (all_sum / all)) : mean;
}

double diff_mean_error(const struct diff_histogram *h, double share) {
    double n, sum, squares;
    moments(h, share, &n, &sum, &squares);
    if (n < 2 || sum <= 0) {
        return 0;
    }
    double mean = sum / n;
    double variance = squares / n - mean * mean;
    return variance > 0 ? variance / (mean * mean) / n : 0;
}

/* ---- Ranks. */

struct weight {
    double value;
    double side[2];
};

static int by_value(const void *left, const void *right) {
    const struct weight *a = left, *b = right;
    return a->value < b->value ? -1 : a->value > b->value;
}

static uint32_t put_weights(struct weight *out, const struct diff_histogram *h, uint32_t count,
                            int side) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < count; ++k) {
        for (uint32_t i = 0; i < h[k].used; ++i) {
            out[n].value = middle(&h[k], i);
            out[n].side[side] = (double)h[k].bucket[i].count;
            out[n++].side[!side] = 0;
        }
    }
    return n;
}

/* Values nearer to each other than half a bucket are as good as equal: two runs' ticks never have
 * quite the same length. */
static double rank_z(const struct weight *w, uint32_t count) {
    double n[2] = {0, 0}, above = 0, ties = 0;
    for (uint32_t i = 0; i < count; ++i) {
        n[0] += w[i].side[0];
        n[1] += w[i].side[1];
    }
    if (n[0] < DIFF_RANKS || n[1] < DIFF_RANKS) {
        return 0;
    }
    double seen = 0; /* of side 0 */
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
    return variance > 0 ? (above - n[0] * n[1] / 2) / sqrt(variance) : 0;
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
    qsort(w, n, sizeof *w, by_value);
    double z = rank_z(w, n);
    free(w);
    return erfc(fabs(z) / sqrt(2));
}

/* ---- Student. */

static double mean_of(const double *v, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += v[i];
    }
    return n ? sum / n : 0;
}

/* Of the mean. */
static double variance_of(const double *v, uint32_t n, double error) {
    double mean = mean_of(v, n), sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += (v[i] - mean) * (v[i] - mean);
    }
    double variance = n > 1 ? sum / (n - 1) : 0;
    return (variance > error ? variance : error) / (n ? n : 1);
}

void diff_welch(struct diff_welch *out, const double *a, uint32_t a_count, const double *b,
                uint32_t b_count, double error) {
    double va = variance_of(a, a_count, error), vb = variance_of(b, b_count, error);
    double both = va + vb;
    double parts =
        (a_count > 1 ? va * va / (a_count - 1) : 0) + (b_count > 1 ? vb * vb / (b_count - 1) : 0);
    out->difference = mean_of(b, b_count) - mean_of(a, a_count);
    out->error = sqrt(both);
    out->freedom = parts > 0               ? both * both / parts
                   : a_count + b_count > 2 ? a_count + b_count - 2
                                           : 1;
}

/* The continued fraction of the incomplete beta function (modified Lentz). */
static double beta_fraction(double a, double b, double x) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double f = d;
    for (int m = 1; m < 300; ++m) {
        for (int odd = 0; odd < 2; ++odd) {
            double k = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                           : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + k * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + k / c;
            c = fabs(c) < tiny ? tiny : c;
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
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
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

/* ---- Many of them. */

static int by_number(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

double diff_median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, by_number);
    return count ? (values[(count - 1) / 2] + values[count / 2]) / 2 : 0;
}

double diff_finding_p(double *p, uint32_t count, double q) {
    qsort(p, count, sizeof *p, by_number);
    for (uint32_t k = count; k-- > 0;) {
        if (p[k] <= q * (k + 1) / count) {
            return p[k];
        }
    }
    return -1;
}
