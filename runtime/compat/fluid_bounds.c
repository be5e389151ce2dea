/* SPDX-License-Identifier: Apache-2.0 */
#include "fluid_rows.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "model/baseline.h"
#include "model/samples.h"

struct fluid_bounds_table {
    struct hash_map number_of; /* histograms to the numbers of their bounds */
    struct fluid_bounds *bounds;
    struct histogram read;
    struct histogram now; /* of the node at hand, in the interval */
};

struct fluid_bounds_table *fluid_bounds_new(struct snapshot *s) {
    struct fluid_bounds_table *t = scratch_get(&s->memory, sizeof *t);
    struct fluid_bounds *bounds = scratch_array(&s->memory, s->node_count, sizeof *bounds);
    if (scratch_failed(&s->memory) || hash_map_start(&t->number_of, &s->memory, s->node_count)) {
        return NULL;
    }
    t->bounds = bounds;
    return t;
}

/* The bounds of the samples of the interval; without a sample there are none. */
static struct fluid_bounds read_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                       uint32_t thread, uint32_t unit) {
    struct fluid_bounds none = {0, UINT64_MAX};
    struct histogram *now = &t->now;
    memset(now, 0, sizeof *now);
    baseline_add_histogram(now, s, thread, unit, &t->read);
    if (!histogram_count(now)) {
        return none;
    }
    return (struct fluid_bounds){histogram_min(now), histogram_max(now)};
}

/* The bounds of the samples that a node without a histogram keeps. */
static struct fluid_bounds read_kept(const struct snapshot *s, const struct snapshot_node *n) {
    struct fluid_bounds b = {0, UINT64_MAX};
    struct samples samples;
    samples_read(&samples, s, n);
    if (samples.kept) {
        b = (struct fluid_bounds){UINT64_MAX, 0};
    }
    for (uint32_t i = 0; i < samples.kept; ++i) {
        b.min = u64_min(b.min, samples.ticks[i]);
        b.max = u64_max(b.max, samples.ticks[i]);
    }
    return b;
}

static struct fluid_bounds interval_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                           const struct snapshot_node *n) {
    if (!n->histogram) {
        return read_kept(s, n);
    }
    uint32_t known = t->number_of.count;
    uint32_t number = hash_map_number(&t->number_of, n->histogram);
    if (number == known) {
        t->bounds[number] = read_bounds(t, s, n->thread, n->histogram);
    }
    return t->bounds[number];
}

struct fluid_bounds fluid_bounds(struct fluid_bounds_table *t, const struct snapshot *s,
                                 const struct snapshot_node *n) {
    struct fluid_bounds b = {n->min, n->max};
    if (!n->loose) {
        return b;
    }
    struct fluid_bounds interval = interval_bounds(t, s, n);
    if (n->loose & SNAPSHOT_LOOSE_MIN) {
        b.min = u64_max(interval.min, b.min);
    }
    if (n->loose & SNAPSHOT_LOOSE_MAX) {
        b.max = u64_min(interval.max, b.max);
    }
    return b;
}
