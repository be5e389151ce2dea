/* SPDX-License-Identifier: Apache-2.0 */
#include "harness_threads.h"
#include "record/watch.h"

#include "record/node.h"
#include "recorded.h"

static void scope(uint64_t ns) {
    REGISTER_TIMER("load");
    fake_advance(ns);
}

static void other(uint64_t ns) {
    REGISTER_TIMER("other");
    fake_advance(ns);
}

TEST(watch, each_slow_call_is_seen_not_only_a_maximum) {
    setenv("STINT_CAPTURE", "train:when=load>5us", 1);
    scope(1000000); /* the maximum to come */
    CHECK(watch_take(0));
    CHECK(!watch_take(0));
    for (int i = 0; i < 3; ++i) {
        scope(5001);
        CHECK(watch_take(0));
        scope(5000);
        CHECK(!watch_take(0));
        other(1000000);
        CHECK(!watch_take(0));
    }
    CHECK_EQ_U64(calls_of("load"), 7);
    CHECK_EQ_U64(stat_of("load").max_ns, 1000000);
    CHECK_EQ_U64(stat_of("load").total_ns, 1000000 + 3 * 10001);
}

TEST(watch, a_small_maximum_does_not_raise_the_limit) {
    setenv("STINT_CAPTURE", "train:when=load>5us", 1);
    scope(10);
    scope(5001);
    CHECK(watch_take(0));
    scope(5001);
    CHECK(watch_take(0));
}

/* Each node's span is that of one with a histogram. */
__attribute__((constructor)) static void keep_no_samples(void) {
    node_raw_samples = 0;
}

static const struct stint_impl_node *node_of(const char *name) {
    const char *base = arena.base;
    const struct arena_thread *t = newest_thread();
    const struct stint_impl_node *root = arena_at(t->root);
    for (uint32_t unit = root->child; unit;) {
        const struct stint_impl_node *n = (const void *)(base + (size_t)unit * STINT_IMPL_UNIT);
        if (!strcmp(arena_text_at(arena_site_at(n->site)->name)->bytes, name)) {
            return n;
        }
        unit = n->sibling;
    }
    return NULL;
}

TEST(watch, other_scopes_stay_on_the_fast_path) {
    setenv("STINT_CAPTURE", "train:when=load>5us", 1);
    scope(1000);
    scope(9000);
    other(9000);
    CHECK_EQ_U64(node_of("load")->min + node_of("load")->span, 5001);
    CHECK_EQ_U64(node_of("other")->min + node_of("other")->span, 9001);
}

TEST(watch, nothing_is_watched_without_rules) {
    scope(9000);
    CHECK_EQ_U64(node_of("load")->min + node_of("load")->span, 9001);
    CHECK_EQ_U64(watch_mark("load", 4), 0);
    CHECK(!watch_take(0));
}

TEST(watch, intervals_added_samples_and_run_time_names) {
    stint_timer h;
    setenv("STINT_CAPTURE", "a:when=handle>5us;b:when=sample>5us;c:when=dynamic>5us", 1);
    for (int i = 0; i < 2; ++i) {
        TIMER_BEGIN(h, "handle");
        fake_advance(6000);
        TIMER_END(h);
        stint_sample_add("sample", 6000);
        {
            REGISTER_TIMER_DYNAMIC("dynamic");
            fake_advance(6000);
        }
        CHECK(watch_take(0));
        CHECK(watch_take(1));
        CHECK(watch_take(2));
    }
}

TEST(watch, two_rules_for_one_scope) {
    setenv("STINT_CAPTURE", "a:when=other>1s;a:when=load>9us;b:when=load>5us", 1);
    scope(20000);
    CHECK(!watch_take(0) && watch_take(1) && watch_take(2));
    scope(6000);
    CHECK(!watch_take(0) && !watch_take(1) && watch_take(2));
}

static void *slow_thread(void *unused) {
    for (int i = 0; i < 1000; ++i) {
        REGISTER_TIMER("load");
        fake_advance(6000);
    }
    return unused;
}

TEST(watch, any_thread) {
    setenv("STINT_CAPTURE", "a:when=load>5us", 1);
    threads_run(4, slow_thread, NULL, 0);
    CHECK(watch_take(0));
    CHECK(!watch_take(0));
}

static void first_scope(NO_ARG) {
    scope(1);
}

TEST(watch, a_bad_rule_is_said_once_and_watches_nothing) {
    setenv("STINT_CAPTURE", "train:when=load>5", 1);
    char *text = harness_capture(2, first_scope, NULL);
    CHECK_STR_EQ(text, "stint: STINT_CAPTURE=train:when=load>5: expected ns, us, ms or s after "
                       "the number at the end; ignored\n");
    text = harness_capture(2, first_scope, NULL);
    CHECK_STR_EQ(text, "");
    scope(9000);
    CHECK(!watch_take(0));
}
