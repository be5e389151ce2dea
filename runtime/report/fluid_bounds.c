/* SPDX-License-Identifier: Apache-2.0 */
#include "fluid_bounds.h"

#include "base/hash.h"
#include "base/histogram.h"
#include "read/baseline.h"

struct known {
    uint32_t unit; /* of the histogram; 0: a free place */
    struct fluid_bounds bounds;
};

/* Open addressing, at most half full. */
struct fluid_bounds_table {
    struct known *known;
    uint32_t mask;
    struct histogram now; /* of the node at hand, in the interval */
};

struct fluid_bounds_table *fluid_bounds_new(struct snapshot *s) {
    struct fluid_bounds_table *t = scratch_get(&s->memory, sizeof *t);
    uint32_t size = 64;
    while (size < s->node_count * 2) {
        size *= 2;
    }
    if (t) {
        t->mask = size - 1;
        t->known = scratch_array(&s->memory, size, sizeof *t->known);
    }
    return t && t->known ? t : NULL;
}

/* Of what happened in the interval; none did: no bounds. */
static struct fluid_bounds read_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                       uint32_t unit) {
    const struct stint_impl_histogram *h = snapshot_at(s, unit, sizeof *h);
    const uint32_t *then = h && s->since ? baseline_histogram_of(s->since, unit) : NULL;
    struct fluid_bounds none = {0, UINT64_MAX};
    struct histogram *now = &t->now;
    for (uint32_t i = 0; h && i < STINT_IMPL_BUCKETS; ++i) {
        now->bucket[i] = STINT_IMPL_LOAD(&h->bucket[i]) - (then ? then[i] : 0);
    }
    if (!h || !histogram_count(now)) {
        return none;
    }
    return (struct fluid_bounds){histogram_min(now), histogram_max(now)};
}

struct fluid_bounds fluid_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                 const struct snapshot_node *n) {
    struct fluid_bounds b = {n->min, n->max};
    uint32_t at = (uint32_t)hash_number(n->histogram) & t->mask;
    if (!n->loose || !n->histogram) {
        return b;
    }
    while (t->known[at].unit && t->known[at].unit != n->histogram) {
        at = (at + 1) & t->mask;
    }
    struct known *k = &t->known[at];
    if (!k->unit) {
        k->unit = n->histogram;
        k->bounds = read_bounds(t, s, n->histogram);
    }
    b.min = n->loose & SNAPSHOT_LOOSE_MIN && k->bounds.min > b.min ? k->bounds.min : b.min;
    b.max = n->loose & SNAPSHOT_LOOSE_MAX && k->bounds.max < b.max ? k->bounds.max : b.max;
    return b;
}
