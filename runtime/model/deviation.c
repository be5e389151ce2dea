/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes: the samples of a bucket are taken as spread evenly over the part of it that
 * lies between the minimum and the maximum. Two samples, the minimum and the maximum, are known
 * exactly. The rest is scaled to the sum that they must have: buckets are a constant share of their
 * values wide, so where samples lie low or high in their buckets, they do so in proportion.
 */
#include "deviation.h"

#include "snapshot.h"

uint64_t mean_of(u128 total, u128 count, uint64_t *min, uint64_t *max) {
    uint64_t mean, rest;
    if (total <= UINT64_MAX && count <= UINT64_MAX) { /* a division of 128 bits is a call */
        mean = (uint64_t)total / (uint64_t)count;
        rest = (uint64_t)total % (uint64_t)count;
    } else {
        mean = u128_narrow(total / count);
        rest = total % count != 0;
    }
    *min = u64_min(*min, mean);
    *max = u64_max(*max, saturating_add(mean, rest != 0));
    return mean;
}

/* Newton's method from above: the values fall until rounding stops them. */
double deviation_root(double v) {
    if (!(v > 0)) {
        return 0;
    }
    double x = double_max(v, 1);
    double next = (x + v / x) / 2;
    while (next < x) {
        x = next;
        next = (x + v / x) / 2;
    }
    return x;
}

/* Number, sum and sum of squares of samples. */
struct moments {
    double count, sum, squares;
};

/* Adds the samples of a bucket: whole numbers from its lowest to its highest, evenly. Their
 * variance is ((high - low + 1)^2 - 1) / 12. */
static inline void moments_add(struct moments *m, uint64_t count, uint32_t bucket,
                               const struct deviation_known *known) {
    uint64_t low = u64_max(histogram_low(bucket), known->min);
    uint64_t high = u64_min(histogram_low(bucket + 1) - 1, known->max);
    double width = 0, samples = (double)count;
    if (!count) {
        return;
    }
    if (high > low) {
        width = (double)(high - low);
    }
    double middle = (double)low + width / 2;
    m->count += samples;
    m->sum += samples * middle;
    m->squares += samples * (middle * middle + width * (width + 2) / 12);
}

/* All samples of the histogram but two, if the minimum and the maximum are samples. A bucket is
 * added when the next one is known: the last one lacks the maximum. */
static struct moments moments_of(const struct histogram *h, const struct deviation_known *known) {
    struct moments m = {0, 0, 0};
    uint64_t bound = !known->bounds_only, count = 0;
    uint32_t bucket = STINT_IMPL_BUCKETS;
    HISTOGRAM_EACH(h, i) {
        if (h->bucket[i]) {
            moments_add(&m, count, bucket, known);
            count = h->bucket[i] - (bucket == STINT_IMPL_BUCKETS ? bound : 0);
            bucket = i;
        }
    }
    if (bucket != STINT_IMPL_BUCKETS) {
        moments_add(&m, count - bound, bucket, known);
    }
    return m;
}

/* The sum of the squared distances of all samples from their mean. */
static double deviation_squares(const struct moments *m, const struct deviation_known *known) {
    double min = (double)known->min, max = (double)known->max;
    double count = (double)known->count, total = (double)known->total;
    double scale = 1, squares = 0;
    if (known->total) {
        double mean = total / count, rest = total;
        if (!known->bounds_only) {
            squares = double_square(min - mean) + double_square(max - mean);
            rest -= min + max;
        }
        if (m->sum > 0 && rest > 0) {
            scale = rest / m->sum;
        }
        if (m->count > 0) {
            squares += m->count * double_square(m->sum * scale / m->count - mean);
        }
    }
    if (m->count > 0) {
        squares += (m->squares - double_square(m->sum) / m->count) * double_square(scale);
    }
    return squares;
}

uint64_t deviation_of(const struct histogram *h, const struct deviation_known *known) {
    if (known->count < 2 || known->max <= known->min) {
        return 0;
    }
    struct moments m = moments_of(h, known);
    double variance = deviation_squares(&m, known) / (double)(known->count - 1);
    return u64_min(snapshot_whole(deviation_root(variance) + 0.5), known->max - known->min);
}

uint64_t deviation_exactly(const uint64_t *samples, uint32_t count) {
    double sum = 0, squares = 0;
    if (count < 2) {
        return 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        sum += (double)samples[i];
    }
    for (uint32_t i = 0; i < count; ++i) {
        squares += double_square((double)samples[i] - sum / (double)count);
    }
    return snapshot_whole(deviation_root(squares / (double)(count - 1)) + 0.5);
}
