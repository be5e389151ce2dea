/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

#include <string.h>

uint64_t histogram_low(uint32_t bucket) {
    if (bucket < 32) {
        return bucket;
    }
    return (uint64_t)(16 + bucket % 16) << (bucket / 16 - 1);
}

/* The bucket of a value that may be longer than the last one's. */
static uint32_t histogram_find(double value) {
    if (value >= (double)histogram_low(STINT_IMPL_BUCKETS - 1)) {
        return STINT_IMPL_BUCKETS - 1;
    }
    return stint_impl_bucket((uint64_t)value);
}

double histogram_middle(uint32_t bucket) {
    return (double)(histogram_low(bucket) + histogram_low(bucket + 1) - 1) / 2;
}

void histogram_to_ns(struct histogram *out, const struct histogram *from, double unit) {
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (from->bucket[i]) {
            out->bucket[histogram_find(histogram_middle(i) * unit)] += from->bucket[i];
        }
    }
}

uint64_t histogram_count(const struct histogram *h) {
    uint64_t count = 0;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        count += h->bucket[i];
    }
    return count;
}

uint64_t histogram_percentile(const struct histogram *h, uint64_t count, uint32_t permille) {
    uint64_t rank = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        seen += h->bucket[i];
        if (seen && seen >= rank) {
            return (histogram_low(i) + histogram_low(i + 1) - 1) / 2;
        }
    }
    return 0;
}

uint64_t histogram_min(const struct histogram *h) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (h->bucket[i]) {
            return histogram_low(i);
        }
    }
    return 0;
}

uint64_t histogram_max(const struct histogram *h) {
    for (uint32_t i = STINT_IMPL_BUCKETS; i-- > 0;) {
        if (h->bucket[i]) {
            return histogram_low(i + 1) - 1;
        }
    }
    return 0;
}
