/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of activities that the recorder took back, as later records proved them wrong: counters
 * of the arena only grow, so they are in a row of their own (ACTIVITY_TAKEN_BACK), which is
 * subtracted here. It was made after the row it takes back of: of several such rows, as the runs of
 * a merged file have them, it belongs to the last one before it.
 */
#include <string.h>

#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "snapshot_parts.h"

/* The key that a row and the one that takes back of it have in common. */
struct taken_key {
    uint32_t kind;
    uint32_t detail;
    uint32_t node;
    uint32_t device;
};

static struct taken_key taken_get_key(const struct snapshot_activity *a) {
    struct taken_key k = {a->kind, a->detail, a->node, a->device};
    if (a->kind == ACTIVITY_TAKEN_BACK) {
        k.kind = ACTIVITY_TAKEN_KIND(a->detail);
        k.detail = ACTIVITY_TAKEN_DETAIL(a->detail);
    }
    return k;
}

/* Too large for the stack of a thread that prints a report. */
struct taken_buffer {
    struct histogram rest, taken;
};

/* The extremes may be among the samples that were taken back. */
static void taken_limit_bounds(const struct snapshot *s, struct snapshot_activity *a,
                               struct taken_buffer *b) {
    if (snapshot_read_buckets(s, SNAPSHOT_NONE, a->histogram, &b->rest) ||
        snapshot_read_buckets(s, SNAPSHOT_NONE, a->taken_histogram, &b->taken)) {
        return;
    }
    histogram_take(&b->rest, &b->taken);
    if (histogram_count(&b->rest)) {
        a->min = u64_max(a->min, histogram_min(&b->rest));
        a->max = u64_max(u64_min(a->max, histogram_max(&b->rest)), a->min);
    }
}

static void taken_subtract(const struct snapshot *s, struct snapshot_activity *a,
                           const struct snapshot_activity *taken, struct taken_buffer *b) {
    a->taken_count = taken->count;
    a->taken_total = taken->total;
    a->taken_squares = taken->squares;
    a->taken_histogram = taken->histogram;
    numbers_subtract(&record_activity, a->number, taken->number);
    taken_limit_bounds(s, a, b);
}

/* The rows so far: of each key the first, by its hash, and for the first the last. */
struct taken_rows {
    const struct snapshot *from;
    struct hash_map first;
    uint32_t *last;
};

/* The first row of the key; if there is none it is that row, or HASH_MAP_NONE for none. */
static uint32_t taken_find_first(struct taken_rows *rows, const struct taken_key *k, uint32_t row) {
    uint32_t hash = (uint32_t)hash_bytes((const char *)k, sizeof *k);
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(&rows->first, hash, &walk);
    while (i != HASH_MAP_NONE) {
        struct taken_key have = taken_get_key(&rows->from->activities[i]);
        if (!memcmp(&have, k, sizeof have)) {
            return i;
        }
        i = hash_map_next(&rows->first, &walk);
    }
    if (row != HASH_MAP_NONE) {
        hash_map_add(&rows->first, hash, row); /* there is room */
    }
    return row;
}

/* Only a file that was made by hand takes back of a row twice, or of none. */
static void taken_visit_row(struct taken_rows *rows, struct snapshot *s, uint32_t i,
                            struct taken_buffer *b) {
    struct snapshot_activity *a = &s->activities[i];
    struct taken_key k = taken_get_key(a);
    if (a->kind != ACTIVITY_TAKEN_BACK) {
        rows->last[taken_find_first(rows, &k, i)] = i;
        return;
    }
    uint32_t first = taken_find_first(rows, &k, HASH_MAP_NONE);
    if (first == HASH_MAP_NONE) {
        return;
    }
    struct snapshot_activity *of = &s->activities[rows->last[first]];
    if (!of->taken_count) {
        taken_subtract(s, of, a, b);
    }
}

int snapshot_take_back(struct snapshot *s) {
    struct taken_rows rows = {.from = s};
    uint32_t i = 0;
    while (i < s->activity_count && s->activities[i].kind != ACTIVITY_TAKEN_BACK) {
        ++i;
    }
    if (i == s->activity_count) {
        return 0;
    }
    struct taken_buffer *b = scratch_get(&s->memory, sizeof *b);
    rows.last = scratch_array(&s->memory, s->activity_count, sizeof *rows.last);
    hash_map_start(&rows.first, &s->memory, s->activity_count);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (i = 0; i < s->activity_count; ++i) {
        taken_visit_row(&rows, s, i, b);
    }
    return 0;
}
