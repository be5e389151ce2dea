/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the lines that pass through all intervals. For each rate the possible offsets are one
 * interval, whose length is a concave function of the rate: it is positive for a range of rates, or
 * for none. At a given time the highest of these lines is a concave function of the rate, the
 * lowest a convex one. So searches that halve or divide a range find all that is needed, in time
 * proportional to the number of points. merge_align.c calls.
 */
#include "merge.h"

#include "base/arithmetic.h"

#define STEPS 64 /* of a search: the range of rates becomes 10^-11 of what it was */

struct lines {
    const struct align_point *point;
    uint32_t count;
    double slack; /* the intervals are so much wider on both sides */
};

/* The largest offset at a time of a line of that rate; align_lowest: the smallest one. */
static double align_highest(const struct lines *l, double rate, double at) {
    double least = 1e300;
    for (uint32_t i = 0; i < l->count; ++i) {
        const struct align_point *p = &l->point[i];
        least = double_min(least, p->high - rate * (p->at - at));
    }
    return least + l->slack;
}

static double align_lowest(const struct lines *l, double rate, double at) {
    double most = -1e300;
    for (uint32_t i = 0; i < l->count; ++i) {
        const struct align_point *p = &l->point[i];
        most = double_max(most, p->low - rate * (p->at - at));
    }
    return most - l->slack;
}

/* A concave function of the rate. */
typedef double align_function(const struct lines *l, double rate, double at);

static double align_room(const struct lines *l, double rate, double at) {
    return align_highest(l, rate, at) - align_lowest(l, rate, at);
}

static double align_minus_lowest(const struct lines *l, double rate, double at) {
    return -align_lowest(l, rate, at);
}

/* The rate where it is largest. */
static double align_maximum(const struct lines *l, align_function *f, double low, double high,
                            double at) {
    for (int i = 0; i < STEPS; ++i) {
        double third = (high - low) / 3;
        if (f(l, low + third, at) < f(l, high - third, at)) {
            low += third;
        } else {
            high -= third;
        }
    }
    return (low + high) / 2;
}

/* The rate furthest from `inside`, towards `outside`, for which there is a line. */
static double align_limit(const struct lines *l, double inside, double outside) {
    if (align_room(l, outside, 0) >= 0) {
        return outside;
    }
    for (int i = 0; i < STEPS; ++i) {
        double middle = (inside + outside) / 2;
        if (align_room(l, middle, 0) >= 0) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    return inside;
}

static double clamp_double(double v, double low, double high) {
    return double_max(low, double_min(v, high));
}

/* By least squares, as far as it is a possible one. */
static double align_likely_rate(const struct lines *l, double low, double high) {
    double at = 0, likely = 0, squares = 0, products = 0;
    for (uint32_t i = 0; i < l->count; ++i) {
        at += l->point[i].at / l->count;
        likely += l->point[i].likely / l->count;
    }
    for (uint32_t i = 0; i < l->count; ++i) {
        double x = l->point[i].at - at;
        squares += x * x;
        products += x * (l->point[i].likely - likely);
    }
    double rate = 0;
    if (squares > 0) {
        rate = products / squares;
    }
    return clamp_double(rate, low, high);
}

static double align_likely_offset(const struct lines *l, double rate) {
    double offset = 0;
    for (uint32_t i = 0; i < l->count; ++i) {
        offset += (l->point[i].likely - rate * l->point[i].at) / l->count;
    }
    return clamp_double(offset, align_lowest(l, rate, 0), align_highest(l, rate, 0));
}

/* The distance of the line from the furthest one at a time. */
static double align_distance(const struct lines *l, const struct align_line *line, double low,
                             double high, double at) {
    double here = line->offset + line->rate * at;
    double top = align_maximum(l, align_highest, low, high, at);
    double bottom = align_maximum(l, align_minus_lowest, low, high, at);
    return double_max(align_highest(l, top, at) - here, here - align_lowest(l, bottom, at));
}

/* Widens the intervals if no line passes through all, as far as clocks may deviate from one. */
static int align_widen(struct lines *l, double best) {
    double first = l->point[0].at, last = first;
    double lacking = -align_room(l, best, 0) / 2;
    for (uint32_t i = 0; i < l->count; ++i) {
        first = double_min(first, l->point[i].at);
        last = double_max(last, l->point[i].at);
    }
    if (lacking > ALIGN_WIGGLE_NS + ALIGN_WIGGLE_PER_S * (last - first)) {
        return -1;
    }
    l->slack = double_max(2 * lacking, 0);
    return 0;
}

int align_fit(struct align_line *out, double *error, const struct align_point *point,
              uint32_t count, double from, double to) {
    struct lines l = {point, count, 0};
    if (!count) {
        return -1;
    }
    double best = align_maximum(&l, align_room, -ALIGN_RATE_MOST, ALIGN_RATE_MOST, 0);
    if (align_widen(&l, best)) {
        return -1;
    }
    double low = align_limit(&l, best, -ALIGN_RATE_MOST);
    double high = align_limit(&l, best, ALIGN_RATE_MOST);
    out->rate = align_likely_rate(&l, low, high);
    out->offset = align_likely_offset(&l, out->rate);
    /* The distance is a convex function of the time: the largest is at an end. */
    *error = double_max(align_distance(&l, out, low, high, from),
                        align_distance(&l, out, low, high, to));
    return 0;
}
