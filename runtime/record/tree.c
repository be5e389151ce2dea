/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a thread: finds and makes nodes, and adds samples to them. Called by the
 * recorder on the owner's thread and by its signal handlers, which may interrupt each function
 * here: a table that grows stays where it was for the interrupted code, and an entry's key is
 * written last. Readers of the run file see a node at any time, by its seq.
 */
#include "tree.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/config.h"
#include "base/hash.h"
#include "watch.h"

#define PIECE_BYTES 4096 /* nodes are cut from pieces, to keep one thread's together */

/* ---- Edges: (parent, set, site) -> node, what the inline path looks up. */

static uint64_t edge_count(const struct thread_block *b) {
    return (uint64_t)1 << (64 - b->hot.edge_shift);
}

/* Its slot, that slot's neighbour, then pair after pair. */
static struct stint_impl_edge *edge_place(struct stint_impl_edge *edges, uint32_t shift,
                                          uint64_t key) {
    uint64_t mask = ((uint64_t)1 << (64 - shift)) - 1;
    uint64_t slot = stint_impl_edge_slot(key, shift);
    for (;; slot = (slot + 2) & mask) {
        struct stint_impl_edge *pair[] = {&edges[slot], &edges[slot ^ 1]};
        for (int i = 0; i < 2; ++i) {
            if (!pair[i]->key || pair[i]->key == key) {
                return pair[i];
            }
        }
    }
}

/* At most an eighth full: hardly a key lies outside its pair, the only one tried inline. */
static int edges_grow(struct thread_block *b) {
    uint64_t old = edge_count(b);
    struct stint_impl_edge *from = b->hot.edges;
    struct stint_impl_edge *to = thread_pages_get(b, old * 2 * sizeof *to);
    if (!to) {
        return -1;
    }
    for (uint64_t i = 0; i < old; ++i) {
        if (from[i].key) {
            *edge_place(to, b->hot.edge_shift - 1, from[i].key) = from[i];
        }
    }
    /* The old one stays, half the size of the new: this may be a signal handler, and the code it
     * interrupted may be looking there. */
    b->hot.edges = to;
    --b->hot.edge_shift;
    return 0;
}

static int edge_put(struct thread_block *b, uint64_t key, uint32_t to) {
    uint64_t size = edge_count(b);
    if (b->edge_count * 8u >= size && edges_grow(b) && b->edge_count + 2 >= size) {
        return -1;
    }
    struct stint_impl_edge *e = edge_place(b->hot.edges, b->hot.edge_shift, key);
    e->node = to;
    e->key = key;
    ++b->edge_count;
    return 0;
}

/* A place that was empty when it was found may have been filled by a signal handler since, with a
 * key of its own. */
static uint32_t edge_node(const struct stint_impl_edge *e, uint64_t key) {
    if (STINT_IMPL_LOAD(&e->key) != key) {
        return 0;
    }
    return STINT_IMPL_LOAD(&e->node);
}

static uint32_t edge_find(const struct thread_block *b, uint64_t key) {
    uint32_t shift = STINT_IMPL_LOAD(&b->hot.edge_shift); /* before the table, as inline */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return edge_node(edge_place(b->hot.edges, shift, key), key);
}

/* ---- Links: what only the slow path looks up, kept apart so that it displaces no edge. */

static struct stint_impl_edge *link_place(struct stint_impl_edge *links, uint32_t mask,
                                          uint64_t key) {
    uint32_t at = (uint32_t)hash_number(key) & mask;
    while (links[at].key && links[at].key != key) {
        at = (at + 1) & mask;
    }
    return &links[at];
}

static int links_grow(struct thread_block *b) {
    uint32_t old = b->link_mask + 1;
    struct stint_impl_edge *from = b->links;
    struct stint_impl_edge *to = thread_pages_get(b, (size_t)old * 2 * sizeof *to);
    if (!to) {
        return -1;
    }
    for (uint32_t i = 0; i < old; ++i) {
        if (from[i].key) {
            *link_place(to, old * 2 - 1, from[i].key) = from[i];
        }
    }
    b->links = to;
    b->link_mask = old * 2 - 1;
    return 0; /* the old ones stay, as edges do */
}

static int link_put(struct thread_block *b, uint64_t key, uint32_t to) {
    if (b->link_count * 2 >= b->link_mask && links_grow(b) && b->link_count + 1 >= b->link_mask) {
        return -1;
    }
    struct stint_impl_edge *e = link_place(b->links, b->link_mask, key);
    e->node = to;
    e->key = key;
    ++b->link_count;
    return 0;
}

static uint32_t link_find(const struct thread_block *b, uint64_t key) {
    uint32_t mask = STINT_IMPL_LOAD(&b->link_mask);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return edge_node(link_place(b->links, mask, key), key);
}

/* ---- Nodes. */

static const struct arena_text *site_name(const struct thread_block *b, uint32_t site) {
    const struct arena_header *h = (const struct arena_header *)(const void *)b->hot.base;
    if (!site || site > __atomic_load_n(&h->site_count, __ATOMIC_ACQUIRE)) {
        return NULL;
    }
    return arena_text_in(b->hot.base, arena_site_in(b->hot.base, site)->name);
}

/* Whether a scope of the same name and set, from another place in the program, is among the node
 * and those around it. Readers find the same out from the finished tree. */
static int name_is_around(const struct thread_block *b, uint32_t from, uint32_t set,
                          uint32_t site) {
    const struct arena_text *name = site_name(b, site);
    for (uint32_t unit = from; name && unit != b->record->root; unit = tree_node(b, unit)->parent) {
        const struct stint_impl_node *n = tree_node(b, unit);
        if (n->set != set) {
            continue;
        }
        const struct arena_text *other = site_name(b, n->site);
        if (other && other->length == name->length &&
            !memcmp(other->bytes, name->bytes, name->length)) {
            return 1;
        }
    }
    return 0;
}

static uint32_t histogram_get(struct thread_block *b, uint32_t parent, uint32_t set,
                              uint32_t site) {
    uint32_t which = TREE_HISTOGRAM;
    if (!config.percentiles) {
        return 0;
    }
    if (name_is_around(b, parent, set, site)) {
        which = TREE_HISTOGRAM_INNER;
    }
    uint64_t key = stint_impl_edge_key(b->record->root, set, site | which);
    uint32_t unit = link_find(b, key);
    if (unit) {
        return unit;
    }
    unit = arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM);
    if (!unit || link_put(b, key, unit)) {
        thread_lose(b, STINT_STATUS_NO_HISTOGRAM);
        return 0;
    }
    return unit;
}

static uint32_t node_cut(struct thread_block *b, uint32_t sender) {
    size_t bytes = sizeof(struct stint_impl_node);
    if (sender) {
        bytes += sizeof(struct stint_impl_sent);
    }
    uint32_t units = (uint32_t)(bytes / STINT_IMPL_UNIT);
    if (b->node_end - b->node_next < units) {
        size_t piece = PIECE_BYTES;
        uint32_t unit = arena_get(piece, ARENA_RECORD);
        if (!unit) {
            piece = bytes;
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

/* Four numbers do not fit into a key: it is a hash, and what is found is compared (sent_find). */
static uint64_t sent_key(uint32_t parent, uint32_t set, uint32_t site, uint32_t sender) {
    return hash_add(hash_number(stint_impl_edge_key(parent, set, site)), sender) | 1;
}

static int node_link(struct thread_block *b, uint32_t parent, uint32_t set, uint32_t site,
                     enum stint_impl_kind kind, uint32_t sender, uint32_t unit) {
    if (sender) {
        return link_put(b, sent_key(parent, set, site, sender), unit);
    }
    if (kind == STINT_IMPL_INTERVAL_NODE) {
        return link_put(b, stint_impl_edge_key(parent, set, site | TREE_INTERVAL), unit);
    }
    return edge_put(b, stint_impl_edge_key(parent, set, site), unit);
}

/* Only of a node with STINT_IMPL_SENT. */
static struct stint_impl_sent *node_sent(const struct stint_impl_node *n) {
    return (struct stint_impl_sent *)(uintptr_t)(n + 1);
}

static uint32_t node_new(struct thread_block *b, uint32_t parent, uint32_t set, uint32_t site,
                         enum stint_impl_kind kind, uint32_t sender) {
    uint32_t unit = node_cut(b, sender);
    if (!unit || node_link(b, parent, set, site, kind, sender, unit)) {
        thread_lose(b, STINT_STATUS_NO_NODE);
        return 0;
    }
    struct stint_impl_node *n = tree_node(b, unit);
    struct stint_impl_node *p = tree_node(b, parent);
    n->min = UINT64_MAX;
    n->site = site;
    n->parent = parent;
    n->set = (uint16_t)set;
    n->kind = (uint16_t)kind;
    if (sender) {
        n->kind = (uint16_t)(kind | STINT_IMPL_SENT);
        node_sent(n)->sender = sender;
    }
    n->histogram = histogram_get(b, parent, set, site);
    n->sibling = p->child;
    STINT_IMPL_PUBLISH(&p->child, unit);
    return unit;
}

/* The open node of the same site and set around this one, or 0. */
static uint32_t outer_node_find(const struct thread_block *b, uint32_t from, uint32_t set,
                                uint32_t site) {
    for (uint32_t unit = from; unit != b->record->root; unit = tree_node(b, unit)->parent) {
        const struct stint_impl_node *n = tree_node(b, unit);
        if (n->site == site && n->set == set) {
            return unit;
        }
    }
    return 0;
}

uint32_t tree_above(const struct thread_block *b, uint32_t unit) {
    const struct stint_impl_node *n = tree_node(b, unit);
    if (n->kind & STINT_IMPL_SENT) {
        return node_sent(n)->sender;
    }
    return n->parent;
}

/* Compared as a whole: another key may have the same hash. */
static uint32_t sent_find(const struct thread_block *b, uint32_t parent, uint32_t set,
                          uint32_t site, uint32_t sender) {
    uint32_t unit = link_find(b, sent_key(parent, set, site, sender));
    if (!unit) {
        return 0;
    }
    const struct stint_impl_node *n = tree_node(b, unit);
    if (n->parent == parent && n->set == set && n->site == site && n->kind & STINT_IMPL_SENT &&
        node_sent(n)->sender == sender) {
        return unit;
    }
    return 0;
}

struct tree_edge tree_find_sent(const struct thread_block *b, uint32_t parent, uint32_t set,
                                uint32_t site, uint32_t sender) {
    struct tree_edge e = {0, 0};
    if (sender) {
        e.node = sent_find(b, parent, set, site, sender);
    } else {
        e.node = edge_find(b, stint_impl_edge_key(parent, set, site));
    }
    if (!e.node) {
        e.node = link_find(b, stint_impl_edge_key(parent, set, site | TREE_RECURSIVE));
        e.recursive = e.node != 0;
    }
    return e;
}

struct tree_edge tree_get_sent(struct thread_block *b, uint32_t parent, uint32_t set, uint32_t site,
                               uint32_t sender) {
    struct tree_edge e = tree_find_sent(b, parent, set, site, sender);
    if (e.node) {
        return e;
    }
    e.node = outer_node_find(b, parent, set, site);
    e.recursive = e.node != 0;
    if (e.recursive) {
        link_put(b, stint_impl_edge_key(parent, set, site | TREE_RECURSIVE), e.node);
    } else {
        e.node = node_new(b, parent, set, site, STINT_IMPL_SCOPE_NODE, sender);
    }
    return e;
}

struct tree_edge tree_find(const struct thread_block *b, uint32_t parent, uint32_t set,
                           uint32_t site) {
    return tree_find_sent(b, parent, set, site, 0);
}

struct tree_edge tree_get(struct thread_block *b, uint32_t parent, uint32_t set, uint32_t site) {
    return tree_get_sent(b, parent, set, site, 0);
}

uint32_t tree_find_interval(const struct thread_block *b, uint32_t set, uint32_t site) {
    return link_find(b, stint_impl_edge_key(b->record->root, set, site | TREE_INTERVAL));
}

uint32_t tree_get_interval(struct thread_block *b, uint32_t set, uint32_t site) {
    uint32_t unit = tree_find_interval(b, set, site);
    if (unit) {
        return unit;
    }
    return node_new(b, b->record->root, set, site, STINT_IMPL_INTERVAL_NODE, 0);
}

static void info_keep(struct stint_impl_node *n, const char *info) {
    size_t length = 0;
    if (info) {
        length = strnlen(info, STINT_IMPL_INFO - 1);
    }
    while (length == STINT_IMPL_INFO - 1 && (info[length] & 0xc0) == 0x80) {
        while (length && (info[--length] & 0xc0) == 0x80) {
        }
        break; /* cut at a whole UTF-8 character */
    }
    for (size_t i = 0; i < STINT_IMPL_INFO; ++i) {
        char byte = '\0';
        if (i < length) {
            byte = info[i];
        }
        __atomic_store_n(&n->info[i], byte, __ATOMIC_RELEASE);
    }
}

/* Whether a capture waits for a slow call of the site. 0: a recorder that is not the arena's. */
static uint8_t node_mark(const struct thread_block *b, const struct stint_impl_node *n) {
    uint32_t site = STINT_IMPL_LOAD(&n->site);
    if (!site) {
        return 0;
    }
    return STINT_IMPL_LOAD(&arena_site_in(b->hot.base, site)->reserved[0]);
}

/* So that a sample over the maximum or the limit of a capture takes the slow path. */
static uint64_t span_between(uint64_t min, uint64_t max, uint8_t mark) {
    uint64_t limit = u64_min(max, STINT_IMPL_SLOW_TICKS - 1) + 1;
    limit = u64_min(limit, watch_limit(mark));
    return saturating_subtract(limit, min);
}

void tree_sample(struct thread_block *b, struct stint_impl_node *n, uint64_t start, uint64_t ticks,
                 uint64_t nested, const char *info) {
    uint64_t seq = STINT_IMPL_LOAD(&n->seq);
    uint8_t mark = node_mark(b, n);
    int is_first = seq < 2;
    seq |= 1; /* as inline */
    STINT_IMPL_STORE(&n->seq, seq);
    STINT_IMPL_PUBLISH(&n->total, n->total + ticks);
    STINT_IMPL_PUBLISH(&n->nested, n->nested + nested);
    if (ticks < n->min) {
        STINT_IMPL_PUBLISH(&n->min, ticks);
    }
    if (is_first) {
        STINT_IMPL_PUBLISH(&n->first, ticks);
        STINT_IMPL_PUBLISH(&n->first_at, start);
    }
    if (is_first || ticks > n->max) {
        STINT_IMPL_PUBLISH(&n->max, ticks);
        STINT_IMPL_PUBLISH(&n->max_at, start);
        info_keep(n, info);
    }
    STINT_IMPL_PUBLISH(&n->span, span_between(n->min, n->max, mark));
    stint_impl_histogram_add(b->hot.base, n->histogram, u64_min(ticks, STINT_IMPL_LONG - 1));
    STINT_IMPL_PUBLISH(&n->seq, seq + 1);
    watch_sample(mark, ticks);
}

static void value_lower(uint64_t *value, uint64_t to) {
    uint64_t is = STINT_IMPL_LOAD(value);
    while (to < is &&
           !__atomic_compare_exchange_n(value, &is, to, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

static int value_raise(uint64_t *value, uint64_t to) {
    uint64_t is = STINT_IMPL_LOAD(value);
    while (to > is) {
        if (__atomic_compare_exchange_n(value, &is, to, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
            return 1;
        }
    }
    return 0;
}

/* Each field changes in one step. seq is odd from the first of them on, and the one that completes
 * its sample makes it the next even number: one that was left in the middle does not count, and
 * leaves nothing wrong to the next. */
void tree_sample_interval(struct thread_block *b, struct stint_impl_node *n, uint64_t start,
                          uint64_t ticks) {
    uint8_t mark = node_mark(b, n);
    uint64_t seq = __atomic_fetch_or(&n->seq, 1, __ATOMIC_RELAXED);
    int is_first = seq < 2;
    value_lower(&n->min, ticks);
    if (is_first) {
        STINT_IMPL_PUBLISH(&n->first, ticks);
        STINT_IMPL_PUBLISH(&n->first_at, start);
    }
    if (value_raise(&n->max, ticks) || is_first) {
        STINT_IMPL_PUBLISH(&n->max_at, start);
    }
    stint_impl_histogram_add(b->hot.base, n->histogram, u64_min(ticks, STINT_IMPL_LONG - 1));
    __atomic_fetch_add(&n->total, ticks, __ATOMIC_RELEASE);
    seq = STINT_IMPL_LOAD(&n->seq);
    while (!__atomic_compare_exchange_n(&n->seq, &seq, (seq | 1) + 1, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    watch_sample(mark, ticks);
}
