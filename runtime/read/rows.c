/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the nodes of a snapshot up into rows: by name, set and, if requested, thread (flat), or by
 * call path (tree). First every node is added to its row, then each row is finished: ticks become
 * nanoseconds, percentiles and the standard deviation come from the samples that the row's nodes have
 * kept, exactly if that is all of them, else from these and the nodes' histograms.
 * Flat rows count a scope inside one of the same name and set once. All memory is the
 * snapshot's. */
#include "rows.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "base/order.h"
#include "baseline.h"
#include "deviation.h"
#include "rows_private.h"
#include "samples.h"
#include "stint/stint.h"

/* While grouping: sums, the best of each kind, and the histograms of the row. */
struct times {
    uint64_t total, min, max;
    uint32_t loose;
    uint32_t histograms; /* first of its list, + 1 */
    uint32_t keepers;    /* likewise: nodes that keep samples themselves */
};

struct group {
    struct times cpu;         /* ticks */
    struct times gpu;         /* nanoseconds */
    uint64_t scaled;          /* ticks of all calls; cpu.total is of those that were timed */
    uint64_t cost, self_cost; /* of these stint's own */
    struct uncertainty uncertain, self_uncertain;
    uint64_t self, first, first_at, open;
    uint64_t open_all, open_self;
    uint64_t bytes_per_s, flops_per_s; /* peaks of the devices it ran on, 0 = unknown */
    uint32_t last_thread;
    uint32_t gpu_nodes;
    int has_self;
    int has_intervals;
};

#define KEPT_TRIES 200

#define NESTED 1u
#define NESTED_GPU 2u

struct histogram_link {
    uint32_t unit; /* of a histogram */
    uint32_t thread;
    uint32_t next; /* + 1 */
};

struct keeper_link {
    uint32_t node;
    uint32_t next; /* + 1 */
};

/* The samples of a row, where its nodes have kept all of them. */
#define EXACT_SAMPLES 4096u
struct exact {
    uint32_t count;
    uint32_t sample[EXACT_SAMPLES]; /* as they come, then sorted */
    uint32_t order[EXACT_SAMPLES];
    uint32_t spare[EXACT_SAMPLES];
};

struct grouping {
    struct snapshot *s;
    int tree; /* of the call tree: intervals have rows of their own beside scopes of their name */
    struct rows *rows;
    struct group *groups;
    struct hash_map row_of; /* hash of (parent or set, name, thread) to rows */
    struct histogram_link *links;
    uint32_t link_count;
    struct keeper_link *keepers;
    uint32_t keeper_count;
    struct exact *exact;      /* of the row at hand */
    struct histogram *sum;    /* of the row at hand */
    uint32_t *buckets;        /* of one histogram */
    uint32_t *name_ids;       /* by site */
    struct device_work *work; /* by node; NULL: none was seen */
    struct hash_map seen;     /* histogram units: nodes of a site share the CPU's */
};

static uint32_t name_hash(const struct snapshot_site *site) {
    return (uint32_t)hash_bytes(site->name, site->length);
}

static int is_same_name(const struct snapshot_site *a, const struct snapshot_site *b) {
    return a->length == b->length && !memcmp(a->name, b->name, a->length);
}

/* Sites of the same name get the id of the first of them. */
static int number_names(struct grouping *g) {
    struct snapshot *s = g->s;
    struct hash_map known;
    g->name_ids = scratch_array(&s->memory, (size_t)s->site_count + 1, sizeof *g->name_ids);
    if (!g->name_ids || hash_map_start(&known, &s->memory, s->site_count)) {
        return -1;
    }
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        const struct snapshot_site *site = &s->sites[id];
        uint32_t hash = name_hash(site);
        struct hash_map_walk walk;
        uint32_t first = hash_map_first(&known, hash, &walk);
        while (first != HASH_MAP_NONE && !is_same_name(&s->sites[first], site)) {
            first = hash_map_next(&known, &walk);
        }
        if (first == HASH_MAP_NONE) {
            first = id;
            hash_map_add(&known, hash, id);
        }
        g->name_ids[id] = first;
    }
    return 0;
}

static int rows_grouping_start(struct grouping *g, struct rows *out, struct snapshot *s) {
    uint64_t most = 2 * ((uint64_t)s->node_count + 1); /* histograms */
    memset(g, 0, sizeof *g);
    g->s = s;
    g->rows = out;
    out->count = 0;
    out->grouping = NULL;
    out->row = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *out->row);
    g->groups = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *g->groups);
    g->links = scratch_array(&s->memory, (size_t)most, sizeof *g->links);
    g->keepers = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *g->keepers);
    g->exact = scratch_get(&s->memory, sizeof *g->exact);
    g->sum = scratch_get(&s->memory, sizeof *g->sum);
    g->buckets = scratch_array(&s->memory, STINT_IMPL_BUCKETS, sizeof *g->buckets);
    if (!out->row || !g->groups || !g->links || !g->keepers || !g->exact || !g->sum ||
        !g->buckets) {
        return -1;
    }
    if (hash_map_start(&g->row_of, &s->memory, (uint64_t)s->node_count + 1) ||
        hash_map_start(&g->seen, &s->memory, most) || number_names(g)) {
        return -1;
    }
    return rows_device(&g->work, s);
}

static int is_row_of(const struct grouping *g, const struct stint_row *r,
                     const struct snapshot_node *n, uint32_t parent, uint32_t thread) {
    return r->name_id == g->name_ids[n->site] && r->set == n->set && r->parent == parent &&
           r->thread == thread && (!g->tree || r->kind == n->kind);
}

static uint32_t row_get(struct grouping *g, const struct snapshot_node *n, uint32_t parent,
                        uint32_t thread) {
    uint32_t name = g->name_ids[n->site];
    uint64_t h = hash_number((uint64_t)name << 32 | n->set);
    uint32_t hash = (uint32_t)hash_add(h, (uint64_t)parent << 32 | thread);
    struct hash_map_walk walk;
    uint32_t row = hash_map_first(&g->row_of, hash, &walk);
    while (row != HASH_MAP_NONE && !is_row_of(g, &g->rows->row[row], n, parent, thread)) {
        row = hash_map_next(&g->row_of, &walk);
    }
    if (row != HASH_MAP_NONE) {
        return row;
    }
    row = g->rows->count++;
    hash_map_add(&g->row_of, hash, row);
    struct stint_row *r = &g->rows->row[row];
    r->name = g->s->sites[n->site].name ? g->s->sites[n->site].name : "?";
    r->name_length = g->s->sites[n->site].length;
    r->info = "";
    r->bound = "";
    r->name_id = name;
    r->set = n->set;
    r->thread = thread;
    r->parent = parent;
    r->kind = n->kind;
    g->groups[row].cpu.min = UINT64_MAX;
    g->groups[row].gpu.min = UINT64_MAX;
    g->groups[row].first_at = UINT64_MAX;
    g->groups[row].last_thread = SNAPSHOT_NONE;
    return row;
}

/* thread: of the CPU's, else SNAPSHOT_NONE. */
static void link_histogram(struct grouping *g, struct times *to, uint32_t unit, uint32_t thread) {
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
    g->links[g->link_count].next = to->histograms;
    to->histograms = ++g->link_count;
}

/* Where the percentiles of a node's CPU times come from. */
static void link_samples(struct grouping *g, struct times *to, const struct snapshot_node *n) {
    link_histogram(g, to, n->histogram, n->thread);
    if (samples_any(g->s, n)) {
        g->keepers[g->keeper_count].node = (uint32_t)(n - g->s->nodes);
        g->keepers[g->keeper_count].next = to->keepers;
        to->keepers = ++g->keeper_count;
    }
}

/* A step contains the scopes that ran in it, but is not their parent: its own time is not known. */
static int node_is_step(const struct snapshot *s, const struct snapshot_node *n) {
    return n->kind == STINT_IMPL_INTERVAL_NODE && s->sites[n->site].role == STINT_ROLE_STEP;
}

/* If it ran on devices of different peaks, there is no peak. */
static void add_peaks(struct group *to, const struct snapshot *s, uint32_t device) {
    static const struct snapshot_device unknown;
    const struct snapshot_device *d = &unknown;
    if (device < s->device_count) {
        d = &s->devices[device];
    }
    if (!to->gpu_nodes++) {
        to->bytes_per_s = d->bytes_per_s;
        to->flops_per_s = d->flops_per_s;
    }
    if (to->bytes_per_s != d->bytes_per_s) {
        to->bytes_per_s = 0;
    }
    if (to->flops_per_s != d->flops_per_s) {
        to->flops_per_s = 0;
    }
}

static void add_gpu(struct grouping *g, uint32_t row, const struct snapshot_gpu *n) {
    struct group *to = &g->groups[row];
    if (n->count) {
        g->rows->row[row].gpu_calls += n->count;
        to->gpu.total += n->total;
        to->gpu.loose |= n->loose;
        to->gpu.min = u64_min(n->min, to->gpu.min);
        to->gpu.max = u64_max(n->max, to->gpu.max);
        add_peaks(to, g->s, n->device);
        link_histogram(g, &to->gpu, n->histogram, SNAPSHOT_NONE);
    }
}

static void add_measures(struct stint_row *r, const struct snapshot_measures *from,
                         unsigned nested) {
    for (uint32_t i = 0; from && i < MEASURE_COUNT; ++i) {
        if (measure_rule_of(i)->of_calls && nested & NESTED) {
            continue;
        }
        r->measure[i] = measure_sum(i, r->measure[i], from->value[i]);
    }
    if (from) {
        r->has |= from->groups << ROW_MEASURES;
    }
}

/* nested: what is in the sums already, of a scope of the same name and set around it. Its calls and
 * their own time count, and nothing else: all other columns are those of the outer calls. */
static void row_add_node(struct grouping *g, uint32_t row, const struct snapshot_node *n,
                         unsigned nested) {
    struct group *to = &g->groups[row];
    struct stint_row *r = &g->rows->row[row];
    r->calls += n->calls + n->recursions;
    r->bytes += n->bytes;
    r->flops += n->flops;
    add_measures(r, n->measures, nested);
    if (!node_is_step(g->s, n)) {
        to->self = saturating_add(to->self, n->own);
        to->self_cost = saturating_add(to->self_cost, n->own_cost);
        uncertainty_add(&to->self_uncertain, &n->own_uncertain);
        to->has_self = 1;
    }
    to->open = u64_max(n->open, to->open);
    to->open_self = saturating_add(to->open_self, n->open_self);
    if (!(nested & NESTED_GPU)) {
        add_gpu(g, row, &n->gpu);
    }
    if (!(nested & NESTED)) {
        to->open_all = saturating_add(to->open_all, n->open);
        struct device_work work = rows_device_of(g->work, (uint32_t)(n - g->s->nodes));
        r->device_calls += work.count;
        r->device_total_ns = saturating_add(r->device_total_ns, work.total);
    }
    if (n->estimated) {
        r->has |= ROW_SELF_SCALED;
    }
    if (g->s->corrected && n->kind == STINT_IMPL_SCOPE_NODE) {
        r->has |= ROW_CORRECTED;
    }
    if (!n->count || nested & NESTED) {
        return;
    }
    if (n->sampled.untimed) {
        r->has |= ROW_SCALED;
    }
    if (n->saturated) {
        r->has |= ROW_SATURATED;
    }
    to->has_intervals |= n->kind == STINT_IMPL_INTERVAL_NODE;
    r->samples += n->count;
    r->covered += n->calls;
    to->scaled = saturating_add(to->scaled, n->scaled);
    to->cost = saturating_add(to->cost, n->cost);
    uncertainty_add(&to->uncertain, &n->uncertain);
    r->threads += to->last_thread != n->thread;
    to->last_thread = n->thread;
    to->cpu.total = saturating_add(to->cpu.total, n->total);
    to->cpu.loose |= n->loose;
    to->cpu.min = u64_min(n->min, to->cpu.min);
    if (n->max >= to->cpu.max) {
        to->cpu.max = n->max;
        r->info = n->info;
    }
    if (n->first && n->first_at < to->first_at) {
        to->first_at = n->first_at;
        to->first = n->first;
    }
}

/* Adds the samples that nodes of the row keep themselves (NULL: only looks). Returns how many of them
 * are in histograms by now. */
static uint64_t row_add_kept(const struct grouping *g, const struct times *from,
                             struct histogram *sum) {
    uint64_t counted = 0;
    for (uint32_t link = from->keepers; link; link = g->keepers[link - 1].next) {
        struct samples samples;
        samples_read(&samples, g->s, &g->s->nodes[g->keepers[link - 1].node]);
        counted += samples.counted;
        if (sum) {
            samples_add(sum, &samples);
        }
    }
    return counted;
}

static void row_add_histograms(const struct grouping *g, const struct times *from,
                               struct histogram *sum) {
    uint32_t *now = g->buckets;
    memset(sum, 0, sizeof *sum);
    for (uint32_t link = from->histograms; link; link = g->links[link - 1].next) {
        uint32_t unit = g->links[link - 1].unit;
        const uint32_t *then = NULL;
        if (g->s->since) {
            then = baseline_histogram_of(g->s->since, unit);
        }
        if (snapshot_read_buckets(g->s, g->links[link - 1].thread, unit, now)) {
            continue;
        }
        for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
            sum->bucket[i] += then ? saturating_subtract(now[i], then[i]) : now[i];
        }
    }
}

/* Again if a node got its histogram meanwhile: its samples would be missing, or there twice. */
static void row_sum_histograms(const struct grouping *g, const struct times *from,
                               struct histogram *sum) {
    for (int i = 0; i < KEPT_TRIES; ++i) {
        uint64_t before = row_add_kept(g, from, NULL);
        row_add_histograms(g, from, sum);
        if (row_add_kept(g, from, sum) == before) {
            break;
        }
    }
}

static int is_shorter(const void *what, uint32_t a, uint32_t b) {
    const uint32_t *sample = what;
    return sample[a] < sample[b];
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
    for (uint32_t link = from->keepers; link; link = g->keepers[link - 1].next) {
        struct samples samples;
        samples_read(&samples, g->s, &g->s->nodes[g->keepers[link - 1].node]);
        if (samples.counted || count + samples.kept > EXACT_SAMPLES) {
            return;
        }
        memcpy(&e->sample[count], samples.ticks, samples.kept * sizeof *e->sample);
        count += samples.kept;
    }
    const uint32_t *order = order_in(e->order, e->spare, count, is_shorter, e->sample);
    uint32_t *sorted = order == e->order ? e->spare : e->order;
    for (uint32_t i = 0; i < count; ++i) {
        sorted[i] = e->sample[order[i]];
    }
    memcpy(e->sample, sorted, count * sizeof *sorted);
    e->count = count;
}

/* Bounds from before the interval are replaced by those of the interval's histograms, if closer. */
static void times_tighten(struct times *t, uint64_t low, uint64_t high) {
    if (t->loose & SNAPSHOT_LOOSE_MIN) {
        t->min = u64_max(low, t->min);
    }
    if (t->loose & SNAPSHOT_LOOSE_MAX) {
        t->max = u64_min(high, t->max);
    }
}

/* What the histograms of a row say, in their unit. */
struct spread {
    uint64_t p50, p90, p99, stddev;
};

static uint64_t spread_percentile(const struct histogram *sum, uint64_t count, uint32_t permille,
                                  const struct times *from) {
    return u64_clamp(histogram_percentile(sum, count, permille), from->min, from->max);
}

/* Where memory for some histograms was refused, total and bounds are not those of their samples. */
static uint64_t spread_deviation(const struct histogram *sum, uint64_t count, uint64_t samples,
                                 const struct times *from) {
    struct deviation_known known = {count, from->total, from->min, from->max, from->loose != 0};
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

static void spread_exactly(const struct exact *e, struct spread *out) {
    out->p50 = exact_percentile(e, 500);
    out->p90 = exact_percentile(e, 900);
    out->p99 = exact_percentile(e, 990);
    out->stddev = deviation_exactly(e->sample, e->count);
}

/* Sets `out`, and the bounds where they are loose. 0 without a sample in the histograms, and of the
 * tree, whose histograms are those of the site: all its paths'. */
static int spread_read(const struct grouping *g, struct times *from, uint64_t samples,
                       struct spread *out) {
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
    times_tighten(from, histogram_min(sum), histogram_max(sum));
    if (g->tree) {
        return 0;
    }
    out->p50 = spread_percentile(sum, count, 500, from);
    out->p90 = spread_percentile(sum, count, 900, from);
    out->p99 = spread_percentile(sum, count, 990, from);
    out->stddev = spread_deviation(sum, count, samples, from);
    return 1;
}

static uint64_t error_ns(const struct snapshot *s, const struct uncertainty *u) {
    double ticks = uncertainty_error(u);
    if (ticks < 0) {
        return ROW_UNKNOWN;
    }
    return snapshot_whole(ticks * s->ns_per_tick);
}

/* Any number of intervals of one thread may be open at once. Where they certainly were, their sum says
 * nothing about a part of the wall time. */
static int intervals_overlap(const struct snapshot *s, const struct group *from,
                             const struct stint_row *r) {
    double most = (double)s->wall_ns * (double)u64_max(r->threads, 1);
    return from->has_intervals && (double)r->total_ns > most;
}

static void fill_share(const struct snapshot *s, const struct group *from, struct stint_row *r) {
    r->share_ppm = 0;
    if (s->wall_ns) {
        r->share_ppm = snapshot_whole((double)r->total_ns * 1e6 / (double)s->wall_ns);
    }
    if (intervals_overlap(s, from, r)) {
        r->share_ppm = ROW_UNKNOWN;
    }
    if (s->wall_at_least) {
        r->has |= ROW_AT_MOST;
    }
}

static void finish_cpu(const struct grouping *g, struct group *from, struct stint_row *r) {
    const struct snapshot *s = g->s;
    struct spread spread;
    if (spread_read(g, &from->cpu, r->samples, &spread)) {
        r->has |= ROW_HISTOGRAM;
        r->p50_ns = snapshot_ns(s, spread.p50);
        r->p90_ns = snapshot_ns(s, spread.p90);
        r->p99_ns = snapshot_ns(s, spread.p99);
        r->stddev_ns = snapshot_ns(s, spread.stddev);
    }
    r->total_ns = snapshot_ns(s, from->scaled);
    r->total_error_ns = error_ns(s, &from->uncertain);
    r->self_error_ns = error_ns(s, &from->self_uncertain);
    r->self_ns = snapshot_ns(s, from->self);
    r->first_ns = snapshot_ns(s, from->first);
    r->open_ns = snapshot_ns(s, from->open);
    r->open_all_ns = snapshot_ns(s, from->open_all);
    r->open_self_ns = snapshot_ns(s, from->open_self);
    if (r->first_ns) {
        r->has |= ROW_FIRST;
    }
    if (from->has_self) {
        r->has |= ROW_SELF;
    }
    if (r->samples) {
        /* Rounding, or a sample whose writer was preempted while it was counted, must not put the
         * average outside the bounds. */
        uint64_t up = r->total_ns / r->covered + (r->total_ns % r->covered != 0);
        r->has |= ROW_SAMPLES;
        r->avg_ns = r->total_ns / r->covered;
        r->min_ns = u64_clamp(snapshot_ns(s, from->cpu.min), 0, r->avg_ns);
        r->max_ns = u64_clamp(snapshot_ns(s, from->cpu.max), up, UINT64_MAX);
    }
    fill_share(s, from, r);
}

static void finish_gpu(const struct grouping *g, struct group *from, struct stint_row *r) {
    struct spread spread;
    if (!r->gpu_calls) {
        return;
    }
    r->has |= ROW_GPU;
    if (spread_read(g, &from->gpu, r->gpu_calls, &spread)) {
        r->has |= ROW_GPU_HISTOGRAM;
        r->gpu_p50_ns = spread.p50;
        r->gpu_p99_ns = spread.p99;
    }
    uint64_t total = from->gpu.total;
    uint64_t up = total / r->gpu_calls + (total % r->gpu_calls != 0);
    double both = (double)r->total_ns + (double)total;
    r->gpu_total_ns = total;
    r->gpu_avg_ns = total / r->gpu_calls;
    r->gpu_min_ns = u64_clamp(from->gpu.min, 0, r->gpu_avg_ns);
    r->gpu_max_ns = u64_clamp(from->gpu.max, up, UINT64_MAX);
    r->gpu_share_ppm = 0;
    r->cpu_share_ppm = 0;
    if (both > 0) {
        r->gpu_share_ppm = (uint64_t)((double)total * 1e6 / both);
        r->cpu_share_ppm = 1000000 - r->gpu_share_ppm;
    }
}

/* Of a row that is complete: bounds, rates and what else is computed from its times stay those that
 * were measured. */
static void finish_corrected(const struct grouping *g, const struct group *from,
                             struct stint_row *r) {
    const struct snapshot *s = g->s;
    if (!(r->has & ROW_CORRECTED)) {
        return;
    }
    r->total_ns = snapshot_ns(s, saturating_subtract(from->scaled, from->cost));
    r->self_ns = snapshot_ns(s, saturating_subtract(from->self, from->self_cost));
    if (r->covered) {
        r->avg_ns = r->total_ns / r->covered;
    }
    fill_share(s, from, r);
}

static void rows_finish(struct grouping *g) {
    for (uint32_t i = 0; i < g->rows->count; ++i) {
        struct stint_row *r = &g->rows->row[i];
        struct group *from = &g->groups[i];
        finish_cpu(g, from, r);
        finish_gpu(g, from, r);
        if (r->device_calls) {
            r->has |= ROW_DEVICE;
        }
        measured_fill(r);
        rates_fill(r, from->bytes_per_s, from->flops_per_s);
        finish_corrected(g, from, r);
    }
}

/* What scopes around it, of the same name and set, have in their sums: the flat total must not
 * count it twice. A scope on the CPU alone does not hold the GPU time of one inside it. */
static unsigned nested_in_itself(const struct grouping *g, const struct snapshot_node *n) {
    const struct snapshot *s = g->s;
    uint32_t depth = 0;
    unsigned nested = 0;
    for (uint32_t p = n->parent; p != SNAPSHOT_NONE && depth < 2 * STINT_IMPL_DEPTH; ++depth) {
        const struct snapshot_node *a = &s->nodes[p];
        if (a->set == n->set && a->site && g->name_ids[a->site] == g->name_ids[n->site]) {
            nested |= NESTED;
            if (a->gpu.count) {
                nested |= NESTED_GPU;
            }
        }
        p = a->parent;
    }
    return nested;
}

static int node_has_numbers(const struct grouping *g, uint32_t index) {
    const struct snapshot_node *n = &g->s->nodes[index];
    return n->measures || n->calls | n->recursions | n->open | n->gpu.count | n->bytes | n->flops |
                              rows_device_of(g->work, index).count;
}

int rows_flat(struct rows *out, struct snapshot *s, int each_thread) {
    struct grouping g;
    if (rows_grouping_start(&g, out, s)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent == SNAPSHOT_NONE || !n->site || !node_has_numbers(&g, i)) {
            continue;
        }
        uint32_t row = row_get(&g, n, SNAPSHOT_NONE, each_thread ? n->thread : SNAPSHOT_NONE);
        unsigned nested = nested_in_itself(&g, n);
        row_add_node(&g, row, n, nested);
        if (!(nested & NESTED)) { /* those inside have a histogram of their own */
            link_samples(&g, &g.groups[row].cpu, n);
        }
    }
    rows_finish(&g);
    struct grouping *kept = scratch_array(&s->memory, 1, sizeof *kept);
    if (kept) {
        *kept = g;
    }
    out->grouping = kept;
    if (kept) {
        return 0;
    }
    return -1;
}

int rows_histogram(struct histogram *out, const struct rows *rows, uint32_t row, int gpu) {
    const struct grouping *g = rows->grouping;
    if (!g || row >= rows->count) {
        return -1;
    }
    row_sum_histograms(g, gpu ? &g->groups[row].gpu : &g->groups[row].cpu, out);
    if (histogram_count(out)) {
        return 0;
    }
    return -1;
}

int rows_quantile(uint64_t *ns, const struct rows *rows, uint32_t row, uint32_t permille) {
    const struct grouping *g = rows->grouping;
    if (!g || row >= rows->count || !rows->row[row].samples || permille > 1000) {
        return -1;
    }
    const struct stint_row *r = &rows->row[row];
    if (permille == 0 || permille == 1000) {
        *ns = permille ? r->max_ns : r->min_ns;
        return 0;
    }
    if (!(r->has & ROW_HISTOGRAM)) {
        return -1;
    }
    const struct times *from = &g->groups[row].cpu;
    row_collect_exact(g, from);
    if (g->exact->count) {
        *ns = snapshot_ns(g->s, exact_percentile(g->exact, permille));
        return 0;
    }
    row_sum_histograms(g, from, g->sum);
    *ns = snapshot_ns(g->s, spread_percentile(g->sum, histogram_count(g->sum), permille, from));
    return 0;
}

uint64_t rows_timed_ns(const struct rows *rows, uint32_t row, int gpu) {
    const struct grouping *g = rows->grouping;
    if (!g || row >= rows->count) {
        return 0;
    }
    if (gpu) {
        return g->groups[row].gpu.total;
    }
    uint64_t ticks = g->groups[row].cpu.total;
    if (ticks == UINT64_MAX) {
        return ticks;
    }
    return snapshot_ns(g->s, ticks);
}

#define ROW_NOT_YET (SNAPSHOT_NONE - 1)

/* A row for each node, in the snapshot's memory; NULL without. */
static uint32_t *tree_start(struct grouping *g, struct rows *out, struct snapshot *s) {
    if (rows_grouping_start(g, out, s)) {
        return NULL;
    }
    g->tree = 1;
    return scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof(uint32_t));
}

/* above: the node above it, whose row is known. */
static void add_tree_node(struct grouping *g, uint32_t *rows, uint32_t node, uint32_t above,
                          int each_thread) {
    const struct snapshot_node *n = &g->s->nodes[node];
    rows[node] = SNAPSHOT_NONE;
    if (above == SNAPSHOT_NONE || !n->site) {
        return;
    }
    uint32_t row = row_get(g, n, rows[above], each_thread ? n->thread : SNAPSHOT_NONE);
    rows[node] = row;
    row_add_node(g, row, n, 0);
    if (n->count) {
        link_samples(g, &g->groups[row].cpu, n);
    }
}

int rows_tree_of(struct rows *out, struct snapshot *s, int each_thread, uint32_t **row_of) {
    struct grouping g;
    uint32_t *rows = tree_start(&g, out, s);
    if (!rows) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        add_tree_node(&g, rows, i, s->nodes[i].parent, each_thread);
    }
    rows_finish(&g);
    *row_of = rows;
    return 0;
}

/* The row of a node, after those of the nodes above it. path: room for as many nodes. */
static void add_path(struct grouping *g, uint32_t *rows, uint32_t *path, uint32_t node) {
    const struct snapshot *s = g->s;
    uint32_t depth = 0;
    while (node != SNAPSHOT_NONE && rows[node] == ROW_NOT_YET) {
        path[depth++] = node;
        node = snapshot_above(s, node);
    }
    while (depth--) {
        add_tree_node(g, rows, path[depth], snapshot_above(s, path[depth]), 0);
    }
}

int rows_tree(struct rows *out, struct snapshot *s) {
    struct grouping g;
    uint32_t *rows = tree_start(&g, out, s);
    uint32_t *path = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *path);
    if (!rows || !path) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        rows[i] = ROW_NOT_YET;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        add_path(&g, rows, path, i);
    }
    rows_finish(&g);
    return 0;
}
