/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

uint64_t histogram_low(uint32_t bucket) {
    if (bucket < 32) {
        return bucket;
    }
    return (uint64_t)(16 + bucket % 16) << (bucket / 16 - 1);
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
