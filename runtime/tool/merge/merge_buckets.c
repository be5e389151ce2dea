/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms of the merged file, and the samples that a node keeps itself. As in a recorded file, a
 * node keeps its samples as long as they are few, and gets a histogram when there are more; that
 * depends on all samples together, so not on their order. Where runs are added up all histograms
 * are on the grid of nanoseconds, so each run is rounded once, by itself. merge_nodes.c and
 * merge_activity.c call.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "base/histogram.h"
#include "merge.h"
#include "model/samples.h"

/* ---- Histograms. While runs are added, pairs that the head of a histogram has no room for are in
 * memory, by the number in `more`. */

static struct arena_pairs *pairs_at(struct merge *m, uint32_t *unit) {
    struct arena_pairs *head = merge_file_need(&m->file, unit, sizeof *head);
    if (head && !head->mark) {
        head->mark = ARENA_PAIRS;
    }
    return head;
}

/* Makes the content of a histogram m->sum. */
static void pairs_load(struct merge *m, const struct arena_pairs *head) {
    const uint8_t *pairs = head->pair;
    if (head->bytes > sizeof head->pair) {
        pairs = m->buckets[head->more].pairs;
    }
    histogram_decode(&m->sum, pairs, head->bytes); /* zeroed first: none is as good as empty */
    m->sum.open = head->open;
    m->sum.full = head->full;
}

/* A place in memory for so many bytes of pairs; NULL without memory. */
static uint8_t *pairs_room(struct merge *m, struct arena_pairs *head, uint32_t unit,
                           uint32_t bytes) {
    if (head->bytes <= sizeof head->pair) { /* the first time */
        m->buckets = scratch_array_grow(&m->lasting, m->buckets, m->bucket_count, &m->bucket_room,
                                        sizeof *m->buckets);
        if (!m->buckets) {
            return NULL;
        }
        head->more = m->bucket_count++;
        m->buckets[head->more] = (struct merge_buckets){.unit = unit};
    }
    struct merge_buckets *to = &m->buckets[head->more];
    if (bytes > to->room) {
        to->room = to->room ? bytes + bytes / 2 : bytes;
        to->pairs = scratch_get(&m->lasting, to->room);
    }
    return to->pairs;
}

/* Makes m->sum the new content of a histogram, which has the samples of before, too. */
static int pairs_store(struct merge *m, struct arena_pairs *head, uint32_t unit) {
    uint32_t bytes = histogram_encode(m->pairs, &m->sum);
    uint8_t *to = head->pair;
    if (bytes > sizeof head->pair) {
        to = pairs_room(m, head, unit, bytes);
    }
    if (!to) {
        return -1;
    }
    memcpy(to, m->pairs, bytes);
    head->bytes = bytes;
    head->open = (uint16_t)m->sum.open;
    head->full = m->sum.full != 0;
    return 0;
}

int merge_buckets_finish(struct merge *m) {
    for (uint32_t i = 0; i < m->bucket_count; ++i) {
        const struct merge_buckets *from = &m->buckets[i];
        struct arena_pairs *head = merge_file_at(&m->file, from->unit);
        memset(head->pair, 0, sizeof head->pair); /* those of when they were few */
        head->more = merge_file_put(&m->file, from->pairs, head->bytes);
        if (!head->more) {
            return -1;
        }
    }
    return 0;
}

/* Adds `count` samples between low and high to the buckets that cover this interval, in proportion;
 * the fraction that rounding leaves is added to the next bucket. */
static void spread_samples(struct histogram *to, uint64_t count, double low, double high) {
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
        histogram_bucket_add(to, k, n);
    }
}

/* The samples of an open bucket stay in one: the lowest that they can be in. */
static void rescale_open(struct histogram *to, double low, uint64_t count) {
    double last = (double)histogram_low(STINT_IMPL_BUCKETS - 1);
    uint32_t k = stint_impl_bucket((uint64_t)double_min(low, last));
    histogram_bucket_add(to, k, count);
    to->open = histogram_open_lower(to->open, k + 1);
}

static void rescale_buckets(struct histogram *to, const struct histogram *from, double rate) {
    to->full |= from->full;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        double low = (double)histogram_low(i) * rate, high = (double)histogram_low(i + 1) * rate;
        int is_open = (from->open && i + 1 >= from->open) || high > (double)STINT_IMPL_LONG;
        if (from->bucket[i] && is_open) {
            rescale_open(to, low, from->bucket[i]);
        } else if (from->bucket[i]) {
            spread_samples(to, from->bucket[i], low, high);
        }
    }
}

/* Adds those that were read, whose values are `rate` merged ticks each. */
static void add_buckets(struct merge *m, double rate) {
    if (m->keep != MERGE_KEEP_THREADS) {
        histogram_add_in_ns(&m->sum, &m->read, rate);
    } else if (rate > 0.999 && rate < 1.001) { /* a sixtieth of a bucket */
        histogram_sum(&m->sum, &m->read);
    } else {
        rescale_buckets(&m->sum, &m->read, rate);
    }
}

/* In a file of format 4 the last bucket has all longer samples, which the merged file says: it is
 * open. */
static int read_buckets(struct merge *m, const struct snapshot *s,
                        const struct merge_samples *from) {
    if (snapshot_read_buckets(s, from->thread, from->histogram, &m->read)) {
        return -1;
    }
    if (s->is_format_4 && m->read.bucket[ARENA_BUCKETS_OF_4 - 1]) {
        m->read.open = ARENA_BUCKETS_OF_4;
    }
    if (!from->taken || snapshot_read_buckets(s, SNAPSHOT_NONE, from->taken, &m->taken)) {
        return 0;
    }
    histogram_take(&m->read, &m->taken);
    return 0;
}

int merge_histogram_add(struct merge *m, struct merge_map *map, uint32_t *to,
                        const struct merge_samples *from) {
    if (hash_map_get(&map->histogram, from->histogram) != HASH_MAP_NONE ||
        read_buckets(m, &map->run->snapshot, from)) {
        return 0;
    }
    struct arena_pairs *sum = pairs_at(m, to);
    if (!sum) {
        return -1;
    }
    hash_map_set(&map->histogram, from->histogram, *to); /* there is room */
    pairs_load(m, sum);
    add_buckets(m, from->rate);
    return pairs_store(m, sum, *to);
}

/* ---- Samples that a node keeps itself. */

/* The samples of one node, in merged ticks. */
struct kept {
    uint32_t count;
    int fit; /* a merged node can keep each of them */
    uint64_t ticks[STINT_IMPL_RAW];
};

static void read_run_kept(struct kept *out, const struct merge_map *map,
                          const struct snapshot_node *n) {
    struct samples samples;
    samples_read(&samples, &map->run->snapshot, n);
    out->count = samples.kept;
    out->fit = 1;
    for (uint32_t i = 0; i < samples.kept; ++i) {
        out->ticks[i] = n->in_ns ? samples.ticks[i] : merge_length(map, samples.ticks[i]);
        out->fit &= out->ticks[i] < STINT_IMPL_RAW_COUNTED - 1; /* as the recorder */
    }
}

static void read_merged_kept(struct kept *out, const struct stint_impl_node *n) {
    out->count = 0;
    while (out->count < STINT_IMPL_RAW && n->raw[out->count]) {
        out->ticks[out->count] = n->raw[out->count] - 1;
        ++out->count;
    }
}

/* Keeps them in a merged node that has so many. There is room for them. */
static void store_kept(struct stint_impl_node *to, uint32_t have, const struct kept *more) {
    for (uint32_t i = 0; i < more->count; ++i) {
        to->raw[have + i] = (uint32_t)more->ticks[i] + 1;
    }
}

static void count_kept(struct histogram *to, const struct kept *more) {
    for (uint32_t i = 0; i < more->count; ++i) {
        histogram_count_value(to, more->ticks[i]);
    }
}

/* Whether the merged node can keep the samples of the run's node beside those that it has. Both
 * have to be all samples of their nodes: a reader takes samples without a histogram for all. A copy
 * has as many as the run's node. */
static int all_can_be_kept(const struct merge *m, const struct stint_impl_node *to,
                           const struct kept *have, const struct snapshot_node *n,
                           const struct kept *more) {
    int are_all = have->count >= to->seq / 2 && more->count >= n->count;
    if (to->histogram || !(are_all || m->keep == MERGE_KEEP_THREADS)) {
        return 0;
    }
    return more->fit && have->count + more->count <= STINT_IMPL_RAW;
}

int merge_kept_add(struct merge *m, const struct merge_map *map, struct stint_impl_node *to,
                   const struct snapshot_node *n) {
    struct kept have, more;
    read_merged_kept(&have, to);
    read_run_kept(&more, map, n);
    if (all_can_be_kept(m, to, &have, n, &more)) {
        store_kept(to, have.count, &more);
        return 0;
    }
    if (!have.count && !more.count) {
        return 0;
    }
    struct arena_pairs *sum = pairs_at(m, &to->histogram);
    if (!sum) {
        return -1;
    }
    memset(to->raw, 0, sizeof to->raw);
    pairs_load(m, sum);
    count_kept(&m->sum, &have);
    count_kept(&m->sum, &more);
    return pairs_store(m, sum, to->histogram);
}
