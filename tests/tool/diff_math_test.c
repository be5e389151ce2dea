/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The statistics of `stint diff`: tests of Student and Welch, ranks, the choice of findings. The
 * expected values are from printed tables and from SciPy (diff_vectors.inc).
 */
#include <math.h>

#include "harness.h"
#include "stint/detail/impl_layout.h"
#include "tool/diff/diff_math.h"

static int near(double a, double b, double by) {
    int is = fabs(a - b) <= by;
    if (!is) {
        dprintf(2, "%.12g is not %.12g\n", a, b);
    }
    return is;
}

TEST(diff_math, student_as_in_tables) {
    CHECK(near(diff_student_p(12.706, 1), 0.05, 1e-5));
    CHECK(near(diff_student_p(4.303, 2), 0.05, 1e-4));
    CHECK(near(diff_student_p(2.306, 8), 0.05, 1e-4));
    CHECK(near(diff_student_p(5.041, 8), 0.001, 1e-6));
    CHECK(near(diff_student_p(1.96, 1e6), 0.05, 1e-4));
    CHECK(near(diff_student_p(0, 5), 1, 1e-9));
    CHECK(near(diff_student_t(0.05, 8), 2.306, 1e-3));
    CHECK(near(diff_student_t(0.05, 2), 4.3027, 1e-3));
}

/* A change that is not significant yet, and one that is nearly none. */
TEST(diff_math, more_runs_decide) {
    CHECK(near(diff_more_runs(0.0, 0.1, 5, 0.02), 15, 0));    /* to 0.05, half of it: 20 runs */
    CHECK(near(diff_more_runs(0.04, 0.048, 5, 0.02), 15, 0)); /* to 0.024 */
    CHECK(near(diff_more_runs(0.01, 0.01, 5, 0.02), 1, 0));
    CHECK(diff_more_runs(0.2, 0.5, 3, 0.02) > 40);
}

/* Means 20.6 and 22.1 of a well-known example: t = -2.46, 24.9 degrees of freedom. */
TEST(diff_math, welch_as_in_the_book) {
    static const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1,
                               21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
    static const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0,
                               24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4};
    struct diff_welch w;
    diff_welch(&w, a, 15, b, 15, 0);
    CHECK(near(w.difference / w.error, 2.46, 0.01));
    CHECK(near(w.freedom, 24.99, 0.05));
    CHECK(near(diff_student_p(w.difference / w.error, w.freedom), 0.021, 0.001));
    diff_welch(&w, a, 15, a, 15, 0);
    CHECK(near(w.difference, 0, 0));
    diff_welch(&w, b, 15, b, 15, 100); /* the least variance counts */
    CHECK(near(w.error, sqrt(200.0 / 15), 1e-9));
}

/* ---- Against SciPy: diff_vectors.py. */

struct student {
    double t, freedom, p;
};

struct welch {
    uint32_t count[2];
    double a[6], b[6];
    double difference, error, freedom, p;
};

struct ranks {
    uint32_t used[2];
    struct {
        uint64_t ticks, count;
    } a[3], b[3];
    double p;
};

struct findings {
    uint32_t count;
    double p[10];
    double share, limit;
};

struct order {
    double value[8];
    const char *sides;
    double distance[8];
    double widened;
};

#include "diff_vectors.inc"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Equal to so many digits: 1e-9 of the value. */
static int agrees(double value, double expected) {
    return near(value, expected, 1e-9 * fabs(expected));
}

TEST(diff_math, student_as_scipy) {
    for (size_t i = 0; i < COUNT(student_p); ++i) {
        CHECK(agrees(diff_student_p(student_p[i].t, student_p[i].freedom), student_p[i].p));
    }
    for (size_t i = 0; i < COUNT(student_t); ++i) {
        /* SciPy's inverse has 8 right digits: for 2 degrees it is sqrt(2 / (p (2 - p)) - 2). */
        double t = diff_student_t(student_t[i].p, student_t[i].freedom);
        CHECK(near(t, student_t[i].t, 1e-8 * student_t[i].t));
    }
}

TEST(diff_math, welch_as_scipy) {
    for (size_t i = 0; i < COUNT(welch); ++i) {
        const struct welch *v = &welch[i];
        struct diff_welch w;
        diff_welch(&w, v->a, v->count[0], v->b, v->count[1], 0);
        CHECK(agrees(w.difference, v->difference));
        CHECK(agrees(w.error, v->error));
        CHECK(agrees(w.freedom, v->freedom));
        CHECK(agrees(diff_student_p(w.difference / w.error, w.freedom), v->p));
    }
}

TEST(diff_math, ranks_as_scipy) {
    for (size_t i = 0; i < COUNT(ranks); ++i) {
        const struct ranks *v = &ranks[i];
        struct histogram_bucket bucket[2][3];
        struct diff_histogram a = {bucket[0], v->used[0], 1}, b = {bucket[1], v->used[1], 1};
        for (uint32_t k = 0; k < 3; ++k) {
            bucket[0][k].index = stint_impl_bucket(v->a[k].ticks);
            bucket[0][k].count = v->a[k].count;
            bucket[1][k].index = stint_impl_bucket(v->b[k].ticks);
            bucket[1][k].count = v->b[k].count;
        }
        CHECK(agrees(diff_rank_p(&a, 1, &b, 1), v->p));
        CHECK(agrees(diff_rank_p(&b, 1, &a, 1), v->p));
    }
}

TEST(diff_math, findings_as_defined) {
    for (size_t i = 0; i < COUNT(findings); ++i) {
        struct findings v = findings[i];
        CHECK(agrees(diff_finding_p(v.p, v.count, v.share), v.limit));
    }
}

TEST(diff_math, order_as_with_matrices) {
    for (size_t i = 0; i < COUNT(orders); ++i) {
        const struct order *v = &orders[i];
        struct diff_ordered run[8];
        uint32_t n = 0;
        for (; v->sides[n]; ++n) {
            run[n] = (struct diff_ordered){v->value[n], diff_order_kept(v->distance[n]),
                                           v->sides[n] == 'B'};
        }
        CHECK(agrees(diff_order_widen(run, n), v->widened));
    }
}

/* ---- Histograms. */

static struct diff_histogram of(struct histogram_bucket *bucket, const uint64_t *ticks,
                                uint32_t n) {
    struct diff_histogram h = {bucket, n, 1};
    for (uint32_t i = 0; i < n; ++i) {
        bucket[i].index = stint_impl_bucket(ticks[i]);
        bucket[i].count = 10;
    }
    return h;
}

TEST(diff_math, ranks) {
    static const uint64_t low[] = {100, 200, 300}, high[] = {1000, 2000, 3000};
    struct histogram_bucket ba[3], bb[3];
    struct diff_histogram a = of(ba, low, 3), b = of(bb, high, 3);
    CHECK(near(diff_rank_p(&a, 1, &a, 1), 1, 1e-9));
    /* 30 below 30 others: U = 0 of 900; ties of ten to each value. */
    CHECK(diff_rank_p(&a, 1, &b, 1) < 1e-9);
    CHECK(near(diff_rank_p(&a, 1, &b, 1), diff_rank_p(&b, 1, &a, 1), 1e-12));
    ba[0].count = 3; /* too few to say anything */
    a.used = 1;
    CHECK(near(diff_rank_p(&a, 1, &b, 1), 1, 0));
}

TEST(diff_math, percentiles_and_means) {
    static const uint64_t ticks[] = {100, 200, 300, 400};
    struct histogram_bucket b[4];
    struct diff_histogram h = of(b, ticks, 4), none = {b, 0, 1};
    double half = diff_percentile(&h, 0.5);
    CHECK(half >= 200 && half < 213);
    CHECK(diff_percentile(&h, 1) >= 400);
    CHECK(near(diff_percentile(&none, 0.5), 0, 0));
    /* Buckets 6 % wide, and yet the mean is the one that is known. */
    CHECK(near(diff_fastest(&h, 1, 250), 250, 1e-9));
    CHECK(near(diff_fastest(&h, 0.75, 250), 200, 5));
    CHECK(near(diff_fastest(&none, 0.95, 7), 7, 0));
    CHECK(diff_mean_error(&h, 1) > 0);
}

TEST(diff_math, findings) {
    double p[] = {0.2, 0.0001, 0.012, 0.9, 0.031};
    CHECK(near(diff_finding_p(p, 5, 0.05), 0.012, 0)); /* 0.031 > 0.05 * 3 / 5 is not */
    double none[] = {0.02, 0.3};
    CHECK(near(diff_finding_p(none, 2, 0.01), -1, 0));
    CHECK(near(diff_finding_p(none, 0, 0.01), -1, 0));
    double values[] = {5, 1, 3, 2};
    CHECK(near(diff_median(values, 4), 2.5, 0));
    CHECK(near(diff_median(values, 0), 0, 0));
}
