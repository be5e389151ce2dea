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
    if (!map || record_measures.number[which].add != NUMBER_TICKS) {
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
        out->ticks[i] = merge_time(map, n, samples.ticks[i]);
        out->fit &= out->ticks[i] < STINT_IMPL_RAW_COUNTED - 1; /* as the recorder */
    }
}

void merge_kept_store(struct merge *m, struct stint_impl_node *to, uint32_t have,
                      const struct merge_kept *more) {
    for (uint32_t i = 0; i < more->count; ++i) {
        if (to->histogram) {
            histogram_add(m->file.base, to->histogram, more->ticks[i]);
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

/* The samples of an open bucket stay in one: the lowest that they can be in. */
static void rescale_open(struct stint_impl_histogram *to, double low, uint32_t count) {
    double last = (double)histogram_low(STINT_IMPL_BUCKETS - 1);
    uint32_t k = stint_impl_bucket((uint64_t)double_min(low, last));
    to->bucket[k] = (uint32_t)u64_min((uint64_t)to->bucket[k] + count, UINT32_MAX);
    to->open = histogram_open_lower(to->open, k + 1);
}

static void rescale_buckets(struct stint_impl_histogram *to,
                            const struct stint_impl_histogram *from, double rate) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        double low = (double)histogram_low(i) * rate, high = (double)histogram_low(i + 1) * rate;
        int is_open = (from->open && i + 1 >= from->open) || high > (double)STINT_IMPL_LONG;
        if (from->bucket[i] && is_open) {
            rescale_open(to, low, from->bucket[i]);
        } else if (from->bucket[i]) {
            spread_samples(to->bucket, from->bucket[i], low, high);
        }
    }
}

int merge_read_buckets(const struct merge_map *map, uint32_t thread, uint32_t unit,
                       struct stint_impl_histogram *out) {
    const struct snapshot *s = &map->run->snapshot;
    if (snapshot_read_buckets(s, thread, unit, out)) {
        return -1;
    }
    if (s->is_format_4 && out->bucket[ARENA_BUCKETS_OF_4 - 1]) {
        out->open = ARENA_BUCKETS_OF_4;
    }
    return 0;
}

int merge_histogram(struct merge *m, struct merge_map *map, uint32_t thread, uint32_t unit,
                    double rate, uint32_t *out) {
    struct stint_impl_histogram from;
    *out = 0;
    if (merge_read_buckets(map, thread, unit, &from)) {
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
        rescale_buckets(to, &from, rate);
    }
    return 0;
}
