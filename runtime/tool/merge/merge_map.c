/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of a run in the merged file: the units of its nodes and devices, its samples, its
 * histograms, and its other numbers. The files that copy or add up a part of a run call these.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "base/histogram.h"
#include "merge.h"
#include "read/samples.h"

uint32_t merge_device_at(const struct merge_map *map, uint32_t index) {
    return index == SNAPSHOT_NONE ? 0 : map->device[index];
}

uint32_t merge_node_at(const struct merge_map *map, uint32_t index) {
    return index == SNAPSHOT_NONE ? 0 : map->node[index];
}

uint32_t merge_node(const struct merge_map *map, uint32_t unit) {
    return merge_node_at(map, snapshot_node_of(&map->run->snapshot, unit));
}

uint64_t merge_measure(const struct merge_map *map, enum measure which, uint64_t value) {
    if (!map || measure_rule_of(which)->add != MEASURE_TICKS) {
        return value;
    }
    if (value > INT64_MAX) {
        return -merge_length(map, -value);
    }
    return merge_length(map, value);
}

void merge_kept_read(struct merge_kept *out, const struct merge_map *map,
                     const struct snapshot_node *n) {
    struct samples samples;
    samples_read(&samples, &map->run->snapshot, n);
    out->count = samples.kept;
    out->fit = 1;
    for (uint32_t i = 0; i < samples.kept; ++i) {
        out->ticks[i] = merge_length(map, samples.ticks[i]);
        out->fit &= out->ticks[i] < STINT_IMPL_RAW_COUNTED - 1; /* as the recorder */
    }
}

void merge_kept_store(struct merge *m, struct stint_impl_node *to, uint32_t have,
                      const struct merge_kept *more) {
    for (uint32_t i = 0; i < more->count; ++i) {
        if (to->histogram) {
            stint_impl_histogram_add(m->file.base, to->histogram,
                                     u64_min(more->ticks[i], STINT_IMPL_LONG - 1));
        } else {
            to->raw[have + i] = (uint32_t)more->ticks[i] + 1;
        }
    }
}

/* Adds `count` samples between low and high to the buckets that cover this interval, in proportion;
 * the fraction that rounding leaves is added to the next bucket. */
static void spread_samples(uint32_t *to, uint64_t count, double low, double high) {
    uint64_t left = count;
    double owed = 0;
    for (uint32_t k = stint_impl_bucket((uint64_t)low); left && k < STINT_IMPL_BUCKETS; ++k) {
        double start = double_max(low, (double)histogram_low(k));
        double end = (double)histogram_low(k + 1);
        int last = end >= high || k + 1 == STINT_IMPL_BUCKETS;
        owed += (double)count * (end - start) / (high - low);
        uint64_t n = left;
        if (!last && owed < (double)left) {
            n = (uint64_t)owed;
        }
        owed -= (double)n;
        left -= n;
        to[k] = (uint32_t)u64_min(to[k] + n, UINT32_MAX);
    }
}

static void rescale_buckets(uint32_t *to, const uint32_t *from, double rate) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (from[i]) {
            spread_samples(to, from[i], (double)histogram_low(i) * rate,
                           (double)histogram_low(i + 1) * rate);
        }
    }
}

int merge_histogram(struct merge *m, struct merge_map *map, uint32_t thread, uint32_t unit,
                    double rate, uint32_t *out) {
    struct stint_impl_histogram from;
    *out = 0;
    if (snapshot_read_buckets(&map->run->snapshot, thread, unit, from.bucket)) {
        return 0;
    }
    uint32_t copied = hash_map_get(&map->histogram, unit);
    if (copied != HASH_MAP_NONE) {
        *out = copied;
        return 0;
    }
    *out = merge_file_get(&m->file, sizeof from);
    if (!*out || hash_map_add(&map->histogram, unit, *out)) {
        return -1;
    }
    struct stint_impl_histogram *to = merge_file_at(&m->file, *out);
    if (rate > 0.999 && rate < 1.001) { /* a sixtieth of a bucket */
        *to = from;
    } else {
        rescale_buckets(to->bucket, from.bucket, rate);
    }
    return 0;
}
