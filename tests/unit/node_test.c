/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a node: kept one by one and then in a histogram, infos, and lack of memory. The
 * expected counts and bounds follow from the samples.
 */
#include "record/node.h"

#include "record/tree.h"
#include "recorded.h"

/* A scope's node at the top of the tree, of a site that need not exist: nothing looks at it. */
static struct stint_impl_node *scope_get(struct thread_block *b, uint32_t site) {
    struct tree_edge e = {b->record->root, 0, site, 0};
    return tree_node(b, tree_get(b, &e).node);
}

static struct stint_impl_node *interval_get(struct thread_block *b, uint32_t site) {
    return tree_node(b, tree_get_interval(b, STINT_IMPL_INTERVAL_NODE, 0, site));
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

TEST(node, first_samples_are_kept_and_then_counted) {
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    struct stint_impl_node *interval = interval_get(b, 1000);
    thread_leave(b);
    uint64_t used = arena_used();
    for (uint32_t i = 0; i < STINT_IMPL_RAW; ++i) {
        node_add_sample(b, n, 0, 100 + i, 0, NULL);
        node_add_interval(b, interval, 0, 200 + i, 200 + i);
        CHECK_EQ_U64(n->raw[i], 101 + i);
        CHECK_EQ_U64(interval->raw[i], 201 + i);
        CHECK_EQ_U64(n->span, 0); /* the next one takes the slow path, too */
    }
    CHECK(!n->histogram && !interval->histogram);
    CHECK_EQ_U64(arena_used(), used);
    node_add_sample(b, n, 0, 99, 0, NULL);
    node_add_interval(b, interval, 0, 199, 199);
    CHECK(marked(n) == STINT_IMPL_RAW && marked(interval) == STINT_IMPL_RAW);
    if (CHECK(n->histogram && interval->histogram && n->histogram != interval->histogram)) {
        CHECK(in_histogram(n) == 33 && in_histogram(interval) == 33);
    }
    CHECK(n->min == 99 && n->max == 131 && n->span == 33);
    CHECK_EQ_U64(n->total, 33 * 100 + 31 * 32 / 2 - 1);
    CHECK_EQ_U64(lost_in_all(), 0);
}

TEST(node, a_sample_too_long_to_be_kept_is_counted_with_those_before) {
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    thread_leave(b);
    node_add_sample(b, n, 0, STINT_IMPL_RAW_COUNTED - 2, 0, NULL);
    CHECK_EQ_U64(n->raw[0], STINT_IMPL_RAW_COUNTED - 1);
    node_add_sample(b, n, 0, STINT_IMPL_RAW_COUNTED - 1, 0, NULL);
    CHECK(n->histogram && marked(n) == 1 && in_histogram(n) == 2 && !n->raw[1]);
    node_add_sample(b, n, 0, 5, 0, NULL);
    CHECK(marked(n) == 1 && in_histogram(n) == 3);
}

/* Counted once, however many samples follow; and they are not kept either. */
TEST(node, a_node_without_memory_for_its_histogram_has_none_for_good) {
    setenv("STINT_MEMORY", "1M", 1);
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    struct stint_impl_node *interval = interval_get(b, 1000);
    while (arena_get(STINT_IMPL_UNIT, ARENA_HISTOGRAM)) {
    }
    thread_leave(b);
    for (uint32_t i = 0; i < 100; ++i) {
        node_add_sample(b, n, 0, 5 + i, 0, NULL);
        node_add_interval(b, interval, 0, 5 + i, 5 + i);
    }
    CHECK(!n->histogram && !interval->histogram && n->span == 100);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_HISTOGRAM), 2);
    CHECK(n->seq == 200 && interval->seq == 200);
}

TEST(node, samples_beyond_the_last_bucket_share_it_and_keep_their_maximum) {
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    thread_leave(b);
    node_add_sample(b, n, 0, STINT_IMPL_LONG * 4, 0, "longest");
    node_add_sample(b, n, 0, STINT_IMPL_LONG, 0, "long");
    struct stint_impl_histogram *h =
        (struct stint_impl_histogram *)(void *)tree_node(b, n->histogram);
    CHECK_EQ_U64(n->max, STINT_IMPL_LONG * 4);
    CHECK_EQ_U64(n->span, 0); /* so that the inline path never sees one */
    CHECK_STR_EQ(n->info, "longest");
    CHECK_EQ_U64(h->bucket[STINT_IMPL_BUCKETS - 1], 2);
    CHECK_EQ_U64(h->open, STINT_IMPL_BUCKETS);
}

TEST(node, sample_keeps_first_least_and_most) {
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    thread_leave(b);
    node_raw_samples = 0;
    node_add_sample(b, n, 1000, 50, 0, "first");
    node_add_sample(b, n, 2000, 40, 0, "less");
    node_add_sample(b, n, 3000, 60, 0, "more");
    node_add_sample(b, n, 4000, 60, 0, "equal"); /* the later of equals */
    node_add_sample(b, n, 5000, 0, 0, "zero");
    CHECK_EQ_U64(n->seq, 10);
    CHECK_EQ_U64(n->total, 210);
    CHECK_EQ_U64(n->min, 0);
    CHECK_EQ_U64(n->min + n->span, 61);
    CHECK_EQ_U64(n->first, 50);
    CHECK_EQ_U64(n->first_at, 1000);
    CHECK_EQ_U64(n->max_at == 4000 || n->max_at == 3000, 1);
    CHECK_STR_EQ(n->info, n->max_at == 4000 ? "equal" : "more");
}

TEST(node, info_is_cut_at_a_whole_character) {
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    char info[100];
    memset(info, 'i', sizeof info);
    info[99] = '\0';
    node_add_sample(b, n, 0, 1, 0, info);
    CHECK_EQ_U64(strlen(n->info), 63);
    memcpy(info + 61, "\xe2\x82\xac", 3); /* bytes 61 to 63: does not fit */
    node_add_sample(b, n, 0, 2, 0, info);
    CHECK_EQ_U64(strlen(n->info), 61);
    memcpy(info + 60, "\xe2\x82\xac", 3); /* bytes 60 to 62: fits */
    info[63] = 'i';
    node_add_sample(b, n, 0, 3, 0, info);
    CHECK_EQ_U64(strlen(n->info), 63);
    node_add_sample(b, n, 0, 4, 0, NULL); /* a maximum without info clears it */
    CHECK_STR_EQ(n->info, "");
}

TEST(node, histogram_saturates) {
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    thread_leave(b);
    node_raw_samples = 0;
    node_add_sample(b, n, 0, 8, 0, NULL);
    struct stint_impl_histogram *h = (struct stint_impl_histogram *)arena_at(n->histogram);
    h->bucket[7] = STINT_IMPL_BUCKET_FULL - 1;
    node_add_sample(b, n, 0, 7, 0, NULL);
    node_add_sample(b, n, 0, 7, 0, NULL);
    CHECK_EQ_U64(h->bucket[7], STINT_IMPL_BUCKET_FULL);
    node_add_sample(b, n, 0, UINT64_MAX / 2, 0, NULL); /* beyond 44 octaves: the last bucket */
    CHECK_EQ_U64(h->bucket[STINT_IMPL_BUCKETS - 1], 1);
}

TEST(node, no_percentiles_no_histograms) {
    setenv("STINT_PERCENTILES", "0", 1);
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = scope_get(b, 1);
    thread_leave(b);
    CHECK_EQ_U64(n->histogram, 0);
    node_add_sample(b, n, 0, 5, 0, NULL);
    CHECK_EQ_U64(n->total, 5);
    CHECK_EQ_U64(lost_in_all(), 0);
}
