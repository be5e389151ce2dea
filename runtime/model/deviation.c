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
    uint64_t mean = u128_narrow(total / count);
    *min = u64_min(*min, mean);
    *max = u64_max(*max, saturating_add(mean, total % count != 0));
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

/* Whole numbers from low to high, evenly: their variance is ((high - low + 1)^2 - 1) / 12. */
static void moments_add(struct moments *m, double count, uint64_t low, uint64_t high) {
    double width = 0;
    if (high > low) {
        width = (double)(high - low);
    }
    double middle = (double)low + width / 2;
    m->count += count;
    m->sum += count * middle;
    m->squares += count * (middle * middle + width * (width + 2) / 12);
}

/* All samples of the histogram but two, if the minimum and the maximum are samples. */
static struct moments moments_of(const struct histogram *h, const struct deviation_known *known) {
    struct moments m = {0, 0, 0};
    uint32_t first = STINT_IMPL_BUCKETS, last = 0;
    HISTOGRAM_EACH(h, i) {
        if (h->bucket[i]) {
            first = first < i ? first : i;
            last = i;
        }
    }
    HISTOGRAM_EACH(h, i) {
        uint64_t count = h->bucket[i];
        if (!known->bounds_only) {
            count -= i == first;
            count -= i == last;
        }
        if (count) {
            moments_add(&m, (double)count, u64_max(histogram_low(i), known->min),
                        u64_min(histogram_low(i + 1) - 1, known->max));
        }
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
