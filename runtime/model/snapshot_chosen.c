/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the nodes of one name and set from the process's own arena, which is trusted, for one row
 * of the flat statistics: interval/name_index.c has their list. The snapshot is as the whole one,
 * but for what such a row does not need: open scopes, sums of children, activities, losses.
 *
 * - Node 0 is the root of all threads. The parent of another node is the nearest one around it that
 *   was chosen, too, or node 0.
 * - Nodes of a thread that share a histogram and have nothing but times are read into one: a
 *   program may call a function from thousands of places.
 */
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "base/order.h"
#include "snapshot_parts.h"

/* Frames in a row that were never open, after which none was: a signal handler may use one before
 * the scope that it interrupted has used its own. */
#define UNUSED_FRAMES 4u

struct chosen {
    uint32_t unit;
    uint32_t outer; /* the unit of the nearest chosen one around it; 0 = none */
    uint32_t thread;
};

struct choosing {
    struct snapshot *s;
    const struct snapshot_choice *choice;
    const struct arena_header *h;
    struct chosen *found;
    uint32_t count;
    uint32_t nested;          /* those with one around them */
    struct hash_map roots;    /* to numbers of threads */
    uint32_t *rank;           /* of those, the oldest first */
    struct hash_map sites;    /* to numbers in the snapshot, less 1 */
    struct hash_map index_of; /* units to nodes, where there are nested ones */
    struct hash_map joined;   /* histograms to nodes that others are read into */
    uint32_t last_site;       /* of the arena, and */
    uint32_t last_number;     /* its number */
    uint32_t last_root;       /* likewise */
    uint32_t last_root_number;
    uint32_t last_histogram;
    uint32_t last_joined;
};

static const struct stint_impl_node *chosen_at(const struct snapshot *s, uint32_t unit) {
    return (const struct stint_impl_node *)(const void *)(s->base + (size_t)unit * STINT_IMPL_UNIT);
}

static uint32_t number_root(struct choosing *g, uint32_t root) {
    if (root != g->last_root) {
        g->last_root = root;
        g->last_root_number = hash_map_number(&g->roots, root);
    }
    return g->last_root_number;
}

static void find_chosen(struct choosing *g) {
    const struct snapshot_choice *c = g->choice;
    for (uint32_t i = 0; i < c->count; ++i) {
        const struct stint_impl_node *n = chosen_at(g->s, c->unit[i]);
        if (n->set != c->set) {
            continue;
        }
        struct chosen *out = &g->found[g->count++];
        uint32_t root = 0, unit = n->parent;
        out->unit = c->unit[i];
        for (; unit; unit = n->parent) {
            n = chosen_at(g->s, unit);
            root = unit;
            if (c->name_of[n->site] == c->name && n->set == c->set && !out->outer) {
                out->outer = unit;
                ++g->nested;
            }
        }
        out->thread = number_root(g, root);
    }
}

static uint32_t count_frames_until_unused(const struct stint_impl_frame *frames) {
    uint32_t unused = 0, f = 1;
    for (; frames && f < STINT_IMPL_FRAMES && unused < UNUSED_FRAMES; ++f) {
        ++unused;
        if (STINT_IMPL_LOAD(&frames[f].guard) || STINT_IMPL_LOAD(&frames[f].start) ||
            STINT_IMPL_LOAD(&frames[f].pending)) {
            unused = 0;
        }
    }
    return f - unused;
}

/* Those that have a chosen node: of each what its histograms need. */
static int read_chosen_threads(struct choosing *g) {
    struct snapshot *s = g->s;
    const struct arena_thread *t;
    uint32_t left = g->roots.count;
    struct snapshot_list list =
        SNAPSHOT_LIST(s, SNAPSHOT_ACQUIRE(&g->h->first_thread), struct arena_thread, UINT32_MAX);
    s->threads = scratch_array(&s->memory, left, sizeof *s->threads);
    g->rank = scratch_array(&s->memory, left, sizeof *g->rank);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    s->thread_count = left;
    while (left && (t = snapshot_list_next(&list))) {
        uint32_t number = hash_map_get(&g->roots, t->root);
        if (number != HASH_MAP_NONE) {
            struct snapshot_thread *out = &s->threads[--left];
            g->rank[number] = left;
            out->unit = list.unit;
            out->root = t->root;
            out->frames = snapshot_at(s, t->frames, STINT_IMPL_FRAMES * sizeof *out->frames);
            out->frames_used = count_frames_until_unused(out->frames);
        }
    }
    return 0;
}

/* A node comes after those around it, as rows.c wants it: it was made after them, by a thread that
 * cuts its nodes from the arena one after the other. */
static int is_chosen_first(const void *what, uint32_t a, uint32_t b) {
    const struct choosing *g = what;
    const struct chosen *x = &g->found[a], *y = &g->found[b];
    if (x->thread != y->thread) {
        return g->rank[x->thread] < g->rank[y->thread];
    }
    return x->unit < y->unit;
}

/* The number of a site of the arena in the snapshot. */
static uint32_t number_site(struct choosing *g, uint32_t site) {
    if (site != g->last_site) {
        uint32_t known = g->sites.count;
        g->last_site = site;
        g->last_number = hash_map_number(&g->sites, site) + 1;
        if (g->sites.count > known) {
            snapshot_read_site(g->s, g->h, site, &g->s->sites[g->last_number]);
            g->s->site_count = g->last_number;
        }
    }
    return g->last_number;
}

/* ---- Nodes that are read into one. */

/* One attempt at the times of a node, as copy_node. */
static int copy_times(uint64_t number[SCOPE_NUMBERS], const struct stint_impl_node *n) {
    uint64_t seq = SNAPSHOT_ACQUIRE(&n->seq);
    numbers_load(&record_scope, number, n);
    return seq & 1 || STINT_IMPL_LOAD(&n->seq) != seq;
}

/* Whether a node has times alone, all of its samples in its histogram, and no note. */
static int node_is_plain(const struct stint_impl_node *n) {
    return SNAPSHOT_ACQUIRE(&n->span) && n->kind == STINT_IMPL_SCOPE_NODE &&
           STINT_IMPL_LOAD(&n->histogram) && !STINT_IMPL_LOAD(&n->info[0]) &&
           !(STINT_IMPL_LOAD(&n->measures) | STINT_IMPL_LOAD(&n->gpu)) &&
           !(STINT_IMPL_LOAD(&n->bytes) | STINT_IMPL_LOAD(&n->flops));
}

/* Takes number `leader` of a node, and the one that belongs to it, which is the larger one where
 * both leaders are equal. */
static void take_pair(uint64_t *to, const uint64_t *from, uint32_t leader, uint32_t with) {
    if (to[leader] != from[leader] || from[with] > to[with]) {
        to[with] = from[with];
    }
    to[leader] = from[leader];
}

/* As numbers_add and row_add_times. 0, or -1 where the sums have no room or the own time of the
 * sums would not be that of the two. */
static int join_times(struct snapshot_node *node, const uint64_t from[SCOPE_NUMBERS]) {
    uint64_t *to = node->number;
    if (node->extra != &snapshot_no_extra || node->measures != &snapshot_no_measures ||
        from[SCOPE_NESTED] > from[SCOPE_TOTAL] || to[SCOPE_NESTED] > to[SCOPE_TOTAL] ||
        !u64_sum_fits(to[SCOPE_TOTAL], from[SCOPE_TOTAL]) ||
        !u64_sum_fits(to[SCOPE_RECURSIONS], from[SCOPE_RECURSIONS])) {
        return -1;
    }
    to[SCOPE_COUNT] += from[SCOPE_COUNT];
    to[SCOPE_TOTAL] += from[SCOPE_TOTAL];
    to[SCOPE_NESTED] += from[SCOPE_NESTED];
    to[SCOPE_RECURSIONS] += from[SCOPE_RECURSIONS];
    to[SCOPE_MIN] = u64_min(to[SCOPE_MIN], from[SCOPE_MIN]);
    if (from[SCOPE_MAX] > to[SCOPE_MAX]) {
        take_pair(to, from, SCOPE_MAX, SCOPE_MAX_AT);
    }
    if (!to[SCOPE_FIRST]) {
        to[SCOPE_FIRST_AT] = 0; /* it is not known */
    }
    if (from[SCOPE_FIRST] && from[SCOPE_FIRST_AT] &&
        (!to[SCOPE_FIRST_AT] || from[SCOPE_FIRST_AT] <= to[SCOPE_FIRST_AT])) {
        take_pair(to, from, SCOPE_FIRST_AT, SCOPE_FIRST);
    }
    return 0;
}

/* The node that the nodes of a histogram are read into; HASH_MAP_NONE: it is to be this one. */
static uint32_t find_joined(struct choosing *g, uint32_t histogram, uint32_t index) {
    if (!g->joined.place && hash_map_start(&g->joined, &g->s->memory, 0)) {
        return HASH_MAP_NONE;
    }
    if (histogram != g->last_histogram) {
        g->last_histogram = histogram;
        g->last_joined = hash_map_get(&g->joined, histogram);
        if (g->last_joined == HASH_MAP_NONE) {
            g->last_joined = index;
            hash_map_add(&g->joined, histogram, index);
            return HASH_MAP_NONE;
        }
    }
    return g->last_joined;
}

/* Reads a node into another one of its histogram. Returns that, or HASH_MAP_NONE: it is one of its
 * own, of that index. */
static uint32_t join_node(struct choosing *g, const struct chosen *c,
                          const struct stint_impl_node *n, uint32_t index) {
    struct snapshot *s = g->s;
    uint64_t times[SCOPE_NUMBERS];
    if (!g->choice->join || c->outer || !node_is_plain(n)) {
        return HASH_MAP_NONE;
    }
    uint32_t to = find_joined(g, STINT_IMPL_LOAD(&n->histogram), index);
    if (to == HASH_MAP_NONE) {
        return to;
    }
    for (int i = 0; copy_times(times, n) && snapshot_try_again(s, i); ++i) {
    }
    return join_times(&s->nodes[to], times) ? HASH_MAP_NONE : to;
}

/* ---- All nodes. */

static void read_chosen(struct choosing *g, const struct chosen *c) {
    struct snapshot *s = g->s;
    const struct stint_impl_node *n = chosen_at(s, c->unit);
    uint32_t index = join_node(g, c, n, s->node_count);
    if (index == HASH_MAP_NONE) {
        index = s->node_count++;
        struct snapshot_node *out = &s->nodes[index];
        out->unit = c->unit;
        out->thread = g->rank[c->thread];
        out->parent = c->outer;
        snapshot_read_node(s, index, n);
        out->site = number_site(g, out->site);
        out->sender = SNAPSHOT_NONE;
    }
    if (g->index_of.place) {
        hash_map_set(&g->index_of, c->unit, index);
    }
}

/* Units to indexes. */
static void link_chosen(struct choosing *g) {
    struct snapshot *s = g->s;
    for (uint32_t i = 1; i < s->node_count && g->nested; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        n->parent = n->parent ? hash_map_get(&g->index_of, n->parent) : 0;
    }
    for (uint32_t i = 0; i < s->extra_count; ++i) {
        s->extras[i].gpu.device = snapshot_device_of(s, s->extras[i].gpu.device);
    }
}

static int choosing_start(struct choosing *g) {
    struct snapshot *s = g->s;
    size_t most = (size_t)g->choice->count + 1;
    g->found = scratch_array(&s->memory, most, sizeof *g->found);
    s->nodes = scratch_array(&s->memory, most, sizeof *s->nodes);
    s->extras = scratch_array(&s->memory, most, sizeof *s->extras);
    s->sites = scratch_array(&s->memory, most, sizeof *s->sites);
    hash_map_start(&g->roots, &s->memory, 0);
    hash_map_start(&g->sites, &s->memory, 0);
    return scratch_failed(&s->memory) ? -1 : 0;
}

static int read_all_chosen(struct choosing *g) {
    struct snapshot *s = g->s;
    uint32_t *order = NULL;
    if (choosing_start(g)) {
        return -1;
    }
    find_chosen(g);
    if (read_chosen_threads(g) || snapshot_read_devices(s, g->h)) {
        return -1;
    }
    if (g->nested) {
        hash_map_start(&g->index_of, &s->memory, g->count);
    }
    if (s->thread_count > 1 || g->nested) {
        order = order_by(&s->memory, g->count, is_chosen_first, g);
    }
    s->set_count = g->choice->set + 1;
    s->node_count = 1;
    s->nodes[0].parent = s->nodes[0].sender = SNAPSHOT_NONE;
    s->nodes[0].extra = &snapshot_no_extra;
    s->nodes[0].measures = &snapshot_no_measures;
    for (uint32_t i = 0; i < g->count && !scratch_failed(&s->memory); ++i) {
        read_chosen(g, &g->found[order ? order[i] : i]);
    }
    link_chosen(g);
    snapshot_sum_children(s);
    return scratch_failed(&s->memory) ? -1 : 0;
}

int snapshot_read_chosen(struct snapshot *s, const char *base, uint64_t size, uint64_t start_ns,
                         const struct clock_stamp *now, const struct snapshot_choice *choice) {
    struct choosing g = {.s = s, .choice = choice};
    if (snapshot_read_head(s, base, size, start_ns, now)) {
        return -1;
    }
    g.h = (const struct arena_header *)(const void *)base;
    s->memory = *choice->memory;
    s->histograms = choice->histograms;
    s->one_row = 1;
    *choice->memory = (struct scratch){0};
    s->patience = SNAPSHOT_PATIENCE;
    if (read_all_chosen(&g)) {
        scratch_free(&s->memory);
        return -1;
    }
    return 0;
}
