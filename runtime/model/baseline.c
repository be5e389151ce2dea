/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts, totals and histograms at the last reset, which later snapshots subtract. A reset of
 * one set keeps the older baseline of all others. Counters in the arena only grow and are never
 * cleared, so what is subtracted is never larger than what it is subtracted from; except of
 * activities of which samples were taken back since then (snapshot_taken.c).
 */
#include "baseline.h"

#include <string.h>

#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "samples.h"

/* Entries are numbered as they come; the maps lead from units to their numbers. */
struct baseline {
    struct scratch memory; /* holds this struct too */
    uint64_t ns, steps;
    const struct measures *outside;
    struct baseline_node *nodes;
    struct baseline_activity *activities;
    struct histogram_list *histograms;
    struct hash_map node_of, activity_of, histogram_of;
};

/* The place of what was kept of a unit in its array; NULL if it did not exist then. */
static const void *find_kept(const struct hash_map *of, uint32_t unit, const void *kept,
                             size_t bytes) {
    uint32_t number = hash_map_get(of, unit);
    return number == HASH_MAP_NONE ? NULL : (const char *)kept + number * bytes;
}

static const struct baseline_node *baseline_node_of(const struct baseline *b, uint32_t unit) {
    return b ? find_kept(&b->node_of, unit, b->nodes, sizeof *b->nodes) : NULL;
}

static const struct baseline_activity *activity_of(const struct baseline *b, uint32_t unit) {
    return b ? find_kept(&b->activity_of, unit, b->activities, sizeof *b->activities) : NULL;
}

static const struct histogram_list *histogram_of(const struct baseline *b, uint32_t unit) {
    return b ? find_kept(&b->histogram_of, unit, b->histograms, sizeof *b->histograms) : NULL;
}

void baseline_add_histogram(struct histogram *sum, const struct snapshot *s, uint32_t thread,
                            uint32_t unit, struct histogram *read) {
    static const struct histogram_list none;
    const struct histogram_list *then = histogram_of(s->since, unit);
    if (!then && histogram_is_empty(sum)) { /* the first one of a sum, and mostly the only one */
        if (snapshot_read_buckets(s, thread, unit, sum)) {
            histogram_clear(sum);
        }
        return;
    }
    if (snapshot_read_buckets(s, thread, unit, read)) {
        return;
    }
    if (!then) {
        then = &none;
    }
    for (uint32_t i = 0; i < then->used; ++i) {
        uint64_t *bucket = &read->bucket[then->bucket[i].index];
        *bucket = saturating_subtract(*bucket, then->bucket[i].count);
    }
    histogram_sum(sum, read);
}

/* Measures of the snapshot, in its memory: there are none in `then` that it lacks. */
static struct measures *measures_of(const struct measures *m) {
    return (struct measures *)(uintptr_t)m;
}

static void subtract_measures(const struct measures *now, const struct measures *then) {
    if (now != &snapshot_no_measures) {
        measures_subtract(measures_of(now), then);
    }
}

static void baseline_subtract_node(struct snapshot *s, uint32_t index,
                                   const struct baseline_node *then) {
    struct snapshot_node *out = &s->nodes[index];
    struct snapshot_extra *more = snapshot_extra_of(s, index);
    uint64_t now = s->now.ticks;
    if (more->open && then->at < now && more->open > now - then->at) {
        more->open = now - then->at;
        more->open_self = saturating_subtract(more->open_self, then->open_self);
    }
    more->before = then->count;
    more->raw_before = then->raw;
    more->raw_counted = then->raw_counted;
    numbers_subtract(&record_scope, out->number, then->number);
    subtract_measures(out->measures, then->measures);
    if (then->measures->gpu_calls) { /* the time of the maximum is not recorded */
        more->gpu.loose = SNAPSHOT_LOOSE_MIN | SNAPSHOT_LOOSE_MAX;
    }
    if (!then->count) {
        return;
    }
    out->first = 0;
    out->loose = SNAPSHOT_LOOSE_MIN;
    if (out->max <= then->max) { /* it only grows */
        out->loose |= SNAPSHOT_LOOSE_MAX;
        more->info[0] = '\0';
    }
}

/* A bound that moved since then was set since then. from: when the interval began. */
static void subtract_activity(struct snapshot_activity *out, const struct baseline_activity *then,
                              uint64_t from) {
    if (!then->count) {
        return;
    }
    out->loose = SNAPSHOT_LOOSE_MAX_BYTES;
    if (out->min >= then->min) {
        out->loose |= SNAPSHOT_LOOSE_MIN;
    }
    if (out->max <= then->max) {
        out->loose |= SNAPSHOT_LOOSE_MAX;
    }
    if (out->min_bytes >= then->min_bytes) {
        out->loose |= SNAPSHOT_LOOSE_MIN_BYTES;
    }
    out->before = then->count;
    numbers_subtract(&record_activity, out->number, then->number);
    out->max_bytes = u64_min(out->max_bytes, out->bytes);
    snapshot_activity_cut(out, from);
}

static void subtract_activities(const struct baseline *b, struct snapshot *s) {
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    uint64_t start = h->start.monotonic_ns;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct baseline_activity *then = activity_of(b, s->activities[i].unit);
        if (then) {
            subtract_activity(&s->activities[i], then, saturating_subtract(b->ns, start));
        }
    }
}

void baseline_subtract(const struct baseline *b, struct snapshot *s) {
    s->since = b;
    s->steps -= b->steps;
    subtract_measures(s->outside, b->outside);
    s->wall_ns = saturating_subtract(s->now.monotonic_ns, b->ns);
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct baseline_node *n = baseline_node_of(b, s->nodes[i].unit);
        if (n) {
            baseline_subtract_node(s, i, n);
        }
    }
    subtract_activities(b, s);
    snapshot_sum_children(s);
}

/* While a baseline is made: what is not reset now keeps what the one before, `old`, has of it. */
struct keeping {
    struct baseline *b;
    const struct snapshot *s;
    const struct baseline *old;
    struct histogram *read; /* one of them */
};

/* The histogram as it is now, or as it was then; nothing if that does not have it. */
static int keep_histogram(const struct keeping *k, uint32_t thread, uint32_t unit, int now) {
    struct baseline *b = k->b;
    const struct histogram_list *then = histogram_of(k->old, unit);
    if (histogram_of(b, unit) || (!now && !then)) {
        return 0;
    }
    if (now && snapshot_read_buckets(k->s, thread, unit, k->read)) {
        return 0;
    }
    if (!now) {
        histogram_unpack(k->read, then);
    }
    uint32_t number = hash_map_number(&b->histogram_of, unit);
    if (number == HASH_MAP_NONE) {
        return -1;
    }
    return histogram_pack(&b->histograms[number], &b->memory, k->read);
}

static int keep_measures(struct baseline *b, const struct measures **to,
                         const struct measures *from) {
    *to = from;
    if (from != &snapshot_no_measures) {
        struct measures *copy = scratch_get(&b->memory, sizeof *copy);
        if (!copy) {
            return -1;
        }
        *copy = *from;
        *to = copy;
    }
    return 0;
}

static int keep_node(const struct keeping *k, const struct snapshot_node *n, int now) {
    const struct baseline_node *then = baseline_node_of(k->old, n->unit);
    if (!now && !then) {
        return 0; /* not reset, now or before */
    }
    uint32_t number = hash_map_number(&k->b->node_of, n->unit);
    if (number == HASH_MAP_NONE) {
        return -1;
    }
    struct baseline_node *out = &k->b->nodes[number];
    if (now) {
        memcpy(out->number, n->number, sizeof out->number);
        out->open_self = n->extra->open_self;
        out->at = k->s->now.ticks;
        out->raw = samples_count(k->s, n, &out->raw_counted);
    } else {
        *out = *then;
    }
    return keep_measures(k->b, &out->measures, now ? n->measures : then->measures) ||
           keep_histogram(k, n->thread, n->histogram, now) ||
           keep_histogram(k, SNAPSHOT_NONE, n->extra->gpu.histogram, now);
}

static int keep_activity(const struct keeping *k, const struct snapshot_activity *a, int now) {
    const struct baseline_activity *then = activity_of(k->old, a->unit);
    if (a->kind == ACTIVITY_MEMORY || (!now && !then)) {
        return 0;
    }
    uint32_t number = hash_map_number(&k->b->activity_of, a->unit);
    if (number == HASH_MAP_NONE) {
        return -1;
    }
    memcpy(k->b->activities[number].number, now ? a->number : then->number, sizeof a->number);
    return keep_histogram(k, SNAPSHOT_NONE, a->histogram, now) ||
           keep_histogram(k, SNAPSHOT_NONE, a->byte_histogram, now);
}

static int keep_all(const struct keeping *k, uint32_t set) {
    int all = set == BASELINE_ALL_SETS, failed = 0;
    for (uint32_t i = 0; i < k->s->node_count && !failed; ++i) {
        failed = keep_node(k, &k->s->nodes[i], all || k->s->nodes[i].set == set);
    }
    for (uint32_t i = 0; i < k->s->activity_count && !failed; ++i) {
        failed = keep_activity(k, &k->s->activities[i], all);
    }
    return failed;
}

static int make_room(struct baseline *b, const struct snapshot *s) {
    uint64_t nodes = s->node_count, activities = s->activity_count;
    uint64_t histograms = 2 * nodes + 2 * activities;
    b->nodes = scratch_array(&b->memory, nodes, sizeof *b->nodes);
    b->activities = scratch_array(&b->memory, activities, sizeof *b->activities);
    b->histograms = scratch_array(&b->memory, histograms, sizeof *b->histograms);
    hash_map_start(&b->node_of, &b->memory, nodes);
    hash_map_start(&b->activity_of, &b->memory, activities);
    hash_map_start(&b->histogram_of, &b->memory, histograms);
    return scratch_failed(&b->memory) ? -1 : 0;
}

static int keep_start(struct baseline *b, const struct snapshot *s, uint32_t set,
                      const struct baseline *old) {
    const struct measures *outside = &snapshot_no_measures;
    if (set == BASELINE_ALL_SETS) {
        outside = s->outside;
        b->ns = s->now.monotonic_ns;
        b->steps = s->steps;
    } else if (old) {
        b->ns = old->ns;
        b->steps = old->steps;
        outside = old->outside;
    } else {
        b->ns = s->now.monotonic_ns - s->wall_ns;
    }
    return keep_measures(b, &b->outside, outside);
}

void baseline_free(struct baseline *b) {
    if (b) {
        struct scratch memory = b->memory;
        scratch_free(&memory);
    }
}

struct baseline *baseline_new(const struct snapshot *s, uint32_t set, const struct baseline *old) {
    struct scratch memory = {0};
    struct baseline *b = scratch_get(&memory, sizeof *b);
    if (!b) {
        return NULL;
    }
    b->memory = memory;
    struct histogram *read = scratch_get(&b->memory, sizeof *read);
    if (keep_start(b, s, set, old) || make_room(b, s) ||
        keep_all(&(struct keeping){b, s, old, read}, set)) {
        baseline_free(b);
        return NULL;
    }
    return b;
}
