/* SPDX-License-Identifier: Apache-2.0 */
#include "baseline.h"

#include <string.h>

#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "base/hash.h"

/* All tables are open addressing by unit, at most half full; unit 0 is a free place. */
struct baseline_histogram {
    uint32_t unit;
    uint32_t bucket[STINT_IMPL_BUCKETS];
};

struct baseline {
    struct scratch memory; /* holds this struct too */
    uint64_t ns, steps;
    struct baseline_node *nodes;
    struct baseline_activity *activities;
    struct baseline_histogram **histograms;
    uint32_t mask; /* of all */
};

static struct baseline_node *node_slot(const struct baseline *b, uint32_t unit) {
    uint32_t at = (uint32_t)hash_number(unit) & b->mask;
    while (b->nodes[at].unit && b->nodes[at].unit != unit) {
        at = (at + 1) & b->mask;
    }
    return &b->nodes[at];
}

static struct baseline_activity *activity_slot(const struct baseline *b, uint32_t unit) {
    uint32_t at = (uint32_t)hash_number(unit) & b->mask;
    while (b->activities[at].unit && b->activities[at].unit != unit) {
        at = (at + 1) & b->mask;
    }
    return &b->activities[at];
}

static struct baseline_histogram **histogram_slot(const struct baseline *b, uint32_t unit) {
    uint32_t at = (uint32_t)hash_number(unit) & b->mask;
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

/* When the maximum was is not kept here: both bounds are the histogram's. */
static void subtract_gpu(struct snapshot_gpu *out, const struct baseline_node *then) {
    out->count -= then->gpu_count;
    out->total -= then->gpu_total;
    out->loose = then->gpu_count ? SNAPSHOT_LOOSE_MIN | SNAPSHOT_LOOSE_MAX : 0;
}

static void subtract(struct snapshot_node *out, const struct baseline_node *then, uint64_t now) {
    if (out->open && then->at < now && out->open > now - then->at) {
        out->open = now - then->at;
        out->open_self -= then->open_self < out->open_self ? then->open_self : out->open_self;
    }
    out->recursions -= then->recursions;
    out->count -= then->count;
    out->total -= then->total;
    out->nested -= then->nested;
    out->bytes -= then->bytes;
    out->flops -= then->flops;
    subtract_gpu(&out->gpu, then);
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

/* A bound that moved since then was set since then. from: when the interval began. */
static void subtract_activity(struct snapshot_activity *out, const struct baseline_activity *then,
                              uint64_t from) {
    if (!then->count) {
        return;
    }
    out->loose = (out->min < then->min ? 0 : SNAPSHOT_LOOSE_MIN) |
                 (out->max > then->max ? 0 : SNAPSHOT_LOOSE_MAX);
    out->count -= then->count;
    out->total -= then->total;
    out->bytes -= then->bytes;
    out->max_bytes = out->max_bytes < out->bytes ? out->max_bytes : out->bytes;
    out->launches -= then->launches;
    out->launch_total -= then->launch_total;
    out->delay_total -= then->delay_total;
    out->squares = out->squares > then->squares ? out->squares - then->squares : 0;
    out->first_at = out->first_at > from ? out->first_at : from;
    out->last_at = out->last_at > out->first_at ? out->last_at : out->first_at;
}

static void subtract_activities(const struct baseline *b, struct snapshot *s) {
    const struct arena_header *h = (const struct arena_header *)(const void *)s->base;
    uint64_t start = h->start.monotonic_ns;
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct baseline_activity *then = activity_slot(b, s->activities[i].unit);
        if (then->unit) {
            subtract_activity(&s->activities[i], then, b->ns > start ? b->ns - start : 0);
        }
    }
}

void baseline_subtract(const struct baseline *b, struct snapshot *s) {
    s->since = b;
    s->steps -= b->steps;
    s->wall_ns = s->now.monotonic_ns > b->ns ? s->now.monotonic_ns - b->ns : 0;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct baseline_node *n = baseline_node_of(b, s->nodes[i].unit);
        if (n) {
            subtract(&s->nodes[i], n, s->now.ticks);
        }
    }
    subtract_activities(b, s);
    snapshot_sum_children(s);
}

/* As it is now, or as the baseline `old` has it: then not at all, if it was not kept there. */
static int keep_histogram(struct baseline *b, const struct snapshot *s, uint32_t unit,
                          const struct baseline *old) {
    const uint32_t *then = old ? baseline_histogram_of(old, unit) : NULL;
    const struct stint_impl_histogram *h = snapshot_at(s, unit, sizeof *h);
    struct baseline_histogram **slot = h ? histogram_slot(b, unit) : NULL;
    if (!h || *slot || (old && !then)) {
        return 0;
    }
    struct baseline_histogram *keep = scratch_get(&b->memory, sizeof *keep);
    if (!keep) {
        return -1;
    }
    keep->unit = unit;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        keep->bucket[i] = then ? then[i] : STINT_IMPL_LOAD(&h->bucket[i]);
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
    out->nested = now ? n->nested : then->nested;
    out->open_self = now ? n->open_self : then->open_self;
    out->recursions = now ? n->recursions : then->recursions;
    out->bytes = now ? n->bytes : then->bytes;
    out->flops = now ? n->flops : then->flops;
    out->gpu_count = now ? n->gpu.count : then->gpu_count;
    out->gpu_total = now ? n->gpu.total : then->gpu_total;
    out->at = now ? s->now.ticks : then->at;
    return keep_histogram(b, s, n->histogram, now ? NULL : old) ||
           keep_histogram(b, s, n->gpu.histogram, now ? NULL : old);
}

static int keep_activity(struct baseline *b, const struct snapshot *s,
                         const struct snapshot_activity *a, uint32_t set,
                         const struct baseline *old) {
    int now = set == BASELINE_ALL_SETS;
    const struct baseline_activity *then = old ? activity_slot(old, a->unit) : NULL;
    if (a->kind == ACTIVITY_MEMORY || (!now && !(then && then->unit))) {
        return 0;
    }
    struct baseline_activity *out = activity_slot(b, a->unit);
    if (now) {
        *out = (struct baseline_activity){.unit = a->unit,
                                          .count = a->count,
                                          .total = a->total,
                                          .min = a->min,
                                          .max = a->max,
                                          .bytes = a->bytes,
                                          .launches = a->launches,
                                          .launch_total = a->launch_total,
                                          .delay_total = a->delay_total,
                                          .squares = a->squares};
    } else {
        *out = *then;
    }
    return keep_histogram(b, s, a->histogram, now ? NULL : old);
}

static int keep_all(struct baseline *b, const struct snapshot *s, uint32_t set,
                    const struct baseline *old) {
    int failed = 0;
    for (uint32_t i = 0; i < s->node_count && !failed; ++i) {
        failed = keep_node(b, s, &s->nodes[i], set, old);
    }
    for (uint32_t i = 0; i < s->activity_count && !failed; ++i) {
        failed = keep_activity(b, s, &s->activities[i], set, old);
    }
    return failed;
}

/* Room for so many entries, half of the places at most; 0 if no table is that large. */
static uint32_t size_for(uint64_t entries) {
    uint64_t size = 64;
    while (size < entries * 2) {
        size *= 2;
    }
    return size <= UINT32_MAX ? (uint32_t)size : 0;
}

struct baseline *baseline_new(const struct snapshot *s, uint32_t set, const struct baseline *old) {
    struct scratch memory = {0};
    struct baseline *b = scratch_get(&memory, sizeof *b);
    uint32_t size = size_for((uint64_t)s->node_count * 2 + s->activity_count); /* histograms */
    if (b) {
        b->nodes = scratch_array(&memory, size, sizeof *b->nodes);
        b->activities = scratch_array(&memory, size, sizeof *b->activities);
        b->histograms = scratch_array(&memory, size, sizeof *b->histograms);
        b->memory = memory;
    }
    int failed = !b || !size || !b->nodes || !b->activities || !b->histograms;
    if (!failed) {
        b->mask = size - 1;
        b->ns = set == BASELINE_ALL_SETS ? s->now.monotonic_ns
                : old                    ? old->ns
                                         : s->now.monotonic_ns - s->wall_ns;
        b->steps = set == BASELINE_ALL_SETS ? s->steps : old ? old->steps : 0;
        failed = keep_all(b, s, set, old);
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
