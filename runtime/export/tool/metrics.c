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

#include <string.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "export/export_columns.h"

/* Longer paths are cut: their series are added. */
#define METRIC_PATH_BYTES 4000u

/* Monitoring systems keep milliseconds, and refuse another value at the same time: a later reading
 * is as much later. */
#define LATER_NS ((uint64_t)1000000)

#include "metric_columns.inc" /* scope_metrics: the columns of reports that are counters */
#define SCOPE_METRICS (sizeof scope_metrics / sizeof *scope_metrics)

#define NO_FIELD                                                                                   \
    { 0, 0, 0 }

static const struct metric_about run_metrics[METRIC_OF_SCOPE] = {
    [METRIC_DURATION] = {"stint.scope.duration", "Durations of timed calls.", "s", NO_FIELD, 0},
    [METRIC_GPU_DURATION] = {"stint.scope.gpu.duration", "Durations on the GPU.", "s", NO_FIELD, 0},
    [METRIC_LOST] = {"stint.lost", "What was lost, skipped or abandoned.", "{event}", NO_FIELD, 0},
    [METRIC_STEPS] = {"stint.steps", "Calls of stint_step.", "{step}", NO_FIELD, 0},
};

const struct metric_about *metric_about(uint32_t kind) {
    if (kind < METRIC_OF_SCOPE) {
        return &run_metrics[kind];
    }
    return kind - METRIC_OF_SCOPE < SCOPE_METRICS ? &scope_metrics[kind - METRIC_OF_SCOPE] : NULL;
}

struct reading {
    struct metrics *m;
    struct snapshot *s;
    uint64_t left; /* buckets that the file can have */
};

/* ---- Labels. */

/* In the metrics' memory; NULL without. */
static const char *metric_text(struct metrics *m, struct export_name name) {
    char clean[EXPORT_CLEAN_BYTES];
    size_t n = export_clean(clean, name);
    return scratch_text(&m->memory, clean, n);
}

static void label_finish(struct metric_label *l, uint32_t kind) {
    const char *const texts[] = {l->name, l->set, l->parent, l->thread};
    uint64_t h = hash_add(hash_number(kind), l->tid);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        h = hash_add(h, texts[i] ? hash_bytes(texts[i], strlen(texts[i])) : 0);
    }
    l->kind = kind;
    l->hash = (uint32_t)h;
}

static int is_same_text(const char *a, const char *b) {
    if (!a || !b) {
        return a == b;
    }
    return !strcmp(a, b);
}

static int is_same_label(const struct metric_label *a, const struct metric_label *b) {
    return a->kind == b->kind && a->tid == b->tid && is_same_text(a->name, b->name) &&
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

/* ---- Series. */

struct metric_series *metrics_find(const struct metrics *m, const struct metric_label *wanted) {
    struct hash_map_walk walk;
    if (!m->count) {
        return NULL;
    }
    uint32_t i = hash_map_first(&m->series_of, wanted->hash, &walk);
    while (i != HASH_MAP_NONE && !is_same_label(&m->series[i].label, wanted)) {
        i = hash_map_next(&m->series_of, &walk);
    }
    return i == HASH_MAP_NONE ? NULL : &m->series[i];
}

struct metric_series *metrics_add(struct metrics *m, const struct metric_series *series) {
    m->series = scratch_array_grow(&m->memory, m->series, m->count, &m->room, sizeof *m->series);
    if (!m->count && hash_map_start(&m->series_of, &m->memory, 0)) {
        return NULL;
    }
    m->series_of.memory = &m->memory; /* the struct may have been moved */
    if (!m->series || hash_map_add(&m->series_of, series->label.hash, m->count)) {
        return NULL;
    }
    m->series[m->count] = *series;
    return &m->series[m->count++];
}

typedef u128 metric_rule(u128 a, u128 b);

static u128 metric_add(u128 a, u128 b) {
    return a + b;
}

/* The buckets of h, compared with those of `like`: these may be in nanoseconds when h is not, as a
 * name that only scopes had gets added samples. */
static void buckets_expand(const struct metrics *m, struct histogram *out,
                           const struct metric_series *h, const struct metric_series *like) {
    histogram_unpack(out, &h->buckets);
    if (like->buckets.in_ns && !out->in_ns) {
        struct histogram ticks = *out;
        histogram_to_ns(out, &ticks, m->ns_per_tick);
    }
}

/* Makes one number of each two, of a counter or of the buckets of a histogram. 0, or -1 without
 * memory. */
static int series_combine(struct metrics *m, struct metric_series *to,
                          const struct metric_series *from, metric_rule *rule) {
    struct histogram a, b;
    int same = 1;
    to->sum_ns = rule(to->sum_ns, from->sum_ns);
    if (!metric_is_histogram(to)) {
        to->count = rule(to->count, from->count);
        return 0;
    }
    buckets_expand(m, &a, to, from);
    buckets_expand(m, &b, from, to);
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        uint64_t count = u128_narrow(rule(a.bucket[i], b.bucket[i]));
        same &= count == a.bucket[i];
        a.bucket[i] = count;
    }
    if (same) {
        return 0;
    }
    a.open = histogram_open_lower(a.open, b.open);
    to->count = histogram_count(&a);
    return histogram_pack(&to->buckets, &m->memory, &a);
}

/* ---- Histograms. */

/* A thread that records meanwhile may have counted one call in one place only. */
int metric_histogram_read(struct histogram *out, const struct rows *rows, uint32_t row, int gpu) {
    const struct stint_row *r = &rows->row[row];
    uint32_t needs = gpu ? ROW_GPU_HISTOGRAM : ROW_HISTOGRAM;
    if (!(r->has & needs) || rows_histogram(out, rows, row, gpu)) {
        return -1;
    }
    return histogram_count(out) + r->threads >= row_sampled(r, gpu).count ? 0 : -1;
}

/* Adds a histogram of the same label. 0, or -1 without memory. */
static int histogram_merge(struct metrics *m, struct metric_series *to,
                           const struct metric_series *h) {
    to->min_ns = u64_min(to->min_ns, h->min_ns);
    if (h->max_ns > to->max_ns) {
        to->max_ns = h->max_ns;
        to->note = h->note;
    }
    return series_combine(m, to, h, metric_add);
}

/* 0, or -1 without memory. */
static int histogram_read(struct reading *g, const struct rows *rows, uint32_t row, int gpu) {
    const struct stint_row *r = &rows->row[row];
    struct metric_series one = {.row = row, .bounded = 1};
    struct histogram h;
    if (metric_histogram_read(&h, rows, row, gpu)) {
        return 0;
    }
    if (label_read(g, &one.label, r) || histogram_pack(&one.buckets, &g->m->memory, &h)) {
        return -1;
    }
    if (*r->info && !gpu) {
        one.note = metric_text(g->m, export_text(r->info));
    }
    if (one.buckets.used > g->left) { /* of a damaged file: they overlap */
        return 0;
    }
    g->left -= one.buckets.used;
    label_finish(&one.label, gpu ? METRIC_GPU_DURATION : METRIC_DURATION);
    one.count = histogram_count(&h);
    one.sum_ns = rows_timed_ns(rows, row, gpu);
    one.min_ns = row_sampled(r, gpu).min_ns;
    one.max_ns = row_sampled(r, gpu).max_ns;
    struct metric_series *same = metrics_find(g->m, &one.label);
    if (same) {
        return histogram_merge(g->m, same, &one);
    }
    return metrics_add(g->m, &one) ? 0 : -1;
}

static int read_histograms(struct reading *g, int each_thread) {
    struct rows rows;
    const uint32_t *order = export_rows(&rows, g->s, each_thread);
    if (!order) {
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

/* 0, or -1 without memory. */
static int counter_add(struct reading *g, const struct metric_label *label, uint32_t kind,
                       u128 value) {
    struct metric_series c = {.label = *label, .count = value};
    if (!value) {
        return 0;
    }
    label_finish(&c.label, kind);
    struct metric_series *same = metrics_find(g->m, &c.label);
    if (same) {
        return series_combine(g->m, same, &c, metric_add);
    }
    return metrics_add(g->m, &c) ? 0 : -1;
}

static int counters_of_row(struct reading *g, const struct metric_label *label,
                           const struct stint_row *r) {
    for (uint32_t i = 0; i < SCOPE_METRICS; ++i) {
        const struct metric_about *about = &scope_metrics[i];
        if (!(about->needs & ~r->has) &&
            counter_add(g, label, METRIC_OF_SCOPE + i, row_number(r, about->field))) {
            return -1;
        }
    }
    return 0;
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
    const char **path = scratch_array(&g->m->memory, (size_t)tree.count + 1, sizeof *path);
    if (!path) {
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
        if (!path[i] || counters_of_row(g, &label, r)) {
            return -1;
        }
    }
    return 0;
}

static int read_losses(struct reading *g) {
    const struct metric_label none = {0};
    int failed = counter_add(g, &none, METRIC_STEPS, g->s->steps);
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        const struct metric_label label = {.name = status_text(i)->key};
        failed |= counter_add(g, &label, METRIC_LOST, g->s->lost[i]);
    }
    return failed;
}

int metrics_read(struct metrics *out, struct run *r, int each_thread) {
    struct snapshot *s = &r->snapshot;
    struct reading g = {.m = out, .s = s, .left = s->size / sizeof(uint32_t)};
    memset(out, 0, sizeof *out);
    s->ns_per_tick = snapshot_steady_tick(s);
    out->ns_per_tick = s->ns_per_tick;
    out->pid = r->pid;
    out->rank = r->rank;
    out->start_ns = r->start_real_ns;
    out->time_ns = r->start_real_ns + s->wall_ns;
    out->program = metric_text(out, export_text(r->program));
    out->host = metric_text(out, export_text(r->host));
    if (!out->program || !out->host || read_histograms(&g, each_thread) ||
        read_counters(&g, each_thread) || read_losses(&g)) {
        scratch_free(&out->memory);
        return -1;
    }
    return 0;
}

void metrics_free(struct metrics *m) {
    scratch_free(&m->memory);
    memset(m, 0, sizeof *m);
}

/* ---- Two readings. */

/* Keeps a series that `now` lacks: a counter is as it was, a histogram is hidden. 0, or -1 without
 * memory. */
static int series_keep(struct metrics *now, const struct metric_series *then) {
    struct metric_series s = *then;
    struct histogram buckets;
    s.note = NULL;
    s.hidden = metric_is_histogram(then);
    now->hidden += (uint32_t)s.hidden;
    histogram_unpack(&buckets, &then->buckets);
    if (label_copy(now, &s.label) || histogram_pack(&s.buckets, &now->memory, &buckets)) {
        return -1;
    }
    return metrics_add(now, &s) ? 0 : -1;
}

int metrics_raise(struct metrics *now, const struct metrics *then) {
    for (uint32_t i = 0; i < now->count; ++i) {
        struct metric_series *s = &now->series[i];
        const struct metric_series *before = metrics_find(then, &s->label);
        if (before && series_combine(now, s, before, u128_max)) {
            return -1;
        }
        s->noted = before && before->max_ns == s->max_ns && is_same_text(before->note, s->note);
    }
    for (uint32_t i = 0; i < then->count; ++i) {
        if (!metrics_find(now, &then->series[i].label) && series_keep(now, &then->series[i])) {
            return -1;
        }
    }
    now->time_ns = u64_max(now->time_ns, saturating_add(then->time_ns, LATER_NS));
    return 0;
}

/* 0, or -1 without memory. */
static int series_since(struct metrics *out, const struct metric_series *now,
                        const struct metric_series *then) {
    if (now->hidden || (then && now->count == then->count && now->sum_ns == then->sum_ns)) {
        return 0;
    }
    struct metric_series *s = metrics_add(out, now);
    if (!s) {
        return -1;
    }
    s->bounded = !then;
    return then ? series_combine(out, s, then, u128_subtract) : 0;
}

int metrics_since(struct metrics *out, const struct metrics *now, const struct metrics *then) {
    *out = *now;
    memset(&out->memory, 0, sizeof out->memory);
    out->series = NULL;
    out->count = out->room = out->hidden = 0;
    out->delta = 1;
    out->start_ns = then->time_ns;
    for (uint32_t i = 0; i < now->count; ++i) {
        const struct metric_series *s = &now->series[i];
        if (series_since(out, s, metrics_find(then, &s->label))) {
            scratch_free(&out->memory);
            return -1;
        }
    }
    return 0;
}

/* ---- Buckets. */

double metric_middle(const struct metrics *m, const struct metric_series *h, uint32_t bucket) {
    double middle = histogram_middle(bucket);
    if (h->buckets.open && bucket + 1 >= h->buckets.open) {
        middle = (double)histogram_low(bucket);
    }
    return h->buckets.in_ns ? middle : middle * m->ns_per_tick;
}

/* Between two numbers of ticks, so that it is a bound whether or not a bound belongs to the bucket
 * below it. */
double metric_bound(const struct metrics *m, const struct metric_series *h, uint32_t bucket) {
    double bound = (double)histogram_low(bucket + 1) - 0.5;
    return h->buckets.in_ns ? bound : bound * m->ns_per_tick;
}

uint64_t metric_percentile(const struct metrics *m, const struct metric_series *h,
                           uint32_t permille) {
    uint64_t rank = histogram_rank(u128_narrow(h->count), permille);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < h->buckets.used; ++i) {
        seen += h->buckets.bucket[i].count;
        if (seen >= rank) {
            return (uint64_t)metric_middle(m, h, h->buckets.bucket[i].index);
        }
    }
    return 0;
}

int metric_is_beyond(const struct metric_series *h, uint32_t permille) {
    const struct histogram_list *l = &h->buckets;
    uint64_t before = 0;
    for (uint32_t i = 0; i < l->used && l->bucket[i].index + 1 < l->open; ++i) {
        before += l->bucket[i].count;
    }
    return l->open && histogram_rank(u128_narrow(h->count), permille) > before;
}
