/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <string.h>

#include "baseline.h"
#include "histogram.h"

/* While grouping: sums in ticks, the best of each kind, and the histograms of the row. */
struct group {
    uint64_t total, self, min, max, first, first_at, open;
    const char *info;
    uint32_t last_thread;
    uint32_t loose;
    uint32_t histograms; /* first of its list, + 1 */
};

struct histogram_link {
    uint32_t unit;
    uint32_t next; /* + 1 */
};

struct grouping {
    struct snapshot *s;
    struct rows *rows;
    struct group *groups;
    uint32_t *slots; /* hash of (parent or set, name, thread) -> row + 1 */
    uint32_t mask;
    struct histogram_link *links;
    uint32_t link_count;
    uint32_t *name_ids; /* by site */
    uint32_t *seen;     /* histogram unit -> 1, open addressing: nodes of a site share one */
};

static uint32_t power_over(uint64_t n) {
    uint32_t size = 64;
    while (size < n * 2) {
        size *= 2;
    }
    return size;
}

static uint32_t name_hash(const struct snapshot_site *site) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (uint32_t i = 0; i < site->length; ++i) {
        h = (h ^ (unsigned char)site->name[i]) * 16777619u;
    }
    return h;
}

/* Sites of the same name get the id of the first of them. */
static int number_names(struct grouping *g) {
    struct snapshot *s = g->s;
    uint32_t size = power_over(s->site_count + 1);
    uint32_t *slots = scratch_array(&s->memory, size, sizeof *slots);
    g->name_ids = scratch_array(&s->memory, (size_t)s->site_count + 1, sizeof *g->name_ids);
    if (!slots || !g->name_ids) {
        return -1;
    }
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        const struct snapshot_site *site = &s->sites[id];
        uint32_t at = name_hash(site) & (size - 1);
        while (slots[at] && (s->sites[slots[at]].length != site->length ||
                             memcmp(s->sites[slots[at]].name, site->name, site->length))) {
            at = (at + 1) & (size - 1);
        }
        slots[at] = slots[at] ? slots[at] : id;
        g->name_ids[id] = slots[at];
    }
    return 0;
}

static int grouping_start(struct grouping *g, struct rows *out, struct snapshot *s) {
    uint32_t size = power_over(s->node_count);
    memset(g, 0, sizeof *g);
    g->s = s;
    g->rows = out;
    g->mask = size - 1;
    out->count = 0;
    out->row = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *out->row);
    g->groups = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *g->groups);
    g->slots = scratch_array(&s->memory, size, sizeof *g->slots);
    g->seen = scratch_array(&s->memory, size, sizeof *g->seen);
    g->links = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *g->links);
    return !out->row || !g->groups || !g->slots || !g->seen || !g->links || number_names(g) ? -1
                                                                                            : 0;
}

static uint32_t row_get(struct grouping *g, const struct snapshot_node *n, uint32_t parent,
                        uint32_t thread) {
    uint32_t name = g->name_ids[n->site];
    uint32_t h =
        (name * 0x9e3779b1u ^ n->set * 0x85ebca6bu ^ parent * 0xc2b2ae35u ^ thread * 0x27d4eb2fu);
    uint32_t at = (h ^ h >> 15) & g->mask;
    for (; g->slots[at]; at = (at + 1) & g->mask) {
        const struct stint_row *r = &g->rows->row[g->slots[at] - 1];
        if (r->name_id == name && r->set == n->set && r->parent == parent && r->thread == thread &&
            (parent == SNAPSHOT_NONE || r->kind == n->kind)) {
            return g->slots[at] - 1;
        }
    }
    uint32_t row = g->rows->count++;
    struct stint_row *r = &g->rows->row[row];
    r->name = g->s->sites[n->site].name ? g->s->sites[n->site].name : "?";
    r->name_length = g->s->sites[n->site].length;
    r->info = "";
    r->name_id = name;
    r->set = n->set;
    r->thread = thread;
    r->parent = parent;
    r->kind = n->kind;
    g->groups[row].min = UINT64_MAX;
    g->groups[row].first_at = UINT64_MAX;
    g->groups[row].last_thread = SNAPSHOT_NONE;
    g->slots[at] = row + 1;
    return row;
}

static void link_histogram(struct grouping *g, struct group *to, uint32_t unit) {
    uint32_t at = unit * 0x9e3779b1u & g->mask;
    while (g->seen[at] && g->seen[at] != unit) {
        at = (at + 1) & g->mask;
    }
    if (g->seen[at] || !unit) {
        return;
    }
    g->seen[at] = unit;
    g->links[g->link_count].unit = unit;
    g->links[g->link_count].next = to->histograms;
    to->histograms = ++g->link_count;
}

static uint64_t self_of(const struct snapshot_node *n) {
    uint64_t inside = n->total + n->open;
    uint64_t self = inside > n->children ? inside - n->children : 0;
    return self < n->total ? self : n->total;
}

/* nested: below a scope of the same name and set from another line; its time is in that one's. */
static void add(struct grouping *g, uint32_t row, const struct snapshot_node *n, int nested) {
    struct group *to = &g->groups[row];
    struct stint_row *r = &g->rows->row[row];
    r->calls += n->count + n->recursions;
    to->self += self_of(n);
    to->open = n->open > to->open ? n->open : to->open;
    if (!n->count || nested) {
        return;
    }
    r->samples += n->count;
    r->threads += to->last_thread != n->thread;
    to->last_thread = n->thread;
    to->total += n->total;
    to->loose |= n->loose;
    to->min = n->min < to->min ? n->min : to->min;
    if (n->max >= to->max) {
        to->max = n->max;
        r->info = n->info;
    }
    if (n->first && n->first_at < to->first_at) {
        to->first_at = n->first_at;
        to->first = n->first;
    }
}

static void sum_histograms(const struct grouping *g, const struct group *from,
                           struct histogram *sum) {
    memset(sum, 0, sizeof *sum);
    for (uint32_t link = from->histograms; link; link = g->links[link - 1].next) {
        uint32_t unit = g->links[link - 1].unit;
        const struct stint_impl_histogram *h = snapshot_at(g->s, unit, sizeof *h);
        const uint32_t *then = g->s->since ? baseline_histogram_of(g->s->since, unit) : NULL;
        for (uint32_t i = 0; h && i < STINT_IMPL_BUCKETS; ++i) {
            uint32_t now = STINT_IMPL_LOAD(&h->bucket[i]);
            sum->bucket[i] += then ? now - then[i] : now;
        }
    }
}

static uint64_t clamp(uint64_t v, uint64_t low, uint64_t high) {
    return v < low ? low : v > high ? high : v;
}

static void percentiles(const struct grouping *g, struct group *from, struct stint_row *r) {
    struct histogram sum;
    sum_histograms(g, from, &sum);
    uint64_t count = histogram_count(&sum);
    if (!count) {
        return;
    }
    if (from->loose & SNAPSHOT_LOOSE_MIN) {
        uint64_t low = histogram_min(&sum);
        from->min = low > from->min ? low : from->min;
    }
    if (from->loose & SNAPSHOT_LOOSE_MAX) {
        uint64_t high = histogram_max(&sum);
        from->max = high < from->max ? high : from->max;
    }
    r->has_histogram = 1;
    r->p50_ns =
        snapshot_ns(g->s, clamp(histogram_percentile(&sum, count, 500), from->min, from->max));
    r->p90_ns =
        snapshot_ns(g->s, clamp(histogram_percentile(&sum, count, 900), from->min, from->max));
    r->p99_ns =
        snapshot_ns(g->s, clamp(histogram_percentile(&sum, count, 990), from->min, from->max));
}

static void finish(struct grouping *g) {
    struct snapshot *s = g->s;
    for (uint32_t i = 0; i < g->rows->count; ++i) {
        struct stint_row *r = &g->rows->row[i];
        struct group *from = &g->groups[i];
        percentiles(g, from, r);
        r->total_ns = snapshot_ns(s, from->total);
        r->self_ns = snapshot_ns(s, from->self);
        r->first_ns = snapshot_ns(s, from->first);
        r->open_ns = snapshot_ns(s, from->open);
        if (r->samples) {
            /* Rounding, or a sample counted while its writer stood still, must not put the average
             * outside the bounds. */
            uint64_t up = (r->total_ns + r->samples - 1) / r->samples;
            r->avg_ns = r->total_ns / r->samples;
            r->min_ns = clamp(snapshot_ns(s, from->min), 0, r->avg_ns);
            r->max_ns = clamp(snapshot_ns(s, from->max), up, UINT64_MAX);
        }
        r->share_ppm = s->wall_ns ? (uint64_t)((double)r->total_ns * 1e6 / (double)s->wall_ns) : 0;
    }
}

/* Whether a scope around it has the same name and set: the flat total must not count it twice. */
static int nested_in_itself(const struct grouping *g, const struct snapshot_node *n) {
    const struct snapshot *s = g->s;
    uint32_t depth = 0;
    for (uint32_t p = n->parent; p != SNAPSHOT_NONE && depth < 2 * STINT_IMPL_DEPTH; ++depth) {
        const struct snapshot_node *a = &s->nodes[p];
        if (a->set == n->set && a->site && g->name_ids[a->site] == g->name_ids[n->site]) {
            return 1;
        }
        p = a->parent;
    }
    return 0;
}

int rows_flat(struct rows *out, struct snapshot *s, int each_thread) {
    struct grouping g;
    if (grouping_start(&g, out, s)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent == SNAPSHOT_NONE || !n->site || !(n->count + n->recursions + n->open)) {
            continue;
        }
        uint32_t row = row_get(&g, n, SNAPSHOT_NONE, each_thread ? n->thread : SNAPSHOT_NONE);
        add(&g, row, n, nested_in_itself(&g, n));
        link_histogram(&g, &g.groups[row], n->histogram);
    }
    finish(&g);
    return 0;
}

int rows_tree(struct rows *out, struct snapshot *s) {
    struct grouping g;
    uint32_t *row_of = NULL;
    if (!grouping_start(&g, out, s)) {
        row_of = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *row_of);
    }
    if (!row_of) {
        return -1;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        row_of[i] = SNAPSHOT_NONE;
        if (n->parent != SNAPSHOT_NONE && n->site) {
            row_of[i] = row_get(&g, n, row_of[n->parent], SNAPSHOT_NONE);
            add(&g, row_of[i], n, 0);
        }
    }
    finish(&g);
    return 0;
}
