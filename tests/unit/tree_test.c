/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree: nodes, the histograms that they share, and lack of memory. The expected counts and
 * bounds follow from the samples.
 */
#include "record/tree.h"

#include "record/node.h"
#include "recorded.h"

static struct thread_block *enter(void) {
    struct thread_block *b = thread_enter(1);
    if (!b) {
        exit(1);
    }
    return b;
}

static uint32_t root_of(const struct thread_block *b) {
    return b->record->root;
}

static struct tree_place tree_find_at(const struct thread_block *b, uint32_t parent, uint32_t set,
                                      uint32_t site) {
    struct tree_edge e = {parent, set, site, 0};
    return tree_find(b, &e);
}

static struct tree_place tree_get_at(struct thread_block *b, uint32_t parent, uint32_t set,
                                     uint32_t site) {
    struct tree_edge e = {parent, set, site, 0};
    return tree_get(b, &e);
}

/* A site that exists: its number is not looked at here. */
static uint32_t child_of(struct thread_block *b, uint32_t parent, uint32_t site) {
    struct tree_place e = tree_get_at(b, parent, 0, site);
    CHECK(e.node != 0 && !e.recursive);
    return e.node;
}

TEST(tree, node_is_found_again) {
    struct thread_block *b = enter();
    CHECK_EQ_U64(tree_find_at(b, root_of(b), 0, 1).node, 0);
    uint32_t n = child_of(b, root_of(b), 1);
    CHECK_EQ_U64(tree_find_at(b, root_of(b), 0, 1).node, n);
    CHECK_EQ_U64(child_of(b, root_of(b), 1), n);
    CHECK(child_of(b, root_of(b), 2) != n);
    CHECK(tree_get_at(b, root_of(b), 5, 1).node != n); /* another set */
    const struct stint_impl_node *node = tree_node(b, n);
    CHECK_EQ_U64(node->site, 1);
    CHECK_EQ_U64(node->parent, root_of(b));
    CHECK_EQ_U64(node->min, UINT64_MAX);
    CHECK_EQ_U64(node->span, 0);
    thread_leave(b);
}

#define PARENTS 64
#define ROUNDS 4

/* Not in the frame of the caller, where its guard would be above the caller's. */
__attribute__((noinline)) static void leaf(void) {
    REGISTER_TIMER("leaf");
    fake_advance(1);
}

/* The inline path searches the node of a site with several parents among those of all of them. */
TEST(tree, a_scope_below_many_parents) {
    for (int i = 0; i < ROUNDS * PARENTS; ++i) {
        char name[24];
        snprintf(name, sizeof name, "parent %d", i % PARENTS);
        REGISTER_TIMER_DYNAMIC(name);
        leaf();
    }
    struct thread_block *b = enter();
    uint32_t parents = 0;
    for (uint32_t p = tree_node(b, root_of(b))->child; p; p = tree_node(b, p)->sibling) {
        const struct stint_impl_node *n = tree_node(b, tree_node(b, p)->child);
        CHECK_EQ_U64(n->seq, 2 * ROUNDS);
        ++parents;
    }
    CHECK_EQ_U64(parents, PARENTS);
    thread_leave(b);
}

TEST(tree, thousands_of_nodes_survive_every_growth) {
    static uint32_t nodes[60][100];
    struct thread_block *b = enter();
    for (uint32_t i = 0; i < 60; ++i) {
        uint32_t parent = child_of(b, root_of(b), i + 1);
        for (uint32_t k = 0; k < 100; ++k) {
            nodes[i][k] = child_of(b, parent, 1000 + k);
        }
    }
    for (uint32_t i = 0; i < 60; ++i) {
        uint32_t parent = tree_find_at(b, root_of(b), 0, i + 1).node;
        for (uint32_t k = 0; k < 100; ++k) {
            CHECK_EQ_U64(tree_find_at(b, parent, 0, 1000 + k).node, nodes[i][k]);
            CHECK_EQ_U64(tree_node(b, nodes[i][k])->parent, parent);
        }
        CHECK_EQ_U64(tree_find_at(b, parent, 0, 2000).node, 0);
    }
    CHECK((uint64_t)b->edge_count * 16 <= ((uint64_t)5 << (64 - b->hot.edge_shift)) + 16);
    CHECK_EQ_U64(lost_in_all(), 0);
    thread_leave(b);
}

TEST(tree, open_ancestor_is_taken_again) {
    struct thread_block *b = enter();
    uint32_t a = child_of(b, root_of(b), 1), in = child_of(b, a, 2);
    struct tree_place direct = tree_get_at(b, a, 0, 1), mutual = tree_get_at(b, in, 0, 1);
    CHECK(direct.recursive && direct.node == a);
    CHECK(mutual.recursive && mutual.node == a);
    CHECK(tree_find_at(b, in, 0, 1).recursive); /* remembered */
    CHECK(!tree_get_at(b, in, 7, 1).recursive); /* another set: no recursion */
    CHECK(!tree_get_at(b, root_of(b), 0, 2).recursive);
    thread_leave(b);
}

TEST(tree, nodes_of_a_site_share_one_histogram) {
    struct thread_block *b = enter();
    uint32_t a = child_of(b, root_of(b), 1), c = child_of(b, root_of(b), 2);
    uint32_t in_a = child_of(b, a, 3), in_c = child_of(b, c, 3);
    uint32_t interval = tree_get_interval(b, STINT_IMPL_INTERVAL_NODE, 0, 3);
    thread_leave(b);
    node_raw_samples = 0;
    CHECK(in_a != in_c);
    node_add_sample(b, tree_node(b, a), 0, 100, 0, NULL);
    node_add_sample(b, tree_node(b, c), 0, 100, 0, NULL);
    node_add_sample(b, tree_node(b, in_a), 0, 100, 0, NULL);
    node_add_sample(b, tree_node(b, in_c), 0, 100, 0, NULL);
    node_add_interval(b, tree_node(b, interval), 0, 1000, 1000);
    CHECK(tree_node(b, in_a)->histogram != 0);
    CHECK_EQ_U64(tree_node(b, in_a)->histogram, tree_node(b, in_c)->histogram);
    CHECK_EQ_U64(tree_node(b, in_a)->histogram, tree_node(b, interval)->histogram);
    CHECK(tree_node(b, a)->histogram != tree_node(b, c)->histogram);
    const struct stint_impl_histogram *h =
        (const struct stint_impl_histogram *)arena_at(tree_node(b, in_a)->histogram);
    CHECK_EQ_U64(h->bucket[stint_impl_bucket(100)], 2);
    CHECK_EQ_U64(h->bucket[stint_impl_bucket(1000)], 1);
}

TEST(tree, interval_is_not_the_scope) {
    struct thread_block *b = enter();
    uint32_t scope = child_of(b, root_of(b), 1),
             interval = tree_get_interval(b, STINT_IMPL_INTERVAL_NODE, 0, 1);
    CHECK(interval != 0 && interval != scope);
    CHECK_EQ_U64(tree_get_interval(b, STINT_IMPL_INTERVAL_NODE, 0, 1), interval);
    CHECK_EQ_U64(tree_node(b, interval)->kind, STINT_IMPL_INTERVAL_NODE);
    thread_leave(b);
}

/* Histograms go first, then nodes; what is there stays right. */
TEST(tree, memory_full) {
    setenv("STINT_MEMORY", "1M", 1);
    struct thread_block *b = enter();
    uint32_t made = 0, plain = 0;
    node_raw_samples = 0;
    for (uint32_t i = 1; i <= 20000; ++i) {
        struct tree_place e = tree_get_at(b, root_of(b), 0, i);
        thread_leave(b);
        if (e.node) {
            node_add_sample(b, tree_node(b, e.node), 0, 5, 0, NULL);
        }
        b = enter();
        made += e.node != 0;
        plain += e.node && !tree_node(b, e.node)->histogram;
        CHECK(!e.node || made == i); /* once none can be had, none can */
    }
    CHECK(made > 1000 && made < 20000);
    CHECK(plain > 0 && plain < made);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_HISTOGRAM), plain);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_NODE), 20000 - made);
    CHECK(arena_used() <= 1 << 20);
    for (uint32_t i = 1; i <= 20000; ++i) {
        CHECK((tree_find_at(b, root_of(b), 0, i).node != 0) == (i <= made));
    }
    thread_leave(b);
}
