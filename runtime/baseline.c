/* SPDX-License-Identifier: Apache-2.0 */
#include "baseline.h"

#include <string.h>

/* Both tables are open addressing by unit, at most half full; unit 0 is a free place. */
struct baseline_histogram {
    uint32_t unit;
    uint32_t bucket[STINT_IMPL_BUCKETS];
};

struct baseline {
    struct scratch memory; /* holds this struct too */
    uint64_t ns;
    struct baseline_node *nodes;
    struct baseline_histogram **histograms;
    uint32_t mask;
};

static struct baseline_node *node_slot(const struct baseline *b, uint32_t unit) {
    uint32_t at = unit * 0x9e3779b1u & b->mask;
    while (b->nodes[at].unit && b->nodes[at].unit != unit) {
        at = (at + 1) & b->mask;
    }
    return &b->nodes[at];
}

static struct baseline_histogram **histogram_slot(const struct baseline *b, uint32_t unit) {
    uint32_t at = unit * 0x9e3779b1u & b->mask;
    while (b->histograms[at] && b->histograms[at]->unit != unit) {
        at = (at + 1) & b->mask;
    }
    return &b->histograms[at];
}

const struct baseline_node *baseline_node_of(const struct baseline *b, uint32_t unit) {
    const struct baseline_node *n = node_slot(b, unit);
    return n->unit ? n : NULL;
}

const uint32_t *baseline_histogram_of(const struct baseline *b, uint32_t unit) {
    struct baseline_histogram *h = unit ? *histogram_slot(b, unit) : NULL;
    return h ? h->bucket : NULL;
}

static void subtract(struct snapshot_node *out, const struct baseline_node *then, uint64_t now) {
    if (out->open && then->at < now && out->open > now - then->at) {
        out->open = now - then->at;
    }
    out->recursions -= then->recursions;
    out->count -= then->count;
    out->total -= then->total;
    if (!then->count) {
        return;
    }
    out->first = 0;
    out->loose = SNAPSHOT_LOOSE_MIN;
    if (out->max_at < then->at) {
        out->loose |= SNAPSHOT_LOOSE_MAX;
        out->info[0] = '\0';
    }
}

void baseline_subtract(const struct baseline *b, struct snapshot *s) {
    s->since = b;
    s->wall_ns = s->now.monotonic_ns > b->ns ? s->now.monotonic_ns - b->ns : 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct baseline_node *n = baseline_node_of(b, s->nodes[i].unit);
        if (n) {
            subtract(&s->nodes[i], n, s->now.ticks);
        }
    }
    snapshot_sum_children(s);
}

static int keep_histogram(struct baseline *b, const struct snapshot *s, uint32_t unit,
                          const uint32_t *old) {
    struct baseline_histogram **slot = histogram_slot(b, unit);
    const struct stint_impl_histogram *h = snapshot_at(s, unit, sizeof *h);
    if (*slot || !h) {
        return 0;
    }
    struct baseline_histogram *keep = scratch_get(&b->memory, sizeof *keep);
    if (!keep) {
        return -1;
    }
    keep->unit = unit;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        keep->bucket[i] = old ? old[i] : STINT_IMPL_LOAD(&h->bucket[i]);
    }
    *slot = keep;
    return 0;
}

static int keep_node(struct baseline *b, const struct snapshot *s, const struct snapshot_node *n,
                     uint32_t set, const struct baseline *old) {
    int now = set == BASELINE_ALL_SETS || n->set == set;
    const struct baseline_node *then = old ? baseline_node_of(old, n->unit) : NULL;
    if (!now && !then) {
        return 0; /* not reset, now or before */
    }
    struct baseline_node *out = node_slot(b, n->unit);
    out->unit = n->unit;
    out->count = now ? n->count : then->count;
    out->total = now ? n->total : then->total;
    out->recursions = now ? n->recursions : then->recursions;
    out->at = now ? s->now.ticks : then->at;
    const uint32_t *old_histogram = now ? NULL : baseline_histogram_of(old, n->histogram);
    return n->histogram && (now || old_histogram)
               ? keep_histogram(b, s, n->histogram, old_histogram)
               : 0;
}

struct baseline *baseline_new(const struct snapshot *s, uint32_t set, const struct baseline *old) {
    struct scratch memory = {0};
    struct baseline *b = scratch_get(&memory, sizeof *b);
    uint32_t size = 64;
    while (size < s->node_count * 2) {
        size *= 2;
    }
    if (b) {
        b->nodes = scratch_array(&memory, size, sizeof *b->nodes);
        b->histograms = scratch_array(&memory, size, sizeof *b->histograms);
        b->memory = memory;
    }
    int failed = !b || !b->nodes || !b->histograms;
    if (!failed) {
        b->mask = size - 1;
        b->ns = set == BASELINE_ALL_SETS ? s->now.monotonic_ns
                : old                    ? old->ns
                                         : s->now.monotonic_ns - s->wall_ns;
        for (uint32_t i = 0; i < s->node_count && !failed; ++i) {
            failed = keep_node(b, s, &s->nodes[i], set, old);
        }
        memory = b->memory;
    }
    if (failed) {
        scratch_free(&memory);
        return NULL;
    }
    return b;
}

void baseline_free(struct baseline *b) {
    if (b) {
        struct scratch memory = b->memory;
        scratch_free(&memory);
    }
}
