/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Percentiles, standard deviation and bounds of a row: from the samples that its nodes have kept,
 * exactly if that is all of them, else from these and the nodes' histograms. A row has lists of
 * both, which rows.c fills while it groups nodes.
 */
#include "rows_private.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "baseline.h"
#include "deviation.h"
#include "samples.h"

#define KEPT_TRIES 200

void link_histogram(struct grouping *g, struct times *to, uint32_t unit, uint32_t thread,
                    int in_ns) {
    if (!unit) {
        return;
    }
    if (!g->tree) { /* a row of the tree has one node of a site and thread */
        if (hash_map_get(&g->seen, unit) != HASH_MAP_NONE) {
            return;
        }
        hash_map_add(&g->seen, unit, 0);
    }
    g->links[g->link_count].unit = unit;
    g->links[g->link_count].thread = thread;
    g->links[g->link_count].in_ns = in_ns;
    g->links[g->link_count].next = to->histograms;
    to->histograms = ++g->link_count;
}

void link_samples(struct grouping *g, struct times *to, const struct snapshot_node *n) {
    link_histogram(g, to, n->histogram, n->thread, n->in_ns);
    if (samples_any(g->s, n)) {
        uint32_t node = (uint32_t)(n - g->s->nodes);
        g->keepers[node] = to->keepers;
        to->keepers = node + 1;
    }
}

static const uint16_t permilles[PERCENTILE_COUNT] = PERCENTILE_PERMILLES;

/* The samples that a node keeps, in the unit of the row. */
static void kept_in_row_unit(const struct grouping *g, const struct times *row, uint32_t link,
                             struct samples *out) {
    const struct snapshot_node *n = &g->s->nodes[link - 1];
    samples_read(out, g->s, n);
    if (row->in_ns && !n->in_ns) {
        samples_to_ns(out, g->s);
    }
}

/* Adds the samples that nodes of the row keep themselves (NULL: only looks). Returns how many of
 * them are in histograms by now. */
static uint64_t row_add_kept(const struct grouping *g, const struct times *from,
                             struct histogram *sum) {
    uint64_t counted = 0;
    for (uint32_t link = from->keepers; link; link = g->keepers[link - 1]) {
        struct samples samples;
        kept_in_row_unit(g, from, link, &samples);
        counted += samples.counted;
        if (sum) {
            samples_add(sum, &samples);
        }
    }
    return counted;
}

static void row_add_histograms(const struct grouping *g, const struct times *from,
                               struct histogram *sum) {
    struct histogram *ticks = sum;
    if (from->in_ns) {
        ticks = g->ticks;
        histogram_clear(ticks);
    }
    histogram_clear(sum);
    for (uint32_t link = from->histograms; link; link = g->links[link - 1].next) {
        const struct histogram_link *h = &g->links[link - 1];
        baseline_add_histogram(h->in_ns ? sum : ticks, g->s, h->thread, h->unit, g->read);
    }
    if (from->in_ns) {
        histogram_add_in_ns(sum, ticks, snapshot_steady_tick(g->s));
    }
}

/* Again if a node got its histogram meanwhile: its samples would be missing, or there twice. */
void row_sum_histograms(const struct grouping *g, const struct times *from, struct histogram *sum) {
    for (int i = 0; i < KEPT_TRIES; ++i) {
        uint64_t before = row_add_kept(g, from, NULL);
        row_add_histograms(g, from, sum);
        if (row_add_kept(g, from, sum) == before) {
            break;
        }
    }
}

/* Fills g->exact; its count is 0 where a part of the samples is in a histogram, or if there are too
 * many. */
static void row_collect_exact(const struct grouping *g, const struct times *from) {
    struct exact *e = g->exact;
    e->count = 0;
    if (from->histograms) {
        return;
    }
    uint32_t count = 0;
    for (uint32_t link = from->keepers; link; link = g->keepers[link - 1]) {
        struct samples samples;
        kept_in_row_unit(g, from, link, &samples);
        if (samples.counted || count + samples.kept > e->room) {
            return;
        }
        memcpy(&e->sample[count], samples.ticks, samples.kept * sizeof *e->sample);
        count += samples.kept;
    }
    const uint32_t *order = order_in(e->order, e->spare, count, order_is_less, e->sample);
    for (uint32_t i = 0; i < count; ++i) {
        e->sorted[i] = e->sample[order[i]];
    }
    memcpy(e->sample, e->sorted, count * sizeof *e->sorted);
    e->count = count;
}

/* Bounds from before the interval are replaced by those of the interval's histograms, if closer. */
static void times_tighten(struct times *t, uint64_t low, uint64_t high) {
    if (t->loose & SNAPSHOT_LOOSE_MIN) {
        t->min = u128_max(low, t->min);
    }
    if (t->loose & SNAPSHOT_LOOSE_MAX) {
        t->max = u128_min(high, t->max);
    }
}

static uint64_t times_clamp(const struct times *t, uint64_t time) {
    return u64_clamp(time, (uint64_t)t->min, (uint64_t)t->max);
}

/* Where memory for some histograms was refused, total and bounds are not those of their samples. */
static uint64_t spread_deviation(const struct histogram *sum, uint64_t count, u128 samples,
                                 const struct times *from) {
    struct deviation_known known = {count, from->total, (uint64_t)from->min, (uint64_t)from->max,
                                    from->loose != 0};
    if (count != samples) {
        known.total = 0;
        known.bounds_only = 1;
    }
    return deviation_of(sum, &known);
}

/* permille: 1 to 1000. */
static uint64_t exact_percentile(const struct exact *e, uint32_t permille) {
    return e->sample[((uint64_t)e->count * permille + 999) / 1000 - 1];
}

uint64_t spread_quantile(const struct grouping *g, const struct times *from, uint32_t permille) {
    row_collect_exact(g, from);
    if (g->exact->count) {
        return exact_percentile(g->exact, permille);
    }
    row_sum_histograms(g, from, g->sum);
    return times_clamp(from, histogram_percentile(g->sum, histogram_count(g->sum), permille));
}

static void spread_exactly(const struct exact *e, struct spread *out) {
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        out->percentile[i] = exact_percentile(e, permilles[i]);
    }
    out->stddev = deviation_exactly(e->sample, e->count);
    out->beyond = 0;
}

int spread_read(const struct grouping *g, struct times *from, u128 samples, struct spread *out) {
    struct histogram *sum = g->sum;
    if (g->tree && !from->loose) {
        return 0;
    }
    row_collect_exact(g, from);
    const struct exact *exact = g->exact;
    if (exact->count) {
        times_tighten(from, exact->sample[0], exact->sample[exact->count - 1]);
        spread_exactly(exact, out);
        return !g->tree;
    }
    row_sum_histograms(g, from, sum);
    uint64_t count = histogram_count(sum);
    if (!count) {
        return 0;
    }
    if (from->loose) {
        times_tighten(from, histogram_min(sum), histogram_max(sum));
    }
    if (g->tree || sum->full) {
        return 0;
    }
    histogram_percentiles(out->percentile, sum, count, permilles, PERCENTILE_COUNT);
    for (uint32_t i = 0; i < PERCENTILE_COUNT; ++i) {
        out->percentile[i] = times_clamp(from, out->percentile[i]);
    }
    out->beyond = histogram_beyond(sum);
    for (uint32_t i = 0; i < PERCENTILE_COUNT && out->beyond && !from->loose; ++i) {
        if (histogram_rank(count, permilles[i]) == count) {
            out->percentile[i] = (uint64_t)from->max; /* it is the longest call */
        }
    }
    out->stddev = 0;
    if (!out->beyond) {
        out->stddev = spread_deviation(sum, count, samples, from);
    }
    return 1;
}
