/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <string.h>

#include "config.h"
#include "scratch.h"

#define PIECE_BYTES 4096 /* nodes are cut from pieces, to keep one thread's together */

static struct stint_impl_edge *slot_of(const struct thread_block *b, uint64_t key, uint32_t node,
                                       uint32_t site) {
    uint32_t at = stint_impl_edge_slot(node, site, b->hot.edge_mask);
    while (b->hot.edges[at].key && b->hot.edges[at].key != key) {
        at = (at + 1) & b->hot.edge_mask;
    }
    return &b->hot.edges[at];
}

static uint32_t edge_find(const struct thread_block *b, uint32_t node, uint32_t set,
                          uint32_t site) {
    return slot_of(b, stint_impl_edge_key(node, set, site), node, site)->node;
}

/* At most a quarter full: nearly every look-up hits in its first slot, the only one tried inline.
 */
static int edges_grow(struct thread_block *b) {
    size_t old = (size_t)b->hot.edge_mask + 1;
    size_t bytes = old * 2 * sizeof(struct stint_impl_edge);
    struct stint_impl_edge *from = b->hot.edges;
    struct stint_impl_edge *to = pages_get(bytes);
    if (!to) {
        return -1;
    }
    b->hot.edges = to;
    b->hot.edge_mask = (uint32_t)(old * 2 - 1);
    for (size_t i = 0; i < old; ++i) {
        if (from[i].key) {
            uint32_t node = (uint32_t)(from[i].key >> (STINT_IMPL_SET_BITS + STINT_IMPL_SITE_BITS));
            *slot_of(b, from[i].key, node, (uint32_t)from[i].key & STINT_IMPL_SITE_ID) = from[i];
        }
    }
    if (b->edge_bytes) {
        pages_put(from, b->edge_bytes);
    }
    b->edge_bytes = bytes;
    return 0;
}

static int edge_put(struct thread_block *b, uint32_t from, uint32_t set, uint32_t site,
                    uint32_t to) {
    if (b->edge_count * 4 >= b->hot.edge_mask && edges_grow(b) &&
        b->edge_count + 1 >= b->hot.edge_mask) {
        return -1;
    }
    uint64_t key = stint_impl_edge_key(from, set, site);
    struct stint_impl_edge *e = slot_of(b, key, from, site);
    e->key = key;
    e->node = to;
    ++b->edge_count;
    return 0;
}

static uint32_t histogram_get(struct thread_block *b, uint32_t set, uint32_t site) {
    uint32_t root = b->record->root;
    uint32_t unit = config.percentiles ? edge_find(b, root, set, site | TREE_HISTOGRAM) : 0;
    if (!unit && config.percentiles) {
        unit = arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM);
        if (!unit || edge_put(b, root, set, site | TREE_HISTOGRAM, unit)) {
            thread_lose(b, STINT_STATUS_NO_HISTOGRAM);
            unit = 0;
        }
    }
    return unit;
}

static uint32_t node_cut(struct thread_block *b) {
    uint32_t units = sizeof(struct stint_impl_node) / STINT_IMPL_UNIT;
    if (b->node_end - b->node_next < units) {
        size_t piece = PIECE_BYTES;
        uint32_t unit = arena_get(piece, ARENA_RECORD);
        if (!unit) {
            piece = sizeof(struct stint_impl_node);
            unit = arena_get(piece, ARENA_RECORD);
        }
        if (!unit) {
            return 0;
        }
        b->node_next = unit;
        b->node_end = unit + (uint32_t)(piece / STINT_IMPL_UNIT);
    }
    uint32_t unit = b->node_next;
    b->node_next += units;
    return unit;
}

static uint32_t node_new(struct thread_block *b, uint32_t parent, uint32_t set, uint32_t site,
                         enum stint_impl_kind kind) {
    uint32_t key = kind == STINT_IMPL_INTERVAL_NODE ? site | TREE_INTERVAL : site;
    uint32_t unit = node_cut(b);
    if (!unit || edge_put(b, parent, set, key, unit)) {
        thread_lose(b, STINT_STATUS_NO_NODE);
        return 0;
    }
    struct stint_impl_node *n = tree_node(b, unit);
    struct stint_impl_node *p = tree_node(b, parent);
    n->min = UINT64_MAX;
    n->site = site;
    n->parent = parent;
    n->set = set;
    n->kind = kind;
    n->histogram = histogram_get(b, set, site);
    n->sibling = p->child;
    STINT_IMPL_PUBLISH(&p->child, unit);
    return unit;
}

/* The open ancestor that the same site and set already stand for, or 0. */
static uint32_t ancestor_find(const struct thread_block *b, uint32_t from, uint32_t set,
                              uint32_t site) {
    for (uint32_t unit = from; unit != b->record->root; unit = tree_node(b, unit)->parent) {
        const struct stint_impl_node *n = tree_node(b, unit);
        if (n->site == site && n->set == set) {
            return unit;
        }
    }
    return 0;
}

struct tree_edge tree_find(const struct thread_block *b, uint32_t parent, uint32_t set,
                           uint32_t site) {
    struct tree_edge e = {edge_find(b, parent, set, site), 0};
    if (!e.node) {
        e.node = edge_find(b, parent, set, site | TREE_RECURSIVE);
        e.recursive = e.node != 0;
    }
    return e;
}

struct tree_edge tree_get(struct thread_block *b, uint32_t parent, uint32_t set, uint32_t site) {
    struct tree_edge e = tree_find(b, parent, set, site);
    if (e.node) {
        return e;
    }
    e.node = ancestor_find(b, parent, set, site);
    e.recursive = e.node != 0;
    if (e.recursive) {
        edge_put(b, parent, set, site | TREE_RECURSIVE, e.node);
    } else {
        e.node = node_new(b, parent, set, site, STINT_IMPL_SCOPE_NODE);
    }
    return e;
}

uint32_t tree_get_interval(struct thread_block *b, uint32_t set, uint32_t site) {
    uint32_t root = b->record->root;
    uint32_t unit = edge_find(b, root, set, site | TREE_INTERVAL);
    return unit ? unit : node_new(b, root, set, site, STINT_IMPL_INTERVAL_NODE);
}

static void info_keep(struct stint_impl_node *n, const char *info) {
    size_t length = info ? strnlen(info, STINT_IMPL_INFO - 1) : 0;
    while (length == STINT_IMPL_INFO - 1 && (info[length] & 0xc0) == 0x80) {
        while (length && (info[--length] & 0xc0) == 0x80) {
        }
        break; /* cut at a whole UTF-8 character */
    }
    for (size_t i = 0; i < STINT_IMPL_INFO; ++i) {
        __atomic_store_n(&n->info[i], i < length ? info[i] : '\0', __ATOMIC_RELEASE);
    }
}

void tree_sample(struct thread_block *b, struct stint_impl_node *n, uint64_t start, uint64_t ticks,
                 const char *info) {
    uint64_t seq = STINT_IMPL_LOAD(&n->seq);
    STINT_IMPL_STORE(&n->seq, seq + 1);
    STINT_IMPL_PUBLISH(&n->total, n->total + ticks);
    if (ticks < n->min) {
        STINT_IMPL_PUBLISH(&n->min, ticks);
    }
    if (seq == 0) {
        STINT_IMPL_PUBLISH(&n->first, ticks);
        STINT_IMPL_PUBLISH(&n->first_at, start);
    }
    if (ticks >= n->limit) {
        STINT_IMPL_PUBLISH(&n->limit, ticks + 1);
        STINT_IMPL_PUBLISH(&n->max_at, start);
        info_keep(n, info);
    }
    if (n->histogram) {
        struct stint_impl_histogram *h =
            (struct stint_impl_histogram *)(void *)tree_node(b, n->histogram);
        uint32_t *bucket = h->bucket + stint_impl_bucket(ticks);
        uint32_t have = STINT_IMPL_LOAD(bucket);
        STINT_IMPL_STORE(bucket, have + (have != UINT32_MAX));
    }
    STINT_IMPL_PUBLISH(&n->seq, seq + 2);
}
