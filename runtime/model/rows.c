/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the nodes of a snapshot up into rows: by name, set and, if requested, thread (flat), or by
 * call path (tree). First every node is added to its row (rows_sum.c), then each row is finished
 * (rows_finish.c). Flat rows count a scope inside one of the same name and set once. All memory is
 * the snapshot's: of what is there for each row, only the part that is written to takes memory.
 */
#include "rows.h"

#include <string.h>

#include "base/arithmetic.h"
#include "ranks.h"
#include "rows_private.h"
#include "stint/stint.h"

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
    if (g->name_ids && s->site_count == 1) {
        g->name_ids[1] = 1;
        return 0;
    }
    struct scratch_mark before = scratch_mark(&s->memory); /* `known` is not needed after this */
    hash_map_start(&known, &s->memory, s->site_count);
    if (scratch_failed(&s->memory)) {
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
    scratch_release(&s->memory, before);
    return 0;
}

static size_t rows_most(const struct snapshot *s) {
    return s->one_row ? 1 : (size_t)s->node_count + 1;
}

/* NULL without memory. */
static struct exact *exact_start(struct snapshot *s) {
    uint32_t room = (uint32_t)u64_min((uint64_t)s->node_count * STINT_IMPL_RAW, EXACT_SAMPLES);
    struct exact *e = scratch_get(&s->memory, sizeof *e);
    uint64_t *samples = scratch_array(&s->memory, 2 * (size_t)room, sizeof *samples);
    uint32_t *order = scratch_array(&s->memory, 2 * (size_t)room, sizeof *order);
    if (e) {
        *e = (struct exact){0, room, samples, samples + room, order, order + room};
    }
    return e;
}

static int rows_grouping_start(struct grouping *g, struct rows *out, struct snapshot *s) {
    size_t nodes = (size_t)s->node_count + 1, histograms = 2 * nodes;
    size_t rows = rows_most(s);
    memset(g, 0, sizeof *g);
    memset(out, 0, sizeof *out);
    g->s = s;
    g->rows = out;
    out->row = scratch_array(&s->memory, rows, sizeof *out->row);
    out->extra = scratch_array(&s->memory, rows, sizeof *out->extra);
    g->extras = scratch_array(&s->memory, rows, sizeof *g->extras);
    if (s->corrected) {
        g->costs = scratch_array(&s->memory, nodes, sizeof *g->costs);
    }
    g->groups = scratch_array(&s->memory, rows, sizeof *g->groups);
    g->links = scratch_array(&s->memory, histograms, sizeof *g->links);
    g->keepers = scratch_array(&s->memory, nodes, sizeof *g->keepers);
    g->exact = exact_start(s);
    g->sum = s->histograms;
    if (!g->sum) {
        g->sum = histograms_get(&s->memory, SNAPSHOT_HISTOGRAMS);
    }
    g->ticks = g->sum + 1;
    g->read = g->sum + 2;
    hash_map_start(&g->row_of, &s->memory, rows);
    hash_map_start(&g->seen, &s->memory, histograms);
    return number_names(g) || rows_waiting(&g->waiting, s) || rows_device(&g->work, s) ||
           scratch_failed(&s->memory);
}

/* The thread that tells the row of a node apart. */
static uint32_t row_thread(const struct grouping *g, const struct snapshot_node *n) {
    return g->each_thread ? n->thread : SNAPSHOT_NONE;
}

static uint32_t row_hash(const struct grouping *g, const struct snapshot_node *n, uint32_t parent) {
    uint64_t h = hash_number((uint64_t)g->name_ids[n->site] << 32 | n->set);
    return (uint32_t)hash_add(h, (uint64_t)parent << 32 | row_thread(g, n));
}

static int is_row_of(const struct grouping *g, const struct stint_row *r,
                     const struct snapshot_node *n, uint32_t parent) {
    return r->name_id == g->name_ids[n->site] && r->set == n->set && r->parent == parent &&
           r->thread == row_thread(g, n) && (!g->tree || r->kind == n->kind);
}

/* HASH_MAP_NONE: there is none yet. */
static uint32_t rows_find(const struct grouping *g, const struct snapshot_node *n, uint32_t parent,
                          uint32_t hash) {
    struct hash_map_walk walk;
    uint32_t row = hash_map_first(&g->row_of, hash, &walk);
    while (row != HASH_MAP_NONE && !is_row_of(g, &g->rows->row[row], n, parent)) {
        row = hash_map_next(&g->row_of, &walk);
    }
    return row;
}

static uint32_t row_get(struct grouping *g, const struct snapshot_node *n, uint32_t parent) {
    const struct snapshot_site *site = &g->s->sites[n->site];
    if (g->rows->count && is_row_of(g, &g->rows->row[g->last_row], n, parent)) {
        return g->last_row;
    }
    uint32_t hash = row_hash(g, n, parent), row = rows_find(g, n, parent, hash);
    g->last_row = row;
    if (row != HASH_MAP_NONE) {
        return row;
    }
    row = g->last_row = g->rows->count++;
    hash_map_add(&g->row_of, hash, row);
    g->rows->row[row] = (struct stint_row){.name = site->name ? site->name : "?",
                                           .name_length = site->length,
                                           .info = "",
                                           .extra = &stint_row_no_extra,
                                           .name_id = g->name_ids[n->site],
                                           .set = n->set & 0x7ffffffu,
                                           .thread = row_thread(g, n),
                                           .parent = parent,
                                           .kind = n->kind & 31u};
    if (!g->calls_alone) {
        numbers_clear(&record_scope, g->groups[row].cpu.number);
        g->groups[row].last_thread = SNAPSHOT_NONE;
    }
    return row;
}

/* Returns the sums of scopes around the node, of the same name and set, that it is in already: the
 * flat total must not count it twice. A scope on the CPU alone does not hold the GPU time of one
 * inside it. */
static unsigned nested_in_itself(const struct grouping *g, const struct snapshot_node *n) {
    const struct snapshot *s = g->s;
    uint32_t depth = 0;
    unsigned nested = 0;
    for (uint32_t p = n->parent; p != SNAPSHOT_NONE && depth < 2 * STINT_IMPL_DEPTH; ++depth) {
        const struct snapshot_node *a = &s->nodes[p];
        if (a->set == n->set && a->site && g->name_ids[a->site] == g->name_ids[n->site]) {
            nested |= ROW_NESTED;
            if (a->measures->gpu_calls) {
                nested |= ROW_NESTED_GPU;
            }
        }
        p = a->parent;
    }
    return nested;
}

/* Whether a node is of a row of the flat statistics. */
static int node_is_flat(const struct grouping *g, uint32_t index) {
    const struct snapshot_node *n = &g->s->nodes[index];
    const struct snapshot_extra *more = n->extra;
    if (n->parent == SNAPSHOT_NONE || !n->site) {
        return 0;
    }
    return measures_any(n->measures) || snapshot_calls(n) || n->recursions || more->open ||
           rows_device_of(g->work, index).count;
}

/* A merged run has the threads of all ranks in one: its table says how many recorded a name. */
static void rows_count_ranks(struct grouping *g) {
    const struct snapshot *s = g->s;
    struct ranks ranks;
    if (ranks_read(&ranks, s)) {
        return;
    }
    for (uint32_t i = 0; i < ranks.name_count; ++i) {
        const struct arena_rank_name *name = &ranks.name[i];
        struct snapshot_node key = {.site = name->site, .set = (uint16_t)name->set};
        uint32_t row = rows_find(g, &key, SNAPSHOT_NONE, row_hash(g, &key, SNAPSHOT_NONE));
        if (row != HASH_MAP_NONE) {
            g->rows->row[row].threads = name->threads;
        }
    }
}

/* Gives back the memory that the rows were made with, but for their own. */
static void grouping_drop(const struct grouping *g) {
    size_t nodes = (size_t)g->s->node_count + 1, rows = rows_most(g->s);
    pages_empty(g->groups, rows * sizeof *g->groups);
    pages_empty(g->extras, rows * sizeof *g->extras);
    pages_empty(g->links, 2 * nodes * sizeof *g->links);
    pages_empty(g->keepers, nodes * sizeof *g->keepers);
    pages_empty(g->row_of.place, ((size_t)g->row_of.mask + 1) * sizeof *g->row_of.place);
    pages_empty(g->seen.place, ((size_t)g->seen.mask + 1) * sizeof *g->seen.place);
}

void rows_drop_groups(struct rows *rows) {
    if (rows->grouping) {
        grouping_drop(rows->grouping);
        rows->grouping = NULL;
    }
}

int rows_flat(struct rows *out, struct snapshot *s, int each_thread) {
    struct grouping g;
    if (rows_grouping_start(&g, out, s)) {
        return -1;
    }
    g.each_thread = each_thread;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (!node_is_flat(&g, i)) {
            continue;
        }
        uint32_t row = row_get(&g, n, SNAPSHOT_NONE);
        unsigned nested = nested_in_itself(&g, n);
        row_add_node(&g, row, n, nested);
        if (n->count && !(nested & ROW_NESTED)) { /* those inside have a histogram of their own */
            link_samples(&g, &g.groups[row].cpu, n);
        }
    }
    if (!each_thread) {
        rows_count_ranks(&g);
    }
    rows_finish(&g);
    struct grouping *kept = scratch_array(&s->memory, 1, sizeof *kept);
    if (kept) {
        *kept = g;
    }
    out->grouping = kept;
    return kept ? 0 : -1;
}

int rows_calls(struct rows *out, struct snapshot *s) {
    struct grouping g;
    if (rows_grouping_start(&g, out, s)) {
        return -1;
    }
    g.calls_alone = 1;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (node_is_flat(&g, i)) {
            out->row[row_get(&g, n, SNAPSHOT_NONE)].calls += snapshot_calls(n) + n->recursions;
        }
    }
    return 0;
}

int rows_histogram(struct histogram *out, const struct rows *rows, uint32_t row, int gpu) {
    const struct grouping *g = rows->grouping;
    if (!g || row >= rows->count) {
        return -1;
    }
    const struct group *group = &g->groups[row];
    struct times from = rows_times(g, group);
    if (gpu && !group->extra) {
        return -1;
    }
    if (gpu) {
        from = g->extras[group->extra - 1].gpu;
    }
    histogram_start(out);
    row_sum_histograms(g, &from, out);
    return histogram_count(out) && !out->full ? 0 : -1;
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
    struct times from = rows_times(g, &g->groups[row]);
    *ns = times_ns(g, &from, spread_quantile(g, &from, permille));
    return 0;
}

u128 rows_timed_ns(const struct rows *rows, uint32_t row, int gpu) {
    const struct grouping *g = rows->grouping;
    if (!g || row >= rows->count) {
        return 0;
    }
    const struct group *group = &g->groups[row];
    if (gpu) {
        return rows->row[row].extra->gpu_total_ns;
    }
    struct times from = rows_times(g, group);
    return times_sum_ns(g, &from);
}

/* ---- The tree. */

#define ROW_NOT_YET (SNAPSHOT_NONE - 1)

/* above: the node above it, whose row is known. */
static void add_tree_node(struct grouping *g, uint32_t *rows, uint32_t node, uint32_t above) {
    const struct snapshot_node *n = &g->s->nodes[node];
    rows[node] = SNAPSHOT_NONE;
    if (above == SNAPSHOT_NONE || !n->site) {
        return;
    }
    rows[node] = row_get(g, n, rows[above]);
    row_add_node(g, rows[node], n, 0);
    if (n->count) {
        link_samples(g, &g->groups[rows[node]].cpu, n);
    }
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
        add_tree_node(g, rows, path[depth], snapshot_above(s, path[depth]));
    }
}

static int tree_make(struct rows *out, struct snapshot *s, int by_sender, int each_thread,
                     uint32_t **row_of) {
    struct grouping g;
    size_t nodes = (size_t)s->node_count + 1;
    int failed = rows_grouping_start(&g, out, s);
    uint32_t *rows = scratch_array(&s->memory, nodes, sizeof *rows);
    uint32_t *path = by_sender ? scratch_array(&s->memory, nodes, sizeof *path) : NULL;
    if (failed || scratch_failed(&s->memory)) {
        return -1;
    }
    g.tree = 1;
    g.each_thread = each_thread;
    for (uint32_t i = 0; i < s->node_count; ++i) {
        rows[i] = ROW_NOT_YET;
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (by_sender) {
            add_path(&g, rows, path, i);
        } else {
            add_tree_node(&g, rows, i, s->nodes[i].parent);
        }
    }
    rows_finish(&g);
    grouping_drop(&g);
    *row_of = rows;
    return 0;
}

int rows_tree_of(struct rows *out, struct snapshot *s, int each_thread, uint32_t **row_of) {
    return tree_make(out, s, 0, each_thread, row_of);
}

int rows_tree(struct rows *out, struct snapshot *s) {
    uint32_t *row_of;
    return tree_make(out, s, 1, 0, &row_of);
}
