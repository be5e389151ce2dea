/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of activities that the recorder took back, as later records proved them wrong: counters
 * of the arena only grow, so they are in a row of their own (ACTIVITY_TAKEN_BACK), which is
 * subtracted here.
 */
#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "snapshot.h"

/* What a row and the one that takes back of it have in common. */
static uint32_t taken_hash(uint32_t kind, uint32_t detail, const struct snapshot_activity *a) {
    const uint32_t key[] = {kind, detail, a->node, a->device};
    return (uint32_t)hash_bytes((const char *)key, sizeof key);
}

static int taken_is_of(const struct snapshot_activity *taken, const struct snapshot_activity *a) {
    return a->kind == ACTIVITY_TAKEN_KIND(taken->detail) &&
           a->detail == ACTIVITY_TAKEN_DETAIL(taken->detail) && a->node == taken->node &&
           a->device == taken->device;
}

/* Too large for the stack of a thread that prints a report. */
struct taken_buffer {
    uint32_t all[STINT_IMPL_BUCKETS];
    uint32_t taken[STINT_IMPL_BUCKETS];
    struct histogram rest;
};

/* The extremes may be among the samples that were taken back. */
static void taken_limit_bounds(const struct snapshot *s, struct snapshot_activity *a,
                               struct taken_buffer *b) {
    if (snapshot_read_buckets(s, SNAPSHOT_NONE, a->histogram, b->all) ||
        snapshot_read_buckets(s, SNAPSHOT_NONE, a->taken_histogram, b->taken)) {
        return;
    }
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        b->rest.bucket[i] = saturating_subtract(b->all[i], b->taken[i]);
    }
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
    a->count = saturating_subtract(a->count, taken->count);
    a->total = saturating_subtract(a->total, taken->total);
    a->squares = double_max(a->squares - taken->squares, 0);
    taken_limit_bounds(s, a, b);
}

static uint32_t taken_count_rows(const struct snapshot *s) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        count += s->activities[i].kind == ACTIVITY_TAKEN_BACK;
    }
    return count;
}

/* The rows that take back, by what they have in common with others. 0, or -1 without memory. */
static int taken_map_rows(struct snapshot *s, struct hash_map *rows, uint32_t count) {
    if (hash_map_start(rows, &s->memory, count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        uint32_t kind = ACTIVITY_TAKEN_KIND(a->detail), detail = ACTIVITY_TAKEN_DETAIL(a->detail);
        if (a->kind == ACTIVITY_TAKEN_BACK) {
            hash_map_set(rows, taken_hash(kind, detail, a), i);
        }
    }
    return 0;
}

int snapshot_take_back(struct snapshot *s) {
    struct hash_map rows;
    uint32_t count = taken_count_rows(s);
    if (!count) {
        return 0;
    }
    struct taken_buffer *b = scratch_get(&s->memory, sizeof *b);
    if (!b || taken_map_rows(s, &rows, count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        struct snapshot_activity *a = &s->activities[i];
        uint32_t row = hash_map_get(&rows, taken_hash(a->kind, a->detail, a));
        if (row != HASH_MAP_NONE && row != i && taken_is_of(&s->activities[row], a)) {
            taken_subtract(s, a, &s->activities[row], b);
        }
    }
    return 0;
}
