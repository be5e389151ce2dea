/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree: nodes, samples kept one by one and then in a histogram, infos, and lack of memory.
 * The expected counts and bounds follow from the samples.
 */
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
    uint32_t interval = tree_get_interval(b, 0, 3);
    thread_leave(b);
    tree_raw_samples = 0;
    CHECK(in_a != in_c);
    tree_sample(b, tree_node(b, a), 0, 100, 0, NULL);
    tree_sample(b, tree_node(b, c), 0, 100, 0, NULL);
    tree_sample(b, tree_node(b, in_a), 0, 100, 0, NULL);
    tree_sample(b, tree_node(b, in_c), 0, 100, 0, NULL);
    tree_sample_interval(b, tree_node(b, interval), 0, 1000);
    CHECK(tree_node(b, in_a)->histogram != 0);
    CHECK_EQ_U64(tree_node(b, in_a)->histogram, tree_node(b, in_c)->histogram);
    CHECK_EQ_U64(tree_node(b, in_a)->histogram, tree_node(b, interval)->histogram);
    CHECK(tree_node(b, a)->histogram != tree_node(b, c)->histogram);
    const struct stint_impl_histogram *h =
        (const struct stint_impl_histogram *)arena_at(tree_node(b, in_a)->histogram);
    CHECK_EQ_U64(h->bucket[stint_impl_bucket(100)], 2);
    CHECK_EQ_U64(h->bucket[stint_impl_bucket(1000)], 1);
}

static uint32_t marked(const struct stint_impl_node *n) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < STINT_IMPL_RAW; ++i) {
        count += (n->raw[i] & STINT_IMPL_RAW_COUNTED) != 0;
    }
    return count;
}

static uint64_t in_histogram(const struct stint_impl_node *n) {
    const struct stint_impl_histogram *h = arena_at(n->histogram);
    uint64_t count = 0;
    for (uint32_t i = 0; i < STINT_IMPL_BUCKETS; ++i) {
        count += h->bucket[i];
    }
    return count;
}

TEST(tree, first_samples_are_kept_and_then_counted) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    struct stint_impl_node *interval = tree_node(b, tree_get_interval(b, 0, 1000));
    thread_leave(b);
    uint64_t used = arena_used();
    for (uint32_t i = 0; i < STINT_IMPL_RAW; ++i) {
        tree_sample(b, n, 0, 100 + i, 0, NULL);
        tree_sample_interval(b, interval, 0, 200 + i);
        CHECK_EQ_U64(n->raw[i], 101 + i);
        CHECK_EQ_U64(interval->raw[i], 201 + i);
        CHECK_EQ_U64(n->span, 0); /* the next one takes the slow path, too */
    }
    CHECK(!n->histogram && !interval->histogram);
    CHECK_EQ_U64(arena_used(), used);
    tree_sample(b, n, 0, 99, 0, NULL);
    tree_sample_interval(b, interval, 0, 199);
    CHECK(marked(n) == STINT_IMPL_RAW && marked(interval) == STINT_IMPL_RAW);
    if (CHECK(n->histogram && interval->histogram && n->histogram != interval->histogram)) {
        CHECK(in_histogram(n) == 33 && in_histogram(interval) == 33);
    }
    CHECK(n->min == 99 && n->max == 131 && n->span == 33);
    CHECK_EQ_U64(n->total, 33 * 100 + 31 * 32 / 2 - 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(tree, a_sample_too_long_to_be_kept_is_counted_with_those_before) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    thread_leave(b);
    tree_sample(b, n, 0, STINT_IMPL_RAW_COUNTED - 2, 0, NULL);
    CHECK_EQ_U64(n->raw[0], STINT_IMPL_RAW_COUNTED - 1);
    tree_sample(b, n, 0, STINT_IMPL_RAW_COUNTED - 1, 0, NULL);
    CHECK(n->histogram && marked(n) == 1 && in_histogram(n) == 2 && !n->raw[1]);
    tree_sample(b, n, 0, 5, 0, NULL);
    CHECK(marked(n) == 1 && in_histogram(n) == 3);
}

/* Counted once, however many samples follow; and they are not kept either. */
TEST(tree, a_node_without_memory_for_its_histogram_has_none_for_good) {
    setenv("STINT_MEMORY", "1M", 1);
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    struct stint_impl_node *interval = tree_node(b, tree_get_interval(b, 0, 1000));
    while (arena_get(STINT_IMPL_UNIT, ARENA_HISTOGRAM)) {
    }
    thread_leave(b);
    for (uint32_t i = 0; i < 100; ++i) {
        tree_sample(b, n, 0, 5 + i, 0, NULL);
        tree_sample_interval(b, interval, 0, 5 + i);
    }
    CHECK(!n->histogram && !interval->histogram && n->span == 100);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_HISTOGRAM), 2);
    CHECK(n->seq == 200 && interval->seq == 200);
}

TEST(tree, interval_is_not_the_scope) {
    struct thread_block *b = enter();
    uint32_t scope = child_of(b, root_of(b), 1), interval = tree_get_interval(b, 0, 1);
    CHECK(interval != 0 && interval != scope);
    CHECK_EQ_U64(tree_get_interval(b, 0, 1), interval);
    CHECK_EQ_U64(tree_node(b, interval)->kind, STINT_IMPL_INTERVAL_NODE);
    thread_leave(b);
}

TEST(tree, samples_beyond_the_last_bucket_share_it_and_keep_their_maximum) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    thread_leave(b);
    tree_sample(b, n, 0, STINT_IMPL_LONG * 4, 0, "longest");
    tree_sample(b, n, 0, STINT_IMPL_LONG, 0, "long");
    struct stint_impl_histogram *h =
        (struct stint_impl_histogram *)(void *)tree_node(b, n->histogram);
    CHECK_EQ_U64(n->max, STINT_IMPL_LONG * 4);
    CHECK_EQ_U64(n->span, 0); /* so that the inline path never sees one */
    CHECK_STR_EQ(n->info, "longest");
    CHECK_EQ_U64(h->bucket[STINT_IMPL_BUCKETS - 1], 2);
}

TEST(tree, sample_keeps_first_least_and_most) {
    struct thread_block *b = enter();
    struct stint_impl_node *n = tree_node(b, child_of(b, root_of(b), 1));
    thread_leave(b);
    tree_raw_samples = 0;
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
    thread_leave(b);
    tree_raw_samples = 0;
    tree_sample(b, n, 0, 8, 0, NULL);
    struct stint_impl_histogram *h = (struct stint_impl_histogram *)arena_at(n->histogram);
    h->bucket[7] = STINT_IMPL_BUCKET_FULL - 1;
    tree_sample(b, n, 0, 7, 0, NULL);
    tree_sample(b, n, 0, 7, 0, NULL);
    CHECK_EQ_U64(h->bucket[7], STINT_IMPL_BUCKET_FULL);
    tree_sample(b, n, 0, UINT64_MAX / 2, 0, NULL); /* beyond 40 octaves: the last bucket */
    CHECK_EQ_U64(h->bucket[STINT_IMPL_BUCKETS - 1], 1);
}

/* Histograms go first, then nodes; what is there stays right. */
TEST(tree, memory_full) {
    setenv("STINT_MEMORY", "1M", 1);
    struct thread_block *b = enter();
    uint32_t made = 0, plain = 0;
    tree_raw_samples = 0;
    for (uint32_t i = 1; i <= 20000; ++i) {
        struct tree_place e = tree_get_at(b, root_of(b), 0, i);
        thread_leave(b);
        if (e.node) {
            tree_sample(b, tree_node(b, e.node), 0, 5, 0, NULL);
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
