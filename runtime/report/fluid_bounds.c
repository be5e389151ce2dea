/* SPDX-License-Identifier: Apache-2.0 */
#include "fluid_rows.h"

#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "read/baseline.h"

struct fluid_bounds_table {
    struct hash_map number_of; /* histograms to the numbers of their bounds */
    struct fluid_bounds *bounds;
    uint32_t buckets[STINT_IMPL_BUCKETS];
    struct histogram now; /* of the node at hand, in the interval */
};

struct fluid_bounds_table *fluid_bounds_new(struct snapshot *s) {
    struct fluid_bounds_table *t = scratch_get(&s->memory, sizeof *t);
    if (!t || hash_map_start(&t->number_of, &s->memory, s->node_count)) {
        return NULL;
    }
    t->bounds = scratch_array(&s->memory, s->node_count, sizeof *t->bounds);
    if (t->bounds) {
        return t;
    }
    return NULL;
}

/* Of what happened in the interval; none did: no bounds. */
static struct fluid_bounds read_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                       uint32_t thread, uint32_t unit) {
    const uint32_t *then = NULL;
    if (s->since) {
        then = baseline_histogram_of(s->since, unit);
    }
    struct fluid_bounds none = {0, UINT64_MAX};
    struct histogram *now = &t->now;
    if (snapshot_read_buckets(s, thread, unit, t->buckets)) {
        return none;
    }
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        now->bucket[i] = saturating_subtract(t->buckets[i], then ? then[i] : 0);
    }
    if (!histogram_count(now)) {
        return none;
    }
    return (struct fluid_bounds){histogram_min(now), histogram_max(now)};
}

struct fluid_bounds fluid_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                 const struct snapshot_node *n) {
    struct fluid_bounds b = {n->min, n->max};
    if (!n->loose || !n->histogram) {
        return b;
    }
    uint32_t known = t->number_of.count;
    uint32_t number = hash_map_number(&t->number_of, n->histogram);
    if (number == known) {
        t->bounds[number] = read_bounds(t, s, n->thread, n->histogram);
    }
    const struct fluid_bounds *interval = &t->bounds[number];
    if (n->loose & SNAPSHOT_LOOSE_MIN && interval->min > b.min) {
        b.min = interval->min;
    }
    if (n->loose & SNAPSHOT_LOOSE_MAX && interval->max < b.max) {
        b.max = interval->max;
    }
    return b;
}
