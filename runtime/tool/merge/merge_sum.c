/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds runs up instead of copying their threads: one call tree for all of them, or one per rank. A
 * node of a run is added to the node of the same place, name, set and kind. All times are
 * nanoseconds and all histograms on the grid of nanoseconds, so each run is rounded once, by
 * itself: sums, extremes and buckets then depend neither on the order of the runs nor on which of
 * them were merged before. Sums that do not fit into 64 bits stay at the largest number. As in a
 * recorded file, a node keeps its samples itself as long as they are few, and gets a histogram when
 * there are more; that depends on all samples together, so not on their order. merge.c calls.
 */
#include <stdio.h>
#include <string.h>

#include "arena/measures.h"
#include "base/arithmetic.h"
#include "base/histogram.h"
#include "merge.h"

#define PASSES_MOST 64u /* of senders that come after what they sent */

int merge_sum_start(struct merge_sum *sum) {
    memset(sum, 0, sizeof *sum);
    if (hash_map_start(&sum->nodes, &sum->memory, 0) ||
        hash_map_start(&sum->activities, &sum->memory, 0)) {
        return -1;
    }
    return hash_map_start(&sum->lines, &sum->memory, 0);
}

void merge_sum_end(struct merge_sum *sum) {
    scratch_free(&sum->memory);
}

/* ---- Threads: one per tree. */

static uint32_t add_tree(struct merge *m, const char *name) {
    struct arena_header *h = merge_file_header(&m->file);
    uint32_t unit = merge_file_get(&m->file, sizeof(struct arena_thread));
    uint32_t root = merge_file_get(&m->file, sizeof(struct stint_impl_node));
    if (!unit || !root) {
        return 0;
    }
    struct arena_thread *t = merge_file_at(&m->file, unit);
    struct stint_impl_node *node = merge_file_at(&m->file, root);
    node->min = UINT64_MAX;
    t->ordinal = h->thread_count++;
    t->root = root;
    snprintf(t->name, sizeof t->name, "%.*s", (int)sizeof t->name - 1, name);
    t->next = h->first_thread;
    h->first_thread = unit;
    return unit;
}

/* The tree that a run's thread is added to; 0 without memory. The threads of a run that was merged
 * are ranks or more than that. */
static uint32_t find_tree(struct merge *m, const struct merge_map *map, uint32_t thread) {
    const struct snapshot *s = &map->run->snapshot;
    char name[RANKS_LABEL];
    if (m->keep == MERGE_KEEP_NAMES) {
        if (!m->sum.tree) {
            m->sum.tree = add_tree(m, "all");
        }
        return m->sum.tree;
    }
    if (!map->from->pid) {
        return add_tree(m, s->threads[thread].name);
    }
    if (thread) {
        return hash_map_get(&map->thread, s->threads[0].unit);
    }
    if (map->run->rank) {
        snprintf(name, sizeof name, "rank %u", map->run->rank - 1);
    } else {
        snprintf(name, sizeof name, "pid %u", map->from->pid);
    }
    return add_tree(m, name);
}

static void sum_thread(const struct merge_map *map, struct arena_thread *to,
                       const struct snapshot_thread *t, const struct arena_thread *from) {
    uint64_t start = merge_tick_or_none(map, from->start_ticks);
    uint64_t end = merge_tick_or_none(map, from->end_ticks);
    if (t->alive) { /* open scopes are not kept: when it was last seen */
        end = u64_max(end, merge_tick_or_none(map, u64_min(t->last_begin, INT64_MAX / 4)));
    }
    if (start && (!to->start_ticks || start < to->start_ticks)) {
        to->start_ticks = start;
    }
    to->end_ticks = u64_max(to->end_ticks, end);
    to->uses = (uint32_t)u64_min((uint64_t)to->uses + t->uses, UINT32_MAX);
    for (uint32_t k = 0; k < ARENA_LOSSES; ++k) {
        to->lost[k] = saturating_add(to->lost[k], from->lost[k]);
    }
}

static int sum_threads(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint32_t traced = map->from->first_lane != 0;
    if (hash_map_start(&map->thread, &m->memory, s->thread_count)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->thread_count; ++i) {
        const struct snapshot_thread *t = &s->threads[i];
        const struct arena_thread *from = snapshot_at(s, t->unit, sizeof *from);
        uint32_t tree = find_tree(m, map, i);
        if (!from || !tree) {
            return -1;
        }
        hash_map_set(&map->thread, t->unit, tree);
        sum_thread(map, merge_file_at(&m->file, tree), t, from);
        traced |= t->ring != 0;
    }
    m->sum.traces += traced;
    return 0;
}

/* ---- Nodes. */

static uint32_t sender_of(const struct stint_impl_node *n) {
    const struct stint_impl_sent *sent = (const struct stint_impl_sent *)(const void *)(n + 1);
    if (!(n->kind & STINT_IMPL_SENT)) {
        return 0;
    }
    return sent->sender;
}

/* The numbers that tell nodes apart. */
struct node_key {
    uint32_t parent, site, sender;
    uint16_t set, kind;
};

static int is_node(const struct stint_impl_node *n, const struct node_key *key) {
    return n->parent == key->parent && n->site == key->site && n->set == key->set &&
           n->kind == key->kind && sender_of(n) == key->sender;
}

static uint32_t add_new_node(struct merge *m, const struct node_key *key) {
    size_t bytes = sizeof(struct stint_impl_node);
    if (key->sender) {
        bytes += sizeof(struct stint_impl_sent);
    }
    uint32_t unit = merge_file_get(&m->file, bytes);
    if (!unit) {
        return 0;
    }
    struct stint_impl_node *n = merge_file_at(&m->file, unit);
    struct stint_impl_node *parent = merge_file_at(&m->file, key->parent);
    n->min = UINT64_MAX;
    n->site = key->site;
    n->set = key->set;
    n->kind = key->kind;
    n->parent = key->parent;
    n->sibling = parent->child;
    parent->child = unit;
    if (key->sender) {
        ((struct stint_impl_sent *)(void *)(n + 1))->sender = key->sender;
    }
    return unit;
}

/* The merged node of that key; 0 without memory. */
static uint32_t find_or_add_node(struct merge *m, const struct node_key *key) {
    uint64_t h = hash_number((uint64_t)key->parent << 32 | key->site);
    h = hash_add(h, (uint64_t)key->sender << 32 | (uint32_t)key->set << 16 | key->kind);
    struct hash_map_walk walk;
    uint32_t unit = hash_map_first(&m->sum.nodes, (uint32_t)h, &walk);
    while (unit != HASH_MAP_NONE && !is_node(merge_file_at(&m->file, unit), key)) {
        unit = hash_map_next(&m->sum.nodes, &walk);
    }
    if (unit != HASH_MAP_NONE) {
        return unit;
    }
    unit = add_new_node(m, key);
    if (!unit || hash_map_add(&m->sum.nodes, (uint32_t)h, unit)) {
        return 0;
    }
    return unit;
}

/* ---- Histograms. */

/* *to: the merged histogram, 0 = none yet. NULL without memory. */
static struct stint_impl_histogram *merged_histogram(struct merge *m, uint32_t *to) {
    if (!*to) {
        *to = merge_file_get(&m->file, sizeof(struct stint_impl_histogram));
    }
    if (!*to) {
        return NULL;
    }
    return merge_file_at(&m->file, *to);
}

void merge_sum_buckets(struct merge_sum *sum, struct stint_impl_histogram *to,
                       const struct stint_impl_histogram *from, double ns) {
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        sum->counts.bucket[i] = from->bucket[i];
    }
    sum->counts.open = from->open;
    sum->counts.in_ns = ns == 1; /* on the grid already */
    histogram_to_ns(&sum->grid, &sum->counts, ns);
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        to->bucket[i] = (uint32_t)u64_min(to->bucket[i] + sum->grid.bucket[i], UINT32_MAX);
    }
    to->open = histogram_open_lower(to->open, sum->grid.open);
}

/* Adds a histogram of the run, which several of its nodes may share, to that of the first of
 * them. */
static int sum_shared_histogram(struct merge *m, struct merge_map *map, uint32_t thread,
                                uint32_t unit, double ns, uint32_t *to) {
    struct stint_impl_histogram *from = &m->sum.read;
    if (!unit || hash_map_get(&map->histogram, unit) != HASH_MAP_NONE ||
        merge_read_buckets(map, thread, unit, from)) {
        return 0;
    }
    struct stint_impl_histogram *histogram = merged_histogram(m, to);
    if (!histogram || hash_map_add(&map->histogram, unit, *to)) {
        return -1;
    }
    merge_sum_buckets(&m->sum, histogram, from, ns);
    return 0;
}

/* ---- Samples that a node keeps itself. */

static void read_merged_kept(struct merge_kept *out, const struct stint_impl_node *n) {
    out->count = 0;
    while (out->count < STINT_IMPL_RAW && n->raw[out->count]) {
        out->ticks[out->count] = n->raw[out->count] - 1;
        ++out->count;
    }
}

/* Whether the merged node can keep the samples of the run's node beside those that it has. Both
 * have to be all samples of their nodes: a reader takes samples without a histogram for all. */
static int all_can_be_kept(const struct stint_impl_node *to, const struct merge_kept *have,
                           const struct snapshot_node *n, const struct merge_kept *more) {
    if (to->histogram || have->count < to->seq / 2 || more->count < n->count) {
        return 0;
    }
    return more->fit && have->count + more->count <= STINT_IMPL_RAW;
}

/* Before the calls of the run's node are added to the merged one. */
static int sum_kept(struct merge *m, const struct merge_map *map, struct stint_impl_node *to,
                    const struct snapshot_node *n) {
    struct merge_kept have, more;
    read_merged_kept(&have, to);
    merge_kept_read(&more, map, n);
    if (all_can_be_kept(to, &have, n, &more)) {
        merge_kept_store(m, to, have.count, &more);
        return 0;
    }
    if (!have.count && !more.count) {
        return 0;
    }
    if (!merged_histogram(m, &to->histogram)) {
        return -1;
    }
    memset(to->raw, 0, sizeof to->raw);
    merge_kept_store(m, to, 0, &have);
    merge_kept_store(m, to, 0, &more);
    return 0;
}

/* ---- The numbers of a node. */

static void sum_extremes(const struct merge_map *map, struct stint_impl_node *to,
                         const struct snapshot_node *n) {
    uint64_t max = merge_time(map, n, n->max);
    const char *info = n->extra->info;
    if (!n->count) {
        return;
    }
    to->min = u64_min(to->min, merge_time(map, n, n->min));
    if (max > to->max || (max == to->max && strncmp(info, to->info, sizeof to->info) > 0)) {
        to->max_at = merge_tick_or_none(map, n->max_at);
        to->max = max;
        memcpy(to->info, info, sizeof to->info);
    }
    uint64_t first = merge_time(map, n, n->first), at = merge_tick_or_none(map, n->first_at);
    int is_first = at < to->first_at || (at == to->first_at && first < to->first);
    if (at && (!to->first_at || is_first)) {
        to->first_at = at;
        to->first = first;
    }
}

static void sum_times(const struct merge_map *map, struct stint_impl_node *to,
                      const struct snapshot_node *n) {
    sum_extremes(map, to, n);
    to->seq += 2 * n->count;
    to->total = saturating_add(to->total, merge_time(map, n, n->total));
    to->nested = saturating_add(to->nested, merge_time(map, n, n->nested));
    to->recursions = saturating_add(to->recursions, n->recursions);
    to->bytes = saturating_add(to->bytes, n->measures->bytes);
    to->flops = saturating_add(to->flops, n->measures->flops);
}

/* The block of a group in the list that begins at *first. NULL without memory. */
static struct arena_measures *find_block(struct merge *m, uint32_t *first, uint32_t group) {
    struct measure_range range = measure_range_of(group);
    struct arena_measures *block;
    for (uint32_t unit = *first; unit; unit = block->next) {
        block = merge_file_at(&m->file, unit);
        if (block->range.first == range.first) {
            return block;
        }
    }
    uint32_t unit = merge_file_get(&m->file, sizeof *block + range.count * sizeof(uint64_t));
    if (!unit) {
        return NULL;
    }
    block = merge_file_at(&m->file, unit);
    block->range = range;
    block->next = *first;
    *first = unit;
    return block;
}

static int sum_measures(struct merge *m, const struct merge_map *map, struct stint_impl_node *to,
                        const struct measures *from) {
    for (uint32_t group = 0; group < MEASURE_GROUP_COUNT; ++group) {
        struct measure_list list = measure_list_of(group);
        if (!(from->groups & 1u << group) || list.place != MEASURES_IN_BLOCK) {
            continue;
        }
        struct arena_measures *block = find_block(m, &to->measures, group);
        if (!block) {
            return -1;
        }
        for (uint32_t i = 0; i < list.count; ++i) {
            uint32_t which = list.number[i];
            uint64_t value = merge_measure(map, which, from->measure[which]);
            block->value[i] = measure_sum(which, block->value[i], value);
        }
    }
    return 0;
}

int merge_untimed_add(struct merge *m, uint32_t *unit, uint64_t untimed) {
    struct arena_partial *to;
    if (!*unit) {
        *unit = merge_file_get(&m->file, sizeof *to);
    }
    if (!*unit) {
        return -1;
    }
    to = merge_file_at(&m->file, *unit);
    to->untimed = saturating_add(to->untimed, untimed);
    return 0;
}

static int sum_gpu(struct merge *m, struct merge_map *map, struct stint_impl_node *to,
                   const struct snapshot_node *n) {
    const struct measures *from = n->measures;
    if (!from->gpu_calls) {
        return 0;
    }
    int is_new = !to->gpu;
    if (is_new) {
        to->gpu = merge_file_get(&m->file, sizeof(struct arena_gpu));
    }
    if (!to->gpu) {
        return -1;
    }
    struct arena_gpu *gpu = merge_file_at(&m->file, to->gpu);
    if (is_new) {
        gpu->min = UINT64_MAX;
    }
    gpu->seq += 2 * from->gpu_calls;
    gpu->total = saturating_add(gpu->total, from->gpu_total_ns);
    gpu->min = u64_min(gpu->min, from->gpu_min_ns);
    gpu->max = u64_max(gpu->max, from->gpu_max_ns);
    gpu->device = merge_device_at(map, n->extra->gpu.device);
    return sum_shared_histogram(m, map, SNAPSHOT_NONE, n->extra->gpu.histogram, 1, &gpu->histogram);
}

static int sum_histograms(struct merge *m, struct merge_map *map, struct stint_impl_node *to,
                          const struct snapshot_node *n) {
    double ns = n->in_ns ? 1 : map->run->snapshot.ns_per_tick;
    if (sum_shared_histogram(m, map, n->thread, n->histogram, ns, &to->histogram)) {
        return -1;
    }
    return sum_kept(m, map, to, n);
}

static int sum_node(struct merge *m, struct merge_map *map, uint32_t index) {
    const struct snapshot_node *n = &map->run->snapshot.nodes[index];
    struct stint_impl_node *to = merge_file_at(&m->file, map->node[index]);
    if (sum_histograms(m, map, to, n) || sum_measures(m, map, to, n->measures)) {
        return -1;
    }
    sum_times(map, to, n);
    if (to->kind & ARENA_PARTIAL) {
        return merge_untimed_add(m, &to->gpu, n->extra->untimed);
    }
    return sum_gpu(m, map, to, n);
}

/* ---- All nodes of a run. */

static uint32_t root_of(struct merge *m, const struct merge_map *map, uint32_t thread) {
    uint32_t tree = hash_map_get(&map->thread, map->run->snapshot.threads[thread].unit);
    return ((const struct arena_thread *)merge_file_at(&m->file, tree))->root;
}

/* Maps a node whose parent and sender are mapped. 0; 1: they are not; -1 without memory. */
static int map_node(struct merge *m, struct merge_map *map, uint32_t index, int senders) {
    const struct snapshot *s = &map->run->snapshot;
    const struct snapshot_node *n = &s->nodes[index];
    const struct stint_impl_node *from = snapshot_at(s, n->unit, sizeof *from);
    if (n->parent == SNAPSHOT_NONE) {
        map->node[index] = root_of(m, map, n->thread);
        return sum_node(m, map, index);
    }
    struct node_key key = {.parent = map->node[n->parent], .site = map->site[n->site]};
    key.set = (uint16_t)map->set[n->set];
    key.kind = merge_kind(n);
    if (from) {
        key.kind = (uint16_t)(key.kind | (from->kind & ARENA_PARTIAL));
    }
    if (n->sender != SNAPSHOT_NONE && senders) {
        key.sender = map->node[n->sender];
        key.kind |= STINT_IMPL_SENT;
    }
    if (!key.parent || (key.kind & STINT_IMPL_SENT && !key.sender)) {
        return 1;
    }
    map->node[index] = find_or_add_node(m, &key);
    if (!map->node[index]) {
        return -1;
    }
    return sum_node(m, map, index);
}

/* Maps the nodes that can be. The number of those that are left; -1 without memory. */
static int64_t map_pass(struct merge *m, struct merge_map *map, int senders) {
    int64_t left = 0;
    for (uint32_t i = 0; i < map->run->snapshot.node_count; ++i) {
        int result = 0;
        if (!map->node[i]) {
            result = map_node(m, map, i, senders);
        }
        if (result < 0) {
            return -1;
        }
        left += result;
    }
    return left;
}

/* Senders of other threads may come later: then the nodes are read again. In a damaged file nodes
 * may need each other; these lose their senders. */
static int map_all_nodes(struct merge *m, struct merge_map *map) {
    int64_t left = map_pass(m, map, 1), before = INT64_MAX;
    for (uint32_t pass = 1; left > 0 && left < before && pass < PASSES_MOST; ++pass) {
        before = left;
        left = map_pass(m, map, 1);
    }
    if (left > 0) {
        left = map_pass(m, map, 0);
    }
    return left ? -1 : 0;
}

int merge_sum_run(struct merge *m, struct merge_map *map) {
    const struct snapshot *s = &map->run->snapshot;
    uint64_t histograms = 2 * (uint64_t)s->node_count + s->activity_count;
    map->node = scratch_array(&m->memory, (size_t)s->node_count + 1, sizeof *map->node);
    if (!map->node || hash_map_start(&map->histogram, &m->memory, histograms) ||
        sum_threads(m, map)) {
        return -1;
    }
    return map_all_nodes(m, map);
}
