/* SPDX-License-Identifier: Apache-2.0 */
#include "samples.h"

#include "base/arithmetic.h"

static const uint32_t *raw_of(const struct snapshot *s, const struct snapshot_node *n) {
    const struct stint_impl_node *node = snapshot_at(s, n->unit, sizeof *node);
    if (!node) {
        return NULL;
    }
    /* Memory for a histogram was refused: the samples that came later are nowhere, and without them
     * the first ones would be taken for all. */
    if (!n->histogram && n->count + n->extra->before > STINT_IMPL_RAW) {
        return NULL;
    }
    return node->raw;
}

static uint32_t raw_load(const uint32_t *raw) {
    return __atomic_load_n(raw, __ATOMIC_ACQUIRE);
}

static uint32_t raw_ticks(uint32_t raw) {
    return (raw & ~STINT_IMPL_RAW_COUNTED) - 1;
}

void samples_read(struct samples *out, const struct snapshot *s, const struct snapshot_node *n) {
    const uint32_t *raw = raw_of(s, n);
    out->kept = out->old = out->counted = 0;
    for (uint32_t i = 0; raw && i < STINT_IMPL_RAW; ++i) {
        uint32_t is = raw_load(&raw[i]);
        if (!(is & ~STINT_IMPL_RAW_COUNTED)) {
            return;
        }
        int is_counted = (is & STINT_IMPL_RAW_COUNTED) != 0;
        out->counted += is_counted != 0;
        if (is_counted && i >= n->extra->raw_counted && i < n->extra->raw_before) {
            out->old_ticks[out->old++] = raw_ticks(is);
        }
        if (!is_counted && i >= n->extra->raw_before) {
            out->ticks[out->kept++] = raw_ticks(is);
        }
    }
}

void samples_to_ns(struct samples *out, const struct snapshot *s) {
    for (uint32_t i = 0; i < out->kept; ++i) {
        out->ticks[i] = snapshot_ns(s, out->ticks[i]);
    }
    for (uint32_t i = 0; i < out->old; ++i) {
        out->old_ticks[i] = snapshot_ns(s, out->old_ticks[i]);
    }
}

int samples_any(const struct snapshot *s, const struct snapshot_node *n) {
    const uint32_t *raw = raw_of(s, n);
    if (!raw || !raw_load(&raw[0])) {
        return 0;
    }
    /* They are marked one after the other: all are in the histogram, and were when the interval
     * began. */
    int all_counted = raw_load(&raw[STINT_IMPL_RAW - 1]) > STINT_IMPL_RAW_COUNTED;
    return !all_counted || n->extra->raw_before;
}

uint32_t samples_count(const struct snapshot *s, const struct snapshot_node *n, uint32_t *counted) {
    const uint32_t *raw = raw_of(s, n);
    uint32_t count = 0;
    *counted = 0;
    for (; raw && count < STINT_IMPL_RAW; ++count) {
        uint32_t is = raw_load(&raw[count]);
        if (!is) {
            break;
        }
        *counted += (is & STINT_IMPL_RAW_COUNTED) != 0;
    }
    return count;
}

void samples_add(struct histogram *to, const struct samples *from) {
    for (uint32_t i = 0; i < from->kept; ++i) {
        histogram_bucket_add(to, stint_impl_bucket(from->ticks[i]), 1);
    }
    for (uint32_t i = 0; i < from->old; ++i) {
        uint64_t *bucket = &to->bucket[stint_impl_bucket(from->old_ticks[i])];
        *bucket = saturating_subtract(*bucket, 1);
    }
}
