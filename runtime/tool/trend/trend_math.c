/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points by Student's test, as Hunter (Apache Otava) has them: deterministic, and without
 * permutations. trend.c calls trend_find for each series.
 * - A part of the series is split where t of the means of both sides is largest, if that is
 *   significant; then both sides are searched. Windows of a half, a quarter ... of the part are
 *   searched, too, for a change that a later one undid and that the whole part does not show. The
 *   probability is divided among all places (Bonferroni), most of it to the whole part.
 * - A single value far off is moved near its neighbours first: one disturbed run is no change.
 * - In the end each change is moved to the best place between its neighbours, and tested again.
 */
#include "trend_math.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "tool/diff/diff_math.h"

#define WHOLE_PART 0.8       /* of the probability; the rest is for the windows */
#define WINDOW_LEAST 16u     /* values */
#define LEAST_DEVIATION 1e-4 /* of a value: equal values are not more certain than this */
#define FURTHEST 4.0         /* standard deviations of a value from its neighbours */
#define NEIGHBOURS 7u
#define MAD_TO_SIGMA 1.4826
#define BACK_SHARE 0.25 /* of a change: a level so near to the old one is the old one */

struct prefix {
    double *sum;     /* of the values before */
    double *squares; /* the same */
};

struct finder {
    struct prefix prefix;
    uint32_t *at; /* changes found */
    uint32_t count;
};

/* A place where a part may be split. */
struct split {
    uint32_t at;
    double p;
};

static double part_mean(const struct prefix *x, uint32_t from, uint32_t to) {
    return (x->sum[to] - x->sum[from]) / (double)(to - from);
}

/* The squares about the mean. */
static double part_squares(const struct prefix *x, uint32_t from, uint32_t to) {
    double sum = x->sum[to] - x->sum[from];
    double squares = x->squares[to] - x->squares[from];
    return double_max(squares - sum * sum / (double)(to - from), 0);
}

static double part_t(const struct prefix *x, uint32_t from, uint32_t at, uint32_t to) {
    double left = at - from, right = to - at;
    double within = part_squares(x, from, at) + part_squares(x, at, to);
    double variance = double_max(within / (left + right - 2), LEAST_DEVIATION * LEAST_DEVIATION);
    double difference = part_mean(x, at, to) - part_mean(x, from, at);
    return fabs(difference) / sqrt(variance * (1 / left + 1 / right));
}

static uint32_t part_places(uint32_t from, uint32_t to) {
    uint32_t n = to - from;
    return n < 2 * TREND_SIDE ? 0 : n - 2 * TREND_SIDE + 1;
}

/* The best place of a part, with the p of one test there; p is 1 if the part is too short. */
static struct split find_best(const struct prefix *x, uint32_t from, uint32_t to) {
    struct split best = {from, 1};
    double largest = 0;
    if (!part_places(from, to)) {
        return best;
    }
    for (uint32_t at = from + TREND_SIDE; at + TREND_SIDE <= to; ++at) {
        double t = part_t(x, from, at, to);
        if (t > largest) {
            largest = t;
            best.at = at;
        }
    }
    best.p = diff_student_p(largest, to - from - 2);
    return best;
}

/* Returns the p value of all places of a part together. A part without a place has no change. */
static double part_p(const struct split *best, uint32_t from, uint32_t to) {
    double places = double_max(part_places(from, to), 1);
    return double_min(best->p * places / WHOLE_PART, 1);
}

/* The places of all windows of a part; with `best`, also the most significant of them. */
static double search_windows(const struct prefix *x, uint32_t from, uint32_t to,
                             struct split *best) {
    double places = 0;
    for (uint32_t length = (to - from) / 2; length >= WINDOW_LEAST; length /= 2) {
        for (uint32_t at = from; at + length <= to; at += length / 2) {
            places += part_places(at, at + length);
            if (!best) {
                continue;
            }
            struct split here = find_best(x, at, at + length);
            if (here.p < best->p) {
                *best = here;
            }
        }
    }
    return places;
}

/* The best split of a part; p is that of all its places together. */
static struct split find_split(const struct prefix *x, uint32_t from, uint32_t to) {
    struct split whole = find_best(x, from, to), window = {from, 1};
    double places = search_windows(x, from, to, NULL);
    whole.p = part_p(&whole, from, to);
    if (places > 0) {
        search_windows(x, from, to, &window);
        window.p = double_min(window.p * places / (1 - WHOLE_PART), 1);
    }
    return window.p < whole.p ? window : whole;
}

/* Its depth is at most TREND_CHANGES, because each step down has found one. */
static void find_changes(struct finder *f, uint32_t from, uint32_t to) {
    struct split best = find_split(&f->prefix, from, to);
    if (best.p > TREND_ALPHA || f->count == TREND_CHANGES) {
        return;
    }
    f->at[f->count++] = best.at;
    find_changes(f, from, best.at);
    find_changes(f, best.at, to);
}

/* ---- Values far off. */

static double find_spread(const double *value, uint32_t n, double *work) {
    for (uint32_t i = 1; i < n; ++i) {
        work[i - 1] = fabs(value[i] - value[i - 1]);
    }
    double step = diff_median(work, n - 1);
    return double_max(MAD_TO_SIGMA * step / sqrt(2), LEAST_DEVIATION);
}

/* The median of seven values about that one: a change that lasts four runs keeps its place. */
static double find_neighbours(const double *value, uint32_t n, uint32_t at) {
    double near[NEIGHBOURS];
    uint32_t from = at < NEIGHBOURS / 2 ? 0 : at - NEIGHBOURS / 2;
    if (from + NEIGHBOURS > n) {
        from = n - NEIGHBOURS;
    }
    memcpy(near, value + from, sizeof near);
    return diff_median(near, NEIGHBOURS);
}

static void sum_prefixes(struct prefix *x, const double *value, uint32_t n, double *work) {
    double most = FURTHEST * find_spread(value, n, work);
    x->sum[0] = x->squares[0] = 0;
    for (uint32_t i = 0; i < n; ++i) {
        double middle = find_neighbours(value, n, i);
        double v = double_min(double_max(value[i], middle - most), middle + most) - value[0];
        x->sum[i + 1] = x->sum[i] + v;
        x->squares[i + 1] = x->squares[i] + v * v;
    }
}

/* ---- The changes that were found. */

static void sort_places(uint32_t *at, uint32_t count) {
    for (uint32_t i = 1; i < count; ++i) {
        uint32_t v = at[i], k = i;
        for (; k && at[k - 1] > v; --k) {
            at[k] = at[k - 1];
        }
        at[k] = v;
    }
}

/* Moves each change to the best place between its neighbours, and drops it if it is not significant
 * there. */
static uint32_t keep_changes(const struct finder *f, struct trend_change *out, uint32_t n) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->count; ++i) {
        uint32_t from = kept ? out[kept - 1].at : 0;
        uint32_t to = i + 1 < f->count ? f->at[i + 1] : n;
        struct split best = find_best(&f->prefix, from, to);
        double p = part_p(&best, from, to);
        if (p <= TREND_ALPHA) {
            out[kept++] = (struct trend_change){.at = best.at, .p = p};
        }
    }
    return kept;
}

/* The median of the values themselves, none of them moved. */
static double part_level(const double *value, uint32_t from, uint32_t to, double *work) {
    memcpy(work, value + from, (to - from) * sizeof *work);
    return diff_median(work, to - from);
}

static void set_levels(struct trend_change *out, uint32_t count, const double *value, uint32_t n,
                       double *work) {
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t from = i ? out[i - 1].at : 0;
        uint32_t to = i + 1 < count ? out[i + 1].at : n;
        out[i].before = part_level(value, from, out[i].at, work);
        out[i].after = part_level(value, out[i].at, to, work);
    }
}

static void mark_undone(struct trend_change *out, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        double near = BACK_SHARE * fabs(out[i].after - out[i].before);
        for (uint32_t k = i + 1; k < count && !out[i].back; ++k) {
            if (fabs(out[k].after - out[i].before) <= near) {
                out[i].back = k + 1;
            }
        }
    }
}

uint32_t trend_find(struct trend_change out[TREND_CHANGES], const double *value, uint32_t n,
                    double *work) {
    uint32_t at[TREND_CHANGES];
    struct finder f = {{work, work + n + 1}, at, 0};
    if (n < TREND_LEAST) {
        return 0;
    }
    sum_prefixes(&f.prefix, value, n, work + 2 * ((size_t)n + 1));
    find_changes(&f, 0, n);
    sort_places(at, f.count);
    uint32_t count = keep_changes(&f, out, n);
    set_levels(out, count, value, n, work);
    mark_undone(out, count);
    return count;
}
