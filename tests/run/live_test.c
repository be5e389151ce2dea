/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading while four threads write: no mean outside its bounds, no event that is half another.
 */

#include "harness_threads.h"
#include "run_support.h"

#define THREADS 4
#define ROUNDS 1000

static int stop;
static unsigned going;

static void inner(void) {
    REGISTER_TIMER("inner");
    TIMER_VALUE("value", 0.5);
}

static void *work(void *unused) {
    __atomic_add_fetch(&going, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        REGISTER_TIMER("outer");
        inner();
        TIMER_MARK("mark");
    }
    return unused;
}

static void check_nodes(const struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->count && !CHECK(n->count * n->min <= n->total && n->total <= n->count * n->max)) {
            break;
        }
    }
}

static void check_events(const struct traced *t) {
    traced_check(t);
    for (uint64_t i = 0; i < t->t.event_count; ++i) {
        const struct trace_event *e = &t->events[i];
        CHECK(e->kind != TRACE_VALUE || e->value == 0.5);
        CHECK(e->kind != TRACE_SPAN || e->duration_ns > 0);
    }
}

static void read_often(int only_nodes) {
    pthread_t threads[THREADS];
    uint64_t before = 0;
    fake_step = 1;
    setenv("STINT_TRACE", "20K", 1);
    timed("first", 1);
    threads_start(threads, THREADS, work, NULL, 0);
    while (__atomic_load_n(&going, __ATOMIC_ACQUIRE) < THREADS) {
        sched_yield();
    }
    for (int i = 0; i < (only_nodes ? ROUNDS : ROUNDS / 5) || before <= 1000; ++i) {
        struct traced t;
        uint64_t calls = 0;
        if (!CHECK(!snapshot_take(&t.s))) {
            break;
        }
        check_nodes(&t.s);
        if (!only_nodes && CHECK(!traced_read(&t))) {
            check_events(&t);
        }
        for (uint32_t k = 0; k < t.s.node_count; ++k) {
            calls += t.s.nodes[k].count;
        }
        CHECK(calls >= before);
        before = calls;
        snapshot_free(&t.s);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    threads_join(threads, THREADS);
    CHECK_EQ_U64(lost_in_all() - lost(STINT_STATUS_NO_TRACE), 0);
}

TEST(live, statistics_in_memory) {
    read_often(1);
}

TEST(live, traces_in_memory) {
    read_often(0);
}

TEST(live, statistics_in_a_file) {
    run_begin("run");
    read_often(1);
}

TEST(live, traces_in_a_file) {
    run_begin("run");
    read_often(0);
}
