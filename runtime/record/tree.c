/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree of a thread: finds and makes nodes, and the histograms that they share. Called by
 * the recorder on the owner's thread and by its signal handlers, which may interrupt each function
 * here: the addresses of a table that grows stay for the interrupted code, and a link's key is
 * written last. Readers of the run file see a node as soon as it is in the list of its parent.
 */
#include "tree.h"

#include <string.h>

#include "base/hash.h"
#include "base/role.h"
#include "base/scratch.h"
#include "node_list.h"
#include "probe.h"
#include "stint/stint.h"
#include "waits.h"

#define PIECE_BYTES (16 * sizeof(struct stint_impl_node)) /* keeps one thread's nodes together */

/* ---- Edges: (parent, set, site) -> node, what the inline path looks up. */

/* kind: 0, or one of the bits above the largest site id (tree.h). */
static uint64_t edge_key(const struct tree_edge *e, uint32_t kind) {
    return stint_impl_edge_key(e->parent, e->set, e->site | kind);
}

/* Returns the edge of a node without a sender. */
static struct tree_edge edge_of(const struct stint_impl_node *n) {
    struct tree_edge e = {n->parent, n->set, n->site, 0};
    return e;
}

static uint64_t edge_places(const struct thread_block *b) {
    return (uint64_t)1 << (64 - b->hot.edge_shift);
}

static int edge_is(const struct stint_impl_edge *is, const struct tree_edge *e) {
    return is->key == stint_impl_scope_key(e->set, e->site) && is->parent == e->parent;
}

/* Its slot and that slot's neighbours, then group after group: the place of the edge or an empty
 * one. */
static const struct stint_impl_edge **edge_place(const struct stint_impl_edge **edges,
                                                 uint32_t shift, const struct tree_edge *e) {
    uint64_t mask = ((uint64_t)1 << (64 - shift)) - 1;
    uint64_t slot = stint_impl_edge_slot(edge_key(e, 0), shift);
    for (;; slot = (slot + STINT_IMPL_EDGE_GROUP) & mask) {
        for (uint32_t i = 0; i < STINT_IMPL_EDGE_GROUP; ++i) {
            const struct stint_impl_edge **place = &edges[slot ^ i];
            const struct stint_impl_edge *is = STINT_IMPL_LOAD(place);
            if (!is || edge_is(is, e)) {
                return place;
            }
        }
    }
}

static int edges_grow(struct thread_block *b) {
    uint64_t old = edge_places(b);
    const struct stint_impl_edge **from = b->hot.edges;
    const struct stint_impl_edge **to = thread_pages_get(b, old * 2 * sizeof *to);
    if (!to) {
        return -1;
    }
    for (uint64_t i = 0; i < old; ++i) {
        if (from[i] && from[i] != &thread_no_edge) {
            struct tree_edge e = {from[i]->parent, stint_impl_edge_set(from[i]),
                                  stint_impl_edge_site(from[i]), 0};
            *edge_place(to, b->hot.edge_shift - 1, &e) = from[i];
        }
    }
    STINT_IMPL_STORE(&b->hot.edges, to);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&b->hot.edge_shift, b->hot.edge_shift - 1);
    /* Its addresses stay: this may be a signal handler, and the code that it interrupted may be
     * looking there. It finds nothing, and takes the slow path. */
    if (from != b->first_edges) {
        pages_empty(from, old * sizeof *from);
    }
    return 0;
}

/* Wiped in the child of a fork: without fork handlers the thread has these tables there, too, and
 * finds no edge, so that each begin takes the slow path, which looks (system/lock.h), before
 * anything is written to a run file that is the parent's. 0, or -1 without memory. */
static int edges_add_piece(struct thread_block *b) {
    size_t bytes = THREAD_EDGE_BYTES << b->edge_pieces;
    struct stint_impl_edge *piece = NULL;
    if (b->edge_pieces < THREAD_EDGE_PIECES) {
        piece = pages_get_wiped(bytes);
    }
    if (!piece) {
        return -1;
    }
    b->edge_piece[b->edge_pieces++] = piece;
    b->edge_next = piece;
    b->edge_end = piece + bytes / sizeof *piece;
    return 0;
}

/* NULL without memory. */
static const struct stint_impl_edge *edge_new(struct thread_block *b, const struct tree_edge *e,
                                              uint32_t to) {
    if (b->edge_next == b->edge_end && edges_add_piece(b)) {
        return NULL;
    }
    struct stint_impl_edge *edge = b->edge_next++;
    edge->key = stint_impl_scope_key(e->set, e->site);
    edge->parent = e->parent;
    edge->node = to;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return edge;
}

/* The node is complete but for its place in the list of its parent. */
static int edge_put(struct thread_block *b, const struct tree_edge *e, uint32_t to) {
    /* Above this load inline lookups, which try one group, miss too often. */
    int full = b->edge_count * 16u >= edge_places(b) * 5;
    if (full && edges_grow(b) && b->edge_count + STINT_IMPL_EDGE_GROUP >= edge_places(b)) {
        return -1;
    }
    const struct stint_impl_edge *edge = edge_new(b, e, to);
    if (!edge) {
        return -1;
    }
    STINT_IMPL_STORE(edge_place(b->hot.edges, b->hot.edge_shift, e), edge);
    ++b->edge_count;
    return 0;
}

static uint32_t edge_find(const struct thread_block *b, const struct tree_edge *e) {
    uint32_t shift = STINT_IMPL_LOAD(&b->hot.edge_shift); /* before the table, as inline */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* A place that was empty may have been filled by a signal handler since. */
    const struct stint_impl_edge *is =
        STINT_IMPL_LOAD(edge_place(STINT_IMPL_LOAD(&b->hot.edges), shift, e));
    if (is && edge_is(is, e)) {
        return is->node;
    }
    return 0;
}

/* ---- Links: what only the slow path looks up, kept apart so that it displaces no edge. */

static struct thread_link *link_place(struct thread_link *links, uint32_t mask, uint64_t key) {
    uint32_t at = (uint32_t)hash_number(key) & mask;
    while (links[at].key && links[at].key != key) {
        at = (at + 1) & mask;
    }
    return &links[at];
}

static int links_grow(struct thread_block *b) {
    uint32_t old = b->link_mask + 1;
    struct thread_link *from = b->links;
    struct thread_link *to = thread_pages_get(b, (size_t)old * 2 * sizeof *to);
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

/* edge: may be NULL. */
static int link_put_edge(struct thread_block *b, uint64_t key, uint32_t to,
                         const struct stint_impl_edge *edge) {
    if (b->link_count * 2 >= b->link_mask && links_grow(b) && b->link_count + 1 >= b->link_mask) {
        return -1;
    }
    struct thread_link *e = link_place(b->links, b->link_mask, key);
    e->node = to;
    e->edge = edge;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    e->key = key;
    ++b->link_count;
    return 0;
}

static int link_put(struct thread_block *b, uint64_t key, uint32_t to) {
    return link_put_edge(b, key, to, NULL);
}

/* A place that was empty when it was found may have been filled by a signal handler since, with a
 * key of its own. */
static uint32_t link_node(const struct thread_link *e, uint64_t key) {
    if (STINT_IMPL_LOAD(&e->key) != key) {
        return 0;
    }
    return STINT_IMPL_LOAD(&e->node);
}

static const struct thread_link *link_look_up(const struct thread_block *b, uint64_t key) {
    uint32_t mask = STINT_IMPL_LOAD(&b->link_mask);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return link_place(b->links, mask, key);
}

static uint32_t link_find(const struct thread_block *b, uint64_t key) {
    return link_node(link_look_up(b, key), key);
}

/* ---- Nodes. */

static const struct arena_text *site_name(const struct thread_block *b, uint32_t site) {
    const struct arena_header *h = (const struct arena_header *)(const void *)b->hot.base;
    if (!site || site > __atomic_load_n(&h->site_count, __ATOMIC_ACQUIRE)) {
        return NULL;
    }
    return arena_text_in(b->hot.base, arena_site_in(b->hot.base, site)->name);
}

/* Whether a scope of the same name and set, from another place in the program, is around the edge.
 * Readers find the same out from the finished tree. */
static int name_is_around(const struct thread_block *b, const struct tree_edge *e) {
    const struct arena_text *name = site_name(b, e->site);
    uint32_t unit = e->parent;
    for (; name && unit != b->record->root; unit = tree_node(b, unit)->parent) {
        const struct stint_impl_node *n = tree_node(b, unit);
        if (n->set != e->set) {
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
static uint64_t sent_key(const struct tree_edge *e) {
    return hash_add(hash_number(edge_key(e, 0)), e->sender) | 1;
}

static uint64_t interval_link_key(const struct tree_edge *e, enum stint_impl_kind kind) {
    return edge_key(e, kind == STINT_IMPL_NS_NODE ? TREE_INTERVAL_NS : TREE_INTERVAL);
}

static int node_link(struct thread_block *b, const struct tree_edge *e, enum stint_impl_kind kind,
                     uint32_t unit) {
    if (e->sender) {
        return link_put(b, sent_key(e), unit);
    }
    if (kind != STINT_IMPL_SCOPE_NODE) {
        return link_put(b, interval_link_key(e, kind), unit);
    }
    if (b->probe && probe_on()) {
        return link_put(b, edge_key(e, TREE_PROBED), unit);
    }
    return edge_put(b, e, unit);
}

/* Only of a node with STINT_IMPL_SENT. */
static struct stint_impl_sent *node_sent(const struct stint_impl_node *n) {
    return (struct stint_impl_sent *)(uintptr_t)(n + 1);
}

/* Whether a node of the edge adds to the time that its name waits. A recorder that is not the
 * arena's has no site. */
static int is_waiting_edge(const struct thread_block *b, const struct tree_edge *e) {
    return e->site && role_waits(arena_site_in(b->hot.base, e->site)->role) &&
           !name_is_around(b, e);
}

static uint32_t node_new(struct thread_block *b, const struct tree_edge *e,
                         enum stint_impl_kind kind) {
    uint32_t unit = node_cut(b, e->sender);
    if (!unit) {
        thread_lose(b, STINT_STATUS_NO_NODE);
        return 0;
    }
    struct stint_impl_node *n = tree_node(b, unit);
    struct stint_impl_node *p = tree_node(b, e->parent);
    n->min = UINT64_MAX;
    n->site = e->site;
    n->parent = e->parent;
    n->set = (uint16_t)e->set;
    n->kind = (uint16_t)kind;
    if (e->sender) {
        n->kind = (uint16_t)(kind | STINT_IMPL_SENT);
        node_sent(n)->sender = e->sender;
    }
    if (node_link(b, e, kind, unit)) {
        thread_lose(b, STINT_STATUS_NO_NODE);
        return 0;
    }
    n->sibling = p->child;
    STINT_IMPL_PUBLISH(&p->child, unit);
    if (b->hot.base == arena.base) {
        node_list_add(unit);
    }
    if (is_waiting_edge(b, e)) {
        waits_add(unit);
    }
    return unit;
}

/* Whether a scope opened at the edge is a call of that node. */
static int node_is_called(const struct thread_block *b, uint32_t unit, const struct tree_edge *e) {
    const struct stint_impl_node *n = tree_node(b, unit);
    return n->site == e->site && n->set == e->set;
}

/* The open node around the edge that has its site and set, or 0. */
static uint32_t outer_node_find(const struct thread_block *b, const struct tree_edge *e) {
    uint32_t unit = e->parent;
    for (; unit != b->record->root; unit = tree_node(b, unit)->parent) {
        if (node_is_called(b, unit, e)) {
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
static uint32_t sent_find(const struct thread_block *b, const struct tree_edge *e) {
    uint32_t unit = link_find(b, sent_key(e));
    if (!unit) {
        return 0;
    }
    const struct stint_impl_node *n = tree_node(b, unit);
    if (n->site == e->site && n->parent == e->parent && n->set == e->set &&
        n->kind & STINT_IMPL_SENT && node_sent(n)->sender == e->sender) {
        return unit;
    }
    return 0;
}

/* A node that may be measured is among the links until it is settled, then among the edges. */
static struct tree_place place_find_outer(const struct thread_block *b, const struct tree_edge *e) {
    struct tree_place place = {.node = edge_find(b, e)};
    if (place.node || !b->probe) {
        return place;
    }
    place.node = link_find(b, edge_key(e, TREE_PROBED));
    place.probed = place.node != 0;
    place.settled = place.probed && probe_is_settled(tree_node(b, place.node));
    return place;
}

/* The node of an open scope that is called again inside another one. */
static struct tree_place place_find_recursive(const struct thread_block *b,
                                              const struct tree_edge *e) {
    uint64_t key = edge_key(e, TREE_RECURSIVE);
    const struct thread_link *link = link_look_up(b, key);
    struct tree_place place = {.node = link_node(link, key)};
    if (place.node) {
        place.recursive = 1;
        place.edge = STINT_IMPL_LOAD(&link->edge);
    }
    return place;
}

/* An edge from a node to itself is in no table. Work of a sender is never a call of the node around
 * it, and is not found by an edge. An edge is of an open scope or of another one, never of both, so
 * that inside a recursive call, where most calls are recursive, those are looked up first. */
struct tree_place tree_find(const struct thread_block *b, const struct tree_edge *e) {
    struct tree_place place = {0};
    if (e->sender) {
        place.node = sent_find(b, e);
        place.probed = place.node && b->probe;
    } else if (node_is_called(b, e->parent, e)) {
        place = (struct tree_place){.node = e->parent, .recursive = 1};
    } else {
        if (STINT_IMPL_LOAD(&b->hot.top->recursive)) {
            place = place_find_recursive(b, e);
        }
        if (!place.node) {
            place = place_find_outer(b, e);
        }
    }
    if (!place.node) {
        place = place_find_recursive(b, e);
    }
    return place;
}

struct tree_place tree_get(struct thread_block *b, const struct tree_edge *e) {
    probe_add_thread(b);
    struct tree_place place = tree_find(b, e);
    if (place.settled) {
        edge_put(b, e, place.node);
    }
    if (place.node) {
        return place;
    }
    place.node = outer_node_find(b, e);
    if (place.node) {
        link_put_edge(b, edge_key(e, TREE_RECURSIVE), place.node, edge_new(b, e, place.node));
        place.recursive = 1;
        return place;
    }
    place.node = node_new(b, e, STINT_IMPL_SCOPE_NODE);
    place.probed = b->probe != NULL;
    return place;
}

/* The place of the edge is left to one of no site, so that a search goes on past it. The link stays
 * if the node comes back among the edges: it leaves them once. */
static void edge_leave(struct thread_block *b, const struct tree_edge *e, uint32_t unit) {
    uint64_t key = edge_key(e, TREE_PROBED);
    const struct stint_impl_edge **place = edge_place(b->hot.edges, b->hot.edge_shift, e);
    if (!*place || (*place)->node != unit || link_find(b, key) || probe_add_long(b) ||
        link_put(b, key, unit)) {
        return;
    }
    tree_forget_near(b, tree_node(b, unit));
    STINT_IMPL_STORE(place, &thread_no_edge);
}

void tree_check_long(struct thread_block *b, uint32_t unit) {
    struct stint_impl_node *n = tree_node(b, unit);
    if (!probe_is_long(n) || thread_enter_tables(b)) {
        return;
    }
    if (STINT_IMPL_LOAD(&n->kind) & STINT_IMPL_SENT) {
        probe_add_long(b); /* found by a link anyway */
    } else {
        struct tree_edge e = edge_of(n);
        edge_leave(b, &e, unit);
    }
    thread_leave(b);
}

static struct tree_edge interval_edge(const struct thread_block *b, uint32_t set, uint32_t site) {
    struct tree_edge e = {b->record->root, set, site, 0};
    return e;
}

uint32_t tree_find_interval(const struct thread_block *b, enum stint_impl_kind kind, uint32_t set,
                            uint32_t site) {
    struct tree_edge e = interval_edge(b, set, site);
    return link_find(b, interval_link_key(&e, kind));
}

uint32_t tree_get_interval(struct thread_block *b, enum stint_impl_kind kind, uint32_t set,
                           uint32_t site) {
    uint32_t unit = tree_find_interval(b, kind, set, site);
    if (unit) {
        return unit;
    }
    struct tree_edge e = interval_edge(b, set, site);
    return node_new(b, &e, kind);
}

/* ---- Histograms, found as links are. */

static uint32_t histogram_new(void) {
    return arena_get(sizeof(struct stint_impl_histogram), ARENA_HISTOGRAM);
}

/* Between thread_enter and thread_leave. */
static uint32_t histogram_get(struct thread_block *b, const struct stint_impl_node *n) {
    struct tree_edge e = edge_of(n);
    uint32_t which = TREE_HISTOGRAM;
    if (n->kind == STINT_IMPL_NS_NODE) {
        which = TREE_HISTOGRAM_NS;
    } else if (name_is_around(b, &e)) {
        which = TREE_HISTOGRAM_INNER;
    }
    e.parent = b->record->root;
    uint64_t key = edge_key(&e, which);
    uint32_t unit = link_find(b, key);
    if (unit) {
        return unit;
    }
    unit = histogram_new();
    if (!unit || link_put(b, key, unit)) {
        return 0;
    }
    return unit;
}

/* A scope that was interrupted while it got its histogram is still open, so a signal handler that
 * interrupted a change of the tables asks for another node's. */
uint32_t tree_get_histogram(struct thread_block *b, const struct stint_impl_node *n) {
    if (thread_enter_tables(b)) {
        return histogram_new();
    }
    uint32_t unit = histogram_get(b, n);
    thread_leave(b);
    return unit;
}
