/* SPDX-License-Identifier: Apache-2.0 */
#include "record/tree.h"

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

/* A site that exists: its number is not looked at here. */
static uint32_t child_of(struct thread_block *b, uint32_t parent, uint32_t site) {
    struct tree_edge e = tree_get(b, parent, 0, site);
    CHECK(e.node != 0 && !e.recursive);
    return e.node;
}

TEST(tree, node_is_found_again) {
    struct thread_block *b = enter();
    CHECK_EQ_U64(tree_find(b, root_of(b), 0, 1).node, 0);
    uint32_t n = child_of(b, root_of(b), 1);
    CHECK_EQ_U64(tree_find(b, root_of(b), 0, 1).node, n);
    CHECK_EQ_U64(child_of(b, root_of(b), 1), n);
    CHECK(child_of(b, root_of(b), 2) != n);
    CHECK(tree_get(b, root_of(b), 5, 1).node != n); /* another set */
    const struct stint_impl_node *node = tree_node(b, n);
    CHECK_EQ_U64(node->site, 1);
    CHECK_EQ_U64(node->parent, root_of(b));
    CHECK_EQ_U64(node->min, UINT64_MAX);
    CHECK_EQ_U64(node->span, 0);
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
        uint32_t parent = tree_find(b, root_of(b), 0, i + 1).node;
        for (uint32_t k = 0; k < 100; ++k) {
            CHECK_EQ_U64(tree_find(b, parent, 0, 1000 + k).node, nodes[i][k]);
            CHECK_EQ_U64(tree_node(b, nodes[i][k])->parent, parent);
        }
        CHECK_EQ_U64(tree_find(b, parent, 0, 2000).node, 0);
    }
    CHECK((uint64_t)b->edge_count * 8 <= ((uint64_t)1 << (64 - b->hot.edge_shift)) + 8);
    CHECK_EQ_U64(lost_in_all(), 0);
    thread_leave(b);
}

TEST(tree, open_ancestor_is_taken_again) {
    struct thread_block *b = enter();
    uint32_t a = child_of(b, root_of(b), 1), in = child_of(b, a, 2);
    struct tree_edge direct = tree_get(b, a, 0, 1), mutual = tree_get(b, in, 0, 1);
    CHECK(direct.recursive && direct.node == a);
    CHECK(mutual.recursive && mutual.node == a);
    CHECK(tree_find(b, in, 0, 1).recursive); /* remembered */
    CHECK(!tree_get(b, in, 7, 1).recursive); /* another set: no recursion */
    CHECK(!tree_get(b, root_of(b), 0, 2).recursive);
    thread_leave(b);
}

TEST(tree, nodes_of_a_site_share_one_histogram) {
    struct thread_block *b = enter();
    uint32_t a = child_of(b, root_of(b), 1), c = child_of(b, root_of(b), 2);
    uint32_t in_a = child_of(b, a, 3), in_c = child_of(b, c, 3);
    CHECK(in_a != in_c);
    CHECK(tree_node(b, in_a)->histogram != 0);
    CHECK_EQ_U64(tree_node(b, in_a)->histogram, tree_node(b, in_c)->histogram);
    CHECK(tree_node(b, a)->histogram != tree_node(b, c)->histogram);
    tree_sample(b, tree_node(b, in_a), 0, 100, 0, NULL);
    tree_sample(b, tree_node(b, in_c), 0, 100, 0, NULL);
    const struct stint_impl_histogram *h =
        (const struct stint_impl_histogram *)arena_at(tree_node(b, in_a)->histogram);
    CHECK_EQ_U64(h->bucket[stint_impl_bucket(100)], 2);
    thread_leave(b);
}

TEST(tree, interval_is_not_the_scope) {
    struct thread_block *b = enter();
    uint32_t scope = child_of(b, root_of(b), 1), interval = tree_get_interval(b, 0, 1);
    CHECK(interval != 0 && interval != scope);
    CHECK_EQ_U64(tree_get_interval(b, 0, 1), interval);
    CHECK_EQ_U64(tree_node(b, interval)->kind, STINT_IMPL_INTERVAL_NODE);
    CHECK_EQ_U64(tree_node(b, interval)->histogram, tree_node(b, scope)->histogram);
    thread_leave(b);
}

TEST(tree, samples_beyond_the_last_bucket_share_it_and_keep_their_maximum) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    tree_sample(b, n, 0, STINT_IMPL_LONG * 4, 0, "longest");
    tree_sample(b, n, 0, STINT_IMPL_LONG, 0, "long");
    struct stint_impl_histogram *h =
        (struct stint_impl_histogram *)(void *)tree_node(b, n->histogram);
    CHECK_EQ_U64(n->max, STINT_IMPL_LONG * 4);
    CHECK_EQ_U64(n->span, 0); /* so that the inline path never sees one */
    CHECK_STR_EQ(n->info, "longest");
    CHECK_EQ_U64(h->bucket[STINT_IMPL_BUCKETS - 1], 2);
    thread_leave(b);
}

TEST(tree, sample_keeps_first_least_and_most) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    tree_sample(b, n, 1000, 50, 0, "first");
    tree_sample(b, n, 2000, 40, 0, "less");
    tree_sample(b, n, 3000, 60, 0, "more");
    tree_sample(b, n, 4000, 60, 0, "equal"); /* the later of equals */
    tree_sample(b, n, 5000, 0, 0, "zero");
    CHECK_EQ_U64(n->seq, 10);
    CHECK_EQ_U64(n->total, 210);
    CHECK_EQ_U64(n->min, 0);
    CHECK_EQ_U64(n->min + n->span, 61);
    CHECK_EQ_U64(n->first, 50);
    CHECK_EQ_U64(n->first_at, 1000);
    CHECK_EQ_U64(n->max_at == 4000 || n->max_at == 3000, 1);
    CHECK_STR_EQ(n->info, n->max_at == 4000 ? "equal" : "more");
    thread_leave(b);
}

TEST(tree, info_is_cut_at_a_whole_character) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    char info[100];
    memset(info, 'i', sizeof info);
    info[99] = '\0';
    tree_sample(b, n, 0, 1, 0, info);
    CHECK_EQ_U64(strlen(n->info), 63);
    memcpy(info + 61, "\xe2\x82\xac", 3); /* bytes 61 to 63: does not fit */
    tree_sample(b, n, 0, 2, 0, info);
    CHECK_EQ_U64(strlen(n->info), 61);
    memcpy(info + 60, "\xe2\x82\xac", 3); /* bytes 60 to 62: fits */
    info[63] = 'i';
    tree_sample(b, n, 0, 3, 0, info);
    CHECK_EQ_U64(strlen(n->info), 63);
    tree_sample(b, n, 0, 4, 0, NULL); /* a maximum without info clears it */
    CHECK_STR_EQ(n->info, "");
    thread_leave(b);
}

TEST(tree, histogram_saturates) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    struct stint_impl_histogram *h = (struct stint_impl_histogram *)arena_at(n->histogram);
    h->bucket[7] = STINT_IMPL_BUCKET_FULL - 1;
    tree_sample(b, n, 0, 7, 0, NULL);
    tree_sample(b, n, 0, 7, 0, NULL);
    CHECK_EQ_U64(h->bucket[7], STINT_IMPL_BUCKET_FULL);
    tree_sample(b, n, 0, UINT64_MAX / 2, 0, NULL); /* beyond 40 octaves: the last bucket */
    CHECK_EQ_U64(h->bucket[STINT_IMPL_BUCKETS - 1], 1);
    thread_leave(b);
}

/* Histograms go first, then nodes; what is there stays right. */
TEST(tree, memory_full) {
    setenv("STINT_MEMORY", "1M", 1);
    struct thread_block *b = enter();
    uint32_t made = 0, plain = 0;
    for (uint32_t i = 1; i <= 20000; ++i) {
        struct tree_edge e = tree_get(b, root_of(b), 0, i);
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
        CHECK((tree_find(b, root_of(b), 0, i).node != 0) == (i <= made));
    }
    thread_leave(b);
}

TEST(tree, no_percentiles_no_histograms) {
    setenv("STINT_PERCENTILES", "0", 1);
    struct thread_block *b = enter();
    uint32_t n = child_of(b, root_of(b), 1);
    CHECK_EQ_U64(tree_node(b, n)->histogram, 0);
    tree_sample(b, tree_node(b, n), 0, 5, 0, NULL);
    CHECK_EQ_U64(tree_node(b, n)->total, 5);
    CHECK_EQ_U64(lost_in_all(), 0);
    thread_leave(b);
}

HARNESS_MAIN()
