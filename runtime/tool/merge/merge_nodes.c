/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nodes of a run in the merged file: each is added to the node of the same place, name, set,
 * kind and sender. Where threads are kept there is none: it is added to a new one, and is a copy.
 * A node whose sums would not fit into 64 bits is left as it is, and another one of the same key is
 * made, so that sums, extremes and buckets of all of these depend neither on the order of the runs
 * nor on which of them were merged before. The root of a thread is one node: its sums stay at the
 * largest number. The snapshot is checked when it is read; parts of it that are read here besides
 * are checked here. merge.c calls.
 */
#include <string.h>

#include "arena/measures.h"
#include "base/arithmetic.h"
#include "merge.h"

#define PASSES_MOST 64u /* of senders that come after what they sent */

/* ---- Merged nodes. */

/* The numbers of a node of a run, in the merged clock. */
struct node_more {
    uint64_t number[SCOPE_NUMBERS];
    struct measures measures;
    uint64_t untimed;
};

/* The numbers that tell nodes apart, and those to be added. */
struct node_key {
    uint32_t parent, site, sender;
    uint16_t set, kind;
    const struct node_more *more;
};

/* The sender's unit follows a node of the kind STINT_IMPL_SENT. */
static struct stint_impl_sent *sent_of(struct stint_impl_node *n) {
    return (struct stint_impl_sent *)(void *)(n + 1);
}

/* The values of a group in the list of blocks that begins at a unit, or NULL. */
static void *find_block(struct merge *m, uint32_t first, uint32_t group) {
    struct measure_range range = measure_range_of(group);
    for (uint32_t unit = first; unit;) {
        struct arena_measures *block = merge_file_at(&m->file, unit);
        if (block->range.first == range.first) {
            return block->value;
        }
        unit = block->next;
    }
    return NULL;
}

/* The values of a group of a merged node, or NULL. */
static void *find_group(struct merge *m, struct stint_impl_node *n, uint32_t group) {
    switch (measure_list_of(group).place) {
    case MEASURES_IN_BLOCK:
        return find_block(m, n->measures, group);
    case MEASURES_IN_GPU:
        return n->gpu && !(n->kind & ARENA_PARTIAL) ? merge_file_at(&m->file, n->gpu) : NULL;
    default:
        return n;
    }
}

static int measures_have_room(struct merge *m, struct stint_impl_node *n,
                              const struct measures *more) {
    for (uint32_t group = 0; group < MEASURE_GROUP_COUNT; ++group) {
        struct measures have = {.groups = 0};
        const void *at = NULL;
        if (measures_have(more, group)) {
            at = find_group(m, n, group);
        }
        if (!at) {
            continue;
        }
        measures_load(&have, group, at, measure_list_of(group).count);
        if (!measures_group_fits(&have, group, more)) {
            return 0;
        }
    }
    return 1;
}

static int node_has_room(struct merge *m, struct stint_impl_node *n, const struct node_more *more) {
    const struct arena_partial *partial = NULL;
    if (n->gpu && n->kind & ARENA_PARTIAL) {
        partial = merge_file_at(&m->file, n->gpu);
    }
    if (partial && more->untimed > UINT64_MAX - partial->untimed) {
        return 0;
    }
    return merge_record_fits(&record_scope, n, more->number) &&
           (!more->measures.groups || measures_have_room(m, n, &more->measures));
}

static int is_node(struct merge *m, uint32_t unit, const void *wanted) {
    const struct node_key *key = wanted;
    struct stint_impl_node *n = merge_file_at(&m->file, unit);
    return n->parent == key->parent && n->site == key->site && n->set == key->set &&
           n->kind == key->kind &&
           (!(n->kind & STINT_IMPL_SENT) || sent_of(n)->sender == key->sender) &&
           node_has_room(m, n, key->more);
}

static uint32_t make_node(struct merge *m, const void *wanted) {
    const struct node_key *key = wanted;
    size_t bytes = sizeof(struct stint_impl_node);
    if (key->kind & STINT_IMPL_SENT) {
        bytes += sizeof(struct stint_impl_sent);
    }
    uint32_t unit = merge_file_get(&m->file, bytes);
    if (!unit) {
        return 0;
    }
    struct stint_impl_node *n = merge_file_at(&m->file, unit);
    struct stint_impl_node *parent = merge_file_at(&m->file, key->parent);
    merge_record_clear(&record_scope, n);
    n->site = key->site;
    n->set = key->set;
    n->kind = key->kind;
    n->parent = key->parent;
    n->sibling = parent->child;
    parent->child = unit;
    if (key->kind & STINT_IMPL_SENT) {
        sent_of(n)->sender = key->sender;
    }
    return unit;
}

/* ---- The numbers that only some nodes have. */

/* Adds a block to the list that begins at *first. Its values; NULL without memory. */
static void *add_block(struct merge *m, uint32_t *first, uint32_t group) {
    struct measure_range range = measure_range_of(group);
    uint32_t unit = 0;
    struct arena_measures *block =
        merge_file_need(&m->file, &unit, sizeof *block + range.count * sizeof(uint64_t));
    if (!block) {
        return NULL;
    }
    block->range = range;
    block->next = *first;
    *first = unit;
    return block->value;
}

/* at: the place of the group, which may be new. */
static void add_group(void *at, uint32_t group, const struct measures *more) {
    struct measures sum = {.groups = 0};
    measures_load(&sum, group, at, measure_list_of(group).count);
    measures_group_add(&sum, group, more);
    measures_store(&sum, group, at);
}

int merge_measures_add(struct merge *m, struct stint_impl_node *to, const struct measures *more) {
    for (uint32_t group = 0; group < MEASURE_GROUP_COUNT; ++group) {
        if (!measures_have(more, group) || measure_list_of(group).place == MEASURES_IN_GPU) {
            continue;
        }
        void *at = find_group(m, to, group);
        if (!at) {
            at = add_block(m, &to->measures, group);
        }
        if (!at) {
            return -1;
        }
        add_group(at, group, more);
    }
    return 0;
}

/* The field has two uses: times on a GPU with the device of the last run and their histogram, or,
 * in a node of before, calls that were not timed. */
static int add_gpu_or_untimed(struct merge *m, struct merge_map *map, struct stint_impl_node *to,
                              const struct snapshot_node *n, const struct node_more *more) {
    if (to->kind & ARENA_PARTIAL) {
        struct arena_partial *partial = merge_file_need(&m->file, &to->gpu, sizeof *partial);
        if (partial) {
            partial->untimed = saturating_add(partial->untimed, more->untimed);
        }
        return partial ? 0 : -1;
    }
    if (!measures_have(n->measures, MEASURE_GROUP_GPU)) {
        return 0;
    }
    struct arena_gpu *gpu = merge_file_need(&m->file, &to->gpu, sizeof *gpu);
    if (!gpu) {
        return -1;
    }
    add_group(gpu, MEASURE_GROUP_GPU, &more->measures);
    gpu->device = merge_device_at(map, n->extra->gpu.device);
    struct merge_samples times = {SNAPSHOT_NONE, n->extra->gpu.histogram, 0, 1};
    return merge_histogram_add(m, map, &gpu->histogram, &times);
}

/* ---- One node. */

static void node_read(struct node_more *out, const struct merge_map *map,
                      const struct snapshot_node *n) {
    memcpy(out->number, n->number, sizeof out->number);
    merge_numbers(map, &record_scope, out->number, n->in_ns);
    out->untimed = n->extra->untimed;
    out->measures.groups = 0;
    if (n->measures->groups) {
        out->measures = *n->measures;
        merge_numbers(map, &record_measures, out->measures.measure, 0);
    }
}

static void add_numbers(struct merge *m, struct stint_impl_node *to, const struct snapshot_node *n,
                        const struct node_more *more) {
    uint64_t number[SCOPE_NUMBERS];
    memcpy(number, more->number, sizeof number);
    merge_extremes_add(to, number, n->extra->info);
    if (m->keep == MERGE_KEEP_THREADS) {
        numbers_store(&record_scope, number, to);
    } else {
        merge_record_add(&record_scope, to, number);
    }
}

static int add_node(struct merge *m, struct merge_map *map, uint32_t index,
                    const struct node_more *more) {
    const struct snapshot_node *n = &map->run->snapshot.nodes[index];
    struct stint_impl_node *to = merge_file_at(&m->file, map->node[index]);
    struct merge_samples samples = {n->thread, n->histogram, 0, n->in_ns ? 1 : map->rate};
    if (merge_histogram_add(m, map, &to->histogram, &samples) || merge_kept_add(m, map, to, n) ||
        (more->measures.groups && merge_measures_add(m, to, &more->measures))) {
        return -1;
    }
    add_numbers(m, to, n, more);
    return add_gpu_or_untimed(m, map, to, n, more);
}

/* ---- All nodes of a run. */

static uint32_t root_of(struct merge *m, const struct merge_map *map, uint32_t thread) {
    uint32_t tree = hash_map_get(&map->thread, map->run->snapshot.threads[thread].unit);
    return ((const struct arena_thread *)merge_file_at(&m->file, tree))->root;
}

/* The kind of a node in a file. */
static uint16_t file_kind(const struct snapshot *s, const struct snapshot_node *n) {
    const struct stint_impl_node *from = snapshot_at(s, n->unit, sizeof *from);
    uint16_t kind = n->in_ns ? STINT_IMPL_NS_NODE : n->kind;
    return (uint16_t)(kind | (from ? from->kind & ARENA_PARTIAL : 0));
}

/* Finds or makes the node of one whose parent is mapped, and its sender too unless it is a copy. 0;
 * 1: they are not; -1 without memory. */
static int map_node(struct merge *m, struct merge_map *map, uint32_t index, int senders) {
    const struct snapshot_node *n = &map->run->snapshot.nodes[index];
    struct node_more more;
    node_read(&more, map, n);
    if (n->parent == SNAPSHOT_NONE) {
        map->node[index] = root_of(m, map, n->thread);
        return add_node(m, map, index, &more);
    }
    struct node_key key = {.more = &more,
                           .parent = map->node[n->parent],
                           .site = map->site[n->site], /* 0 = none in both */
                           .set = (uint16_t)map->set[n->set],
                           .kind = file_kind(&map->run->snapshot, n)};
    if (n->sender != SNAPSHOT_NONE && senders) {
        key.sender = map->node[n->sender];
        key.kind |= STINT_IMPL_SENT;
    }
    int lacks_sender = key.kind & STINT_IMPL_SENT && !key.sender;
    if (!key.parent || (lacks_sender && m->keep != MERGE_KEEP_THREADS)) {
        return 1;
    }
    uint64_t hash = hash_number((uint64_t)key.parent << 32 | key.site);
    hash = hash_add(hash, (uint64_t)key.sender << 32 | (uint32_t)key.set << 16 | key.kind);
    map->node[index] = merge_find_or_make(m, MERGE_NODES, hash, is_node, make_node, &key);
    return map->node[index] ? add_node(m, map, index, &more) : -1;
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

/* The children of a copy keep their order, which was reversed as they were made, and what was sent
 * gets its sender, which may come later. */
static void finish_copy(struct merge *m, const struct merge_map *map, uint32_t index) {
    const struct snapshot_node *n = &map->run->snapshot.nodes[index];
    struct stint_impl_node *to = merge_file_at(&m->file, map->node[index]), *child;
    uint32_t unit = to->child, next;
    for (to->child = 0; unit; unit = next) {
        child = merge_file_at(&m->file, unit);
        next = child->sibling;
        child->sibling = to->child;
        to->child = unit;
    }
    if (n->sender != SNAPSHOT_NONE) {
        sent_of(to)->sender = map->node[n->sender];
    }
}

/* Senders of other threads may come later: then the nodes are read again. In a damaged file nodes
 * may need each other; these lose their senders. */
int merge_nodes(struct merge *m, struct merge_map *map) {
    int64_t left = map_pass(m, map, 1), before = INT64_MAX;
    for (uint32_t pass = 1; left > 0 && left < before && pass < PASSES_MOST; ++pass) {
        before = left;
        left = map_pass(m, map, 1);
    }
    if (left > 0) {
        left = map_pass(m, map, 0);
    }
    if (left) {
        return -1;
    }
    for (uint32_t i = 0; m->keep == MERGE_KEEP_THREADS && i < map->run->snapshot.node_count; ++i) {
        finish_copy(m, map, i);
    }
    return 0;
}
