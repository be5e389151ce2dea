/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes metrics of a run, and differences of two readings; for the export otlp, for
 * `stint export --follow`, `stint report --every` and `stint top`.
 * - A series has a label, and a label is there once: numbers of equal labels are added.
 * - Histograms are those of flat rows, because the paths of a site share one. Counters of scopes
 *   are those of the call tree, with the path as a label; their sums over the paths are the flat
 *   ones.
 * - A histogram from which calls are missing, because memory for it was refused, is left out; the
 *   counter of losses tells.
 */
#include "metrics.h"

#include <math.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/hash_map.h"
#include "base/histogram.h"
#include "export/export_columns.h"
#include "read/rows.h"

/* Longer paths are cut: their series are added. */
#define METRIC_PATH_BYTES 4000u

/* Monitoring systems keep milliseconds, and refuse another value at the same time: a later reading
 * is as much later. */
#define LATER_NS ((uint64_t)1000000)

struct reading {
    struct metrics *m;
    struct snapshot *s;
    struct hash_map histogram_of; /* hashes of labels to histograms */
    struct hash_map counter_of;   /* and to counters */
    uint64_t left;                /* buckets that the file can have */
    uint32_t room;                /* for counters */
};

/* ---- Texts. */

/* In the metrics' memory; NULL without. */
static const char *metric_text(struct metrics *m, struct export_name name) {
    char clean[EXPORT_CLEAN_BYTES];
    size_t n = export_clean(clean, name);
    return scratch_text(&m->memory, clean, n);
}

static uint64_t hash_text(uint64_t h, const char *text) {
    if (!text) {
        return hash_add(h, 0);
    }
    return hash_add(h, hash_bytes(text, strlen(text)));
}

static void label_finish(struct metric_label *l, uint64_t salt) {
    uint64_t h = hash_add(hash_number(salt), l->tid);
    h = hash_text(h, l->name);
    h = hash_text(h, l->set);
    h = hash_text(h, l->parent);
    l->hash = (uint32_t)hash_text(h, l->thread);
}

static int is_same_text(const char *a, const char *b) {
    if (!a || !b) {
        return a == b;
    }
    return !strcmp(a, b);
}

static int is_same_label(const struct metric_label *a, const struct metric_label *b) {
    return a->hash == b->hash && a->tid == b->tid && is_same_text(a->name, b->name) &&
           is_same_text(a->set, b->set) && is_same_text(a->parent, b->parent) &&
           is_same_text(a->thread, b->thread);
}

/* Name, set and thread of a row. 0, or -1 without memory. */
static int label_read(struct reading *g, struct metric_label *out, const struct stint_row *r) {
    memset(out, 0, sizeof *out);
    out->set_id = r->set;
    out->name = metric_text(g->m, export_row_name(r));
    out->set = metric_text(g->m, export_text(export_set(g->s, r)));
    if (r->thread < g->s->thread_count) {
        const struct snapshot_thread *t = &g->s->threads[r->thread];
        out->thread = metric_text(g->m, export_field(t->name, sizeof t->name));
        out->tid = t->tid;
        if (!out->thread) {
            return -1;
        }
    }
    return out->name && out->set ? 0 : -1;
}

/* ---- Histograms. */

/* A thread that records meanwhile may have counted one call in one place only. */
int metric_histogram_read(struct histogram *out, const struct rows *rows, uint32_t row, int gpu) {
    const struct stint_row *r = &rows->row[row];
    uint32_t needs = gpu ? ROW_GPU_HISTOGRAM : ROW_HISTOGRAM;
    uint64_t expected = gpu ? r->extra->gpu_calls : r->samples;
    if (!(r->has & needs) || rows_histogram(out, rows, row, gpu)) {
        return -1;
    }
    return histogram_count(out) + r->threads >= expected ? 0 : -1;
}

/* like: the histogram it is compared with, which may be in nanoseconds when this one is not: a name
 * that only scopes had gets added samples. */
static void histogram_expand(const struct reading *g, struct histogram *out,
                             const struct metric_histogram *h,
                             const struct metric_histogram *like) {
    struct histogram ticks;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; h && i < h->buckets; ++i) {
        out->bucket[h->bucket[i].bucket] = h->bucket[i].count;
    }
    if (h) {
        out->open = h->open;
        out->in_ns = h->in_ns;
    }
    if (h && like->in_ns && !h->in_ns) {
        ticks = *out;
        histogram_to_ns(out, &ticks, g->m->ns_per_tick);
    }
}

static int histogram_fill(struct reading *g, struct metric_histogram *out,
                          const struct histogram *from) {
    uint32_t n = 0;
    out->buckets = 0;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        n += from->bucket[i] != 0;
    }
    out->bucket = scratch_array(&g->m->memory, n, sizeof *out->bucket);
    if (!out->bucket) {
        return -1;
    }
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        if (from->bucket[i]) {
            out->bucket[out->buckets++] = (struct metric_bucket){i, from->bucket[i]};
        }
    }
    out->count = histogram_count(from);
    out->open = from->open;
    out->in_ns = from->in_ns;
    return 0;
}

/* The histogram of that label, or NULL. */
static struct metric_histogram *series_find(const struct hash_map *map,
                                            struct metric_histogram *histograms,
                                            const struct metric_histogram *wanted) {
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(map, wanted->label.hash, &walk);
    while (i != HASH_MAP_NONE && (histograms[i].gpu != wanted->gpu ||
                                  !is_same_label(&histograms[i].label, &wanted->label))) {
        i = hash_map_next(map, &walk);
    }
    return i == HASH_MAP_NONE ? NULL : &histograms[i];
}

/* Adds a histogram of the same label. 0, or -1 without memory. */
static int histogram_merge(struct reading *g, struct metric_histogram *to,
                           const struct metric_histogram *h) {
    struct histogram a, b;
    histogram_expand(g, &a, to, h);
    histogram_expand(g, &b, h, to);
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        a.bucket[i] = saturating_add(a.bucket[i], b.bucket[i]);
    }
    a.open = histogram_open_lower(a.open, b.open);
    to->sum_ns = saturating_add(to->sum_ns, h->sum_ns);
    to->saturated = to->sum_ns == UINT64_MAX;
    to->min_ns = u64_min(to->min_ns, h->min_ns);
    if (h->max_ns > to->max_ns) {
        to->max_ns = h->max_ns;
        to->note = h->note;
    }
    return histogram_fill(g, to, &a);
}

/* 0, or -1 without memory. */
static int histogram_read(struct reading *g, const struct rows *rows, uint32_t row, int gpu) {
    const struct stint_row *r = &rows->row[row];
    struct metric_histogram *out = &g->m->histogram[g->m->histograms];
    struct histogram h;
    if (metric_histogram_read(&h, rows, row, gpu)) {
        return 0;
    }
    memset(out, 0, sizeof *out);
    if (label_read(g, &out->label, r) || histogram_fill(g, out, &h)) {
        return -1;
    }
    if (*r->info && !gpu) {
        out->note = metric_text(g->m, export_text(r->info));
    }
    if (out->buckets > g->left) { /* of a damaged file: they overlap */
        return 0;
    }
    g->left -= out->buckets;
    label_finish(&out->label, (uint64_t)gpu);
    out->row = row;
    out->gpu = gpu;
    out->sum_ns = rows_timed_ns(rows, row, gpu);
    out->saturated = out->sum_ns == UINT64_MAX;
    out->bounded = 1;
    out->min_ns = gpu ? r->extra->gpu_min_ns : r->min_ns;
    out->max_ns = gpu ? r->extra->gpu_max_ns : r->max_ns;
    struct metric_histogram *same = series_find(&g->histogram_of, g->m->histogram, out);
    if (same) {
        return histogram_merge(g, same, out);
    }
    hash_map_add(&g->histogram_of, out->label.hash, g->m->histograms++);
    return 0;
}

static int read_histograms(struct reading *g, int each_thread) {
    struct rows rows;
    const uint32_t *order = export_rows(&rows, g->s, each_thread);
    if (!order) {
        return -1;
    }
    g->m->histogram =
        scratch_array(&g->m->memory, 2 * (size_t)rows.count + 1, sizeof *g->m->histogram);
    if (!g->m->histogram ||
        hash_map_start(&g->histogram_of, &g->m->memory, 2 * (size_t)rows.count)) {
        return -1;
    }
    for (uint32_t i = 0; i < rows.count; ++i) {
        if (histogram_read(g, &rows, order[i], 0) || histogram_read(g, &rows, order[i], 1)) {
            return -1;
        }
    }
    return 0;
}

/* ---- Counters. */

static uint32_t counter_find(const struct hash_map *map, const struct metric_counter *counters,
                             const struct metric_counter *wanted) {
    struct hash_map_walk walk;
    uint32_t i = hash_map_first(map, wanted->label.hash, &walk);
    while (i != HASH_MAP_NONE && (counters[i].kind != wanted->kind ||
                                  !is_same_label(&counters[i].label, &wanted->label))) {
        i = hash_map_next(map, &walk);
    }
    return i;
}

static void counter_add(struct reading *g, const struct metric_label *label, enum metric_kind kind,
                        uint64_t value) {
    struct metric_counter c = {.label = *label, .kind = kind, .value = value};
    if (!value) {
        return;
    }
    label_finish(&c.label, 2 + (uint64_t)kind);
    uint32_t at = counter_find(&g->counter_of, g->m->counter, &c);
    if (at != HASH_MAP_NONE) {
        g->m->counter[at].value = saturating_add(g->m->counter[at].value, value);
    } else if (g->m->counters < g->room) {
        hash_map_add(&g->counter_of, c.label.hash, g->m->counters);
        g->m->counter[g->m->counters++] = c;
    }
}

static void counters_of_row(struct reading *g, const struct metric_label *label,
                            const struct stint_row *r) {
    counter_add(g, label, METRIC_CALLS, r->calls);
    if (r->has & ROW_SELF) {
        counter_add(g, label, METRIC_SELF, r->self_ns);
    }
    counter_add(g, label, METRIC_MOVED, r->extra->bytes);
    counter_add(g, label, METRIC_FLOPS, r->extra->flops);
    if (r->has & ROW_MEMORY) {
        counter_add(g, label, METRIC_ALLOCATIONS, r->extra->measure[MEASURE_MALLOCS]);
        counter_add(g, label, METRIC_ALLOCATED, r->extra->measure[MEASURE_MALLOC_BYTES]);
    }
}

static int is_path_end(uint32_t c) {
    return c == ';';
}

/* The path of a row's children, from that of its own. */
static const char *path_join(struct metrics *m, const char *parent, struct export_name of) {
    char name[EXPORT_CLEAN_BYTES];
    size_t before = strlen(parent), after = export_clean_without(name, of, is_path_end);
    if (!before) {
        return scratch_text(&m->memory, name, after);
    }
    if (before + after + 1 > METRIC_PATH_BYTES) {
        return parent;
    }
    char *joined = scratch_get(&m->memory, before + after + 2);
    if (joined) {
        memcpy(joined, parent, before);
        joined[before] = ';';
        memcpy(joined + before + 1, name, after);
        joined[before + 1 + after] = '\0';
    }
    return joined;
}

static int read_counters(struct reading *g, int each_thread) {
    struct rows tree;
    uint32_t *row_of;
    int failed = each_thread ? rows_tree_of(&tree, g->s, 1, &row_of) : rows_tree(&tree, g->s);
    if (failed) {
        return -1;
    }
    uint64_t most = METRIC_KINDS * (uint64_t)tree.count + STINT_STATUS_COUNT + 1;
    const char **path = scratch_array(&g->m->memory, (size_t)tree.count + 1, sizeof *path);
    g->room = (uint32_t)u64_min(most, UINT32_MAX);
    g->m->counter = scratch_array(&g->m->memory, g->room, sizeof *g->m->counter);
    if (!path || !g->m->counter || hash_map_start(&g->counter_of, &g->m->memory, g->room)) {
        return -1;
    }
    for (uint32_t i = 0; i < tree.count; ++i) {
        const struct stint_row *r = &tree.row[i];
        struct metric_label label;
        if (label_read(g, &label, r)) {
            return -1;
        }
        label.parent = r->parent < i ? path[r->parent] : "";
        path[i] = path_join(g->m, label.parent, export_row_name(r));
        if (!path[i]) {
            return -1;
        }
        counters_of_row(g, &label, r);
    }
    return 0;
}

static void read_losses(struct reading *g) {
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        const struct metric_label label = {.name = status_text(i)->key};
        counter_add(g, &label, METRIC_LOST, g->s->lost[i]);
    }
    const struct metric_label none = {0};
    counter_add(g, &none, METRIC_STEPS, g->s->steps);
}

void metrics_use_steady_tick(struct snapshot *s) {
    s->ns_per_tick = snapshot_steady_tick(s);
}

int metrics_read(struct metrics *out, struct run *r, int each_thread) {
    struct snapshot *s = &r->snapshot;
    struct reading g = {.m = out, .s = s, .left = s->size / sizeof(uint32_t)};
    memset(out, 0, sizeof *out);
    metrics_use_steady_tick(s);
    out->ns_per_tick = s->ns_per_tick;
    out->pid = r->pid;
    out->rank = r->rank;
    out->start_ns = r->start_real_ns;
    out->time_ns = r->start_real_ns + s->wall_ns;
    out->program = metric_text(out, export_text(r->program));
    out->host = metric_text(out, export_text(r->host));
    if (!out->program || !out->host || read_histograms(&g, each_thread) ||
        read_counters(&g, each_thread)) {
        scratch_free(&out->memory);
        return -1;
    }
    read_losses(&g);
    return 0;
}

void metrics_free(struct metrics *m) {
    scratch_free(&m->memory);
    memset(m, 0, sizeof *m);
}

/* ---- Two readings. */

/* To find the series of one in the other. */
struct index {
    const struct metrics *of;
    struct hash_map histogram;
    struct hash_map counter;
};

static int index_make(struct index *x, const struct metrics *of, struct scratch *memory) {
    x->of = of;
    uint32_t histograms = of->histograms + of->hidden;
    if (hash_map_start(&x->histogram, memory, histograms) ||
        hash_map_start(&x->counter, memory, of->counters)) {
        return -1;
    }
    for (uint32_t i = 0; i < histograms; ++i) {
        hash_map_add(&x->histogram, of->histogram[i].label.hash, i);
    }
    for (uint32_t i = 0; i < of->counters; ++i) {
        hash_map_add(&x->counter, of->counter[i].label.hash, i);
    }
    return 0;
}

/* NULL: there is none. */
static const struct metric_histogram *index_histogram(const struct index *x,
                                                      const struct metric_histogram *wanted) {
    return series_find(&x->histogram, x->of->histogram, wanted);
}

static uint64_t index_counter(const struct index *x, const struct metric_counter *wanted) {
    uint32_t i = counter_find(&x->counter, x->of->counter, wanted);
    return i == HASH_MAP_NONE ? 0 : x->of->counter[i].value;
}

static int histogram_raise(struct reading *g, struct metric_histogram *now,
                           const struct metric_histogram *then) {
    struct histogram a, b;
    int fell = 0;
    histogram_expand(g, &a, now, now);
    histogram_expand(g, &b, then, now);
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        fell |= a.bucket[i] < b.bucket[i];
        a.bucket[i] = u64_max(a.bucket[i], b.bucket[i]);
    }
    now->sum_ns = u64_max(now->sum_ns, then->sum_ns);
    if (!fell) {
        return 0;
    }
    return histogram_fill(g, now, &a);
}

/* The label with texts of its own. 0, or -1 without memory. */
static int label_copy(struct metrics *m, struct metric_label *l) {
    const char **const texts[] = {&l->name, &l->set, &l->parent, &l->thread};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        if (!*texts[i]) {
            continue;
        }
        *texts[i] = scratch_text(&m->memory, *texts[i], strlen(*texts[i]));
        if (!*texts[i]) {
            return -1;
        }
    }
    return 0;
}

/* Keeps the histograms of `then` that `now` lacks, hidden. 0, or -1 without memory. */
static int keep_histograms(struct reading *g, const struct index *have,
                           const struct metrics *then) {
    struct metrics *now = g->m;
    uint32_t old = then->histograms + then->hidden, missing = 0;
    for (uint32_t i = 0; i < old; ++i) {
        missing += !index_histogram(have, &then->histogram[i]);
    }
    if (!missing) {
        return 0;
    }
    struct metric_histogram *all =
        scratch_array(&now->memory, (size_t)now->histograms + missing, sizeof *all);
    if (!all) {
        return -1;
    }
    memcpy(all, now->histogram, now->histograms * sizeof *all);
    for (uint32_t i = 0; i < old; ++i) {
        struct metric_histogram *to = &all[now->histograms + now->hidden];
        struct histogram buckets;
        if (index_histogram(have, &then->histogram[i])) {
            continue;
        }
        *to = then->histogram[i];
        to->note = NULL;
        histogram_expand(g, &buckets, to, to);
        if (label_copy(now, &to->label) || histogram_fill(g, to, &buckets)) {
            return -1;
        }
        ++now->hidden;
    }
    now->histogram = all;
    return 0;
}

/* Counters of `then` that `now` lacks are as they were. 0, or -1 without memory. */
static int keep_counters(struct metrics *now, const struct index *have,
                         const struct metrics *then) {
    uint32_t missing = 0;
    for (uint32_t i = 0; i < then->counters; ++i) {
        missing += counter_find(&have->counter, now->counter, &then->counter[i]) == HASH_MAP_NONE;
    }
    if (!missing) {
        return 0;
    }
    struct metric_counter *all =
        scratch_array(&now->memory, (size_t)now->counters + missing, sizeof *all);
    if (!all) {
        return -1;
    }
    memcpy(all, now->counter, now->counters * sizeof *all);
    now->counter = all;
    for (uint32_t i = 0; i < then->counters; ++i) {
        struct metric_counter c = then->counter[i];
        if (counter_find(&have->counter, all, &c) != HASH_MAP_NONE) {
            continue;
        }
        if (label_copy(now, &c.label)) {
            return -1;
        }
        all[now->counters++] = c;
    }
    return 0;
}

int metrics_raise(struct metrics *now, const struct metrics *then) {
    struct index before, have;
    struct reading g = {.m = now};
    if (index_make(&before, then, &now->memory) || index_make(&have, now, &now->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < now->histograms; ++i) {
        struct metric_histogram *to = &now->histogram[i];
        const struct metric_histogram *h = index_histogram(&before, to);
        if (h && histogram_raise(&g, to, h)) {
            return -1;
        }
        to->noted = h && h->max_ns == to->max_ns && is_same_text(h->note, to->note);
    }
    for (uint32_t i = 0; i < now->counters; ++i) {
        struct metric_counter *c = &now->counter[i];
        c->value = u64_max(c->value, index_counter(&before, c));
    }
    now->time_ns = u64_max(now->time_ns, saturating_add(then->time_ns, LATER_NS));
    return keep_counters(now, &have, then) || keep_histograms(&g, &have, then) ? -1 : 0;
}

static int histogram_since(struct reading *g, const struct metric_histogram *now,
                           const struct metric_histogram *then) {
    struct metric_histogram *out = &g->m->histogram[g->m->histograms];
    struct histogram a, b;
    if (then && now->count == then->count && now->sum_ns == then->sum_ns) {
        return 0;
    }
    histogram_expand(g, &a, now, now);
    histogram_expand(g, &b, then, now);
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        a.bucket[i] = saturating_subtract(a.bucket[i], b.bucket[i]);
    }
    *out = *now;
    out->bounded = !then;
    if (then) {
        out->sum_ns = saturating_subtract(now->sum_ns, then->sum_ns);
    }
    if (histogram_fill(g, out, &a)) {
        return -1;
    }
    g->m->histograms++;
    return 0;
}

static int fill_since(struct reading *g, const struct metrics *now, const struct index *before) {
    struct metrics *out = g->m;
    out->histogram = scratch_array(&out->memory, now->histograms + 1, sizeof *out->histogram);
    out->counter = scratch_array(&out->memory, now->counters + 1, sizeof *out->counter);
    if (!out->histogram || !out->counter) {
        return -1;
    }
    for (uint32_t i = 0; i < now->histograms; ++i) {
        const struct metric_histogram *h = &now->histogram[i];
        if (histogram_since(g, h, index_histogram(before, h))) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < now->counters; ++i) {
        struct metric_counter c = now->counter[i];
        c.value = saturating_subtract(c.value, index_counter(before, &c));
        if (c.value) {
            out->counter[out->counters++] = c;
        }
    }
    return 0;
}

int metrics_since(struct metrics *out, const struct metrics *now, const struct metrics *then) {
    struct index before;
    struct reading g = {.m = out};
    *out = *now;
    memset(&out->memory, 0, sizeof out->memory);
    out->histograms = out->counters = out->hidden = 0;
    out->delta = 1;
    out->start_ns = then->time_ns;
    if (index_make(&before, then, &out->memory) || fill_since(&g, now, &before)) {
        scratch_free(&out->memory);
        return -1;
    }
    return 0;
}

/* ---- Buckets. */

double metric_middle(const struct metrics *m, const struct metric_histogram *h, uint32_t bucket) {
    double middle = histogram_middle(bucket);
    if (h->open && bucket + 1 >= h->open) {
        middle = (double)histogram_low(bucket);
    }
    return h->in_ns ? middle : middle * m->ns_per_tick;
}

/* Between two numbers of ticks, so that it is a bound whether or not a bound belongs to the bucket
 * below it. */
double metric_bound(const struct metrics *m, const struct metric_histogram *h, uint32_t bucket) {
    double bound = (double)histogram_low(bucket + 1) - 0.5;
    return h->in_ns ? bound : bound * m->ns_per_tick;
}

uint64_t metric_percentile(const struct metrics *m, const struct metric_histogram *h,
                           uint32_t permille) {
    uint64_t rank = histogram_rank(h->count, permille);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < h->buckets; ++i) {
        seen += h->bucket[i].count;
        if (seen >= rank) {
            return (uint64_t)metric_middle(m, h, h->bucket[i].bucket);
        }
    }
    return 0;
}

int metric_is_beyond(const struct metric_histogram *h, uint32_t permille) {
    uint64_t before = 0;
    for (uint32_t i = 0; i < h->buckets && h->bucket[i].bucket + 1 < h->open; ++i) {
        before += h->bucket[i].count;
    }
    return h->open && histogram_rank(h->count, permille) > before;
}

static int32_t metric_exponential_index(double ns) {
    return (int32_t)ceil(log2(ns * 1e-9) * (1 << METRIC_SCALE)) - 1;
}

int metric_to_exponential(struct metric_exponential *out, struct metrics *m,
                          const struct metric_histogram *h) {
    memset(out, 0, sizeof *out);
    uint32_t first = 0;
    if (h->buckets && !h->bucket[0].bucket) { /* 0 ticks */
        out->zero = h->bucket[0].count;
        first = 1;
    }
    if (first == h->buckets) {
        return 0;
    }
    out->offset = metric_exponential_index(metric_middle(m, h, h->bucket[first].bucket));
    int32_t last = metric_exponential_index(metric_middle(m, h, h->bucket[h->buckets - 1].bucket));
    out->length = (uint32_t)(last - out->offset) + 1;
    out->count = scratch_array(&m->memory, out->length, sizeof *out->count);
    if (!out->count) {
        return -1;
    }
    for (uint32_t i = first; i < h->buckets; ++i) {
        int32_t at =
            metric_exponential_index(metric_middle(m, h, h->bucket[i].bucket)) - out->offset;
        out->count[at] += h->bucket[i].count;
    }
    return 0;
}
