/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a node besides its times, from where they are written to the rows. */
#include "harness_threads.h"
#include "record/measured.h"

#include "model/baseline.h"
#include "record/tree.h"
#include "recorded.h"
#include "support.h"

/* Writes into the innermost open scope of this thread. */
static void queued(uint64_t calls, uint64_t ns) {
    struct thread_block *b = thread_enter(1);
    if (!CHECK(b != NULL)) {
        return;
    }
    struct stint_impl_node *n = tree_node(b, thread_innermost(b)->node);
    struct arena_measures *block = measured_get(b, n, MEASURE_GROUP_QUEUE);
    if (CHECK(block != NULL)) {
        CHECK(measured_get(b, n, MEASURE_GROUP_QUEUE) == block);
        CHECK(measured_find(b->hot.base, n, MEASURE_GROUP_QUEUE) == block);
        measure_add(block, MEASURE_QUEUE_CALLS, calls);
        measure_add(block, MEASURE_QUEUE_NS, ns);
    }
    thread_leave(b);
}

/* One call of 10 ms with 1 ms of CPU time, of the innermost open scope. */
static void waited(uint64_t waits, uint64_t preemptions) {
    struct thread_block *b = thread_enter(1);
    if (!CHECK(b != NULL)) {
        return;
    }
    struct stint_impl_node *n = tree_node(b, thread_innermost(b)->node);
    struct arena_measures *block = measured_get(b, n, MEASURE_GROUP_CPU);
    if (CHECK(block != NULL)) {
        measure_add(block, MEASURE_CPU_CALLS, 1);
        measure_add(block, MEASURE_CPU_WALL_NS, 10000000);
        measure_add(block, MEASURE_CPU_NS, 1000000);
        measure_add(block, MEASURE_CPU_WAITS, waits);
        measure_add(block, MEASURE_CPU_PREEMPTIONS, preemptions);
    }
    thread_leave(b);
}

static void waited_in(const char *name, uint64_t waits, uint64_t preemptions) {
    REGISTER_TIMER_DYNAMIC(name);
    waited(waits, preemptions);
}

static void *work(void *ns) {
    REGISTER_TIMER("work");
    fake_advance(10);
    queued(1, *(uint64_t *)ns);
    return NULL;
}

static void work_on_a_thread(uint64_t ns) {
    thread_run(work, &ns);
}

TEST(measured, threads_are_added_up) {
    uint64_t ns = 100;
    work(&ns);
    work_on_a_thread(40);
    timed("other", 5);
    const struct stint_row *r = row_now("work");
    CHECK_EQ_U64(r->has & ROW_QUEUE, ROW_QUEUE);
    CHECK_EQ_U64(r->extra->measure[MEASURE_QUEUE_CALLS], 2);
    CHECK_EQ_U64(r->extra->measure[MEASURE_QUEUE_NS], 140);
    CHECK_EQ_U64(r->extra->queue_avg_ns, 70);
    CHECK_EQ_U64(row_now("other")->has & ROW_QUEUE, 0);
}

/* A switch is involuntary if the thread could have gone on: see getrusage(2). */
TEST(measured, a_scope_that_only_lacks_a_processor_does_not_wait) {
    waited_in("sleeps", 1, 0);
    waited_in("sleeps preempted", 1, 9);
    waited_in("spins", 0, 9);
    waited_in("switches are unknown", 0, 0);
    CHECK(row_now("sleeps")->extra->mostly_waits);
    CHECK(row_now("sleeps preempted")->extra->mostly_waits);
    const struct stint_row *r = row_now("spins");
    CHECK(!r->extra->mostly_waits);
    CHECK_EQ_U64(r->extra->on_cpu_ppm, 100000);
    CHECK(row_now("switches are unknown")->extra->mostly_waits);
}

/* So many calls of 10 ms whose CPU time is read but for the first, then one that is not. */
static const struct stint_row *waited_before(uint64_t calls, uint64_t then_ns) {
    for (uint64_t i = 0; i < calls; ++i) {
        REGISTER_TIMER("request");
        fake_advance(10000000);
        if (i) {
            waited(1, 0);
        }
    }
    timed("request", then_ns);
    return row_now("request");
}

/* The calls that were read are half of the row's time, but for its first call; else the CPU time of
 * the row is not known. */
TEST(measured, a_mark_needs_most_of_the_time) {
    const struct stint_row *r = waited_before(3, 20000000);
    CHECK_EQ_U64(r->has & ROW_ON_CPU, ROW_ON_CPU);
    CHECK(r->extra->mostly_waits);
    r = waited_before(0, 2);
    CHECK_EQ_U64(r->has & (ROW_CPU | ROW_ON_CPU), ROW_CPU);
    CHECK(!r->extra->mostly_waits);
    CHECK_EQ_U64(r->extra->cpu_ns, 2000000);
}

TEST(measured, the_second_call_is_most_of_two) {
    CHECK(waited_before(2, 1)->extra->mostly_waits);
}

TEST(measured, numbers_of_an_open_scope_are_seen) {
    REGISTER_TIMER("open");
    queued(1, 7);
    CHECK_EQ_U64(row_now("open")->extra->queue_avg_ns, 7);
}

TEST(measured, a_reset_subtracts_sums) {
    uint64_t ns = 100;
    work(&ns);
    stint_reset();
    CHECK_EQ_U64(row_now("work")->extra->queue_avg_ns, 0);
    ns = 30;
    work(&ns);
    const struct stint_row *r = row_now("work");
    CHECK_EQ_U64(r->extra->measure[MEASURE_QUEUE_CALLS], 1);
    CHECK_EQ_U64(r->extra->queue_avg_ns, 30);
}

/* A reset of one set keeps what an older one said of the others. */
TEST(measured, resets_of_sets_keep_each_other) {
    stint_set *set = stint_set_get("mine");
    uint64_t ns = 100;
    work(&ns);
    {
        REGISTER_TIMER("in", -1, set);
        queued(1, 5);
    }
    stint_reset();
    ns = 20;
    work(&ns);
    {
        REGISTER_TIMER("in", -1, set);
        queued(1, 6);
    }
    stint_set_reset(set);
    CHECK_EQ_U64(row_now("work")->extra->measure[MEASURE_QUEUE_NS], 20);
}

TEST(measured, without_memory_it_is_counted) {
    REGISTER_TIMER("scope");
    struct thread_block *b = thread_enter(1);
    if (!CHECK(b != NULL)) {
        return;
    }
    while (arena_get(64, ARENA_RECORD)) {
    }
    struct stint_impl_node *n = tree_node(b, thread_innermost(b)->node);
    CHECK(measured_get(b, n, MEASURE_GROUP_QUEUE) == NULL);
    CHECK_EQ_U64(lost(STINT_STATUS_NO_MEASURES), 1);
    thread_leave(b);
}

/* Readers ignore invalid block numbers in a file. */
TEST(measured, blocks_of_a_broken_file_are_left_out) {
    REGISTER_TIMER("scope");
    queued(1, 50);
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = tree_node(b, thread_innermost(b)->node);
    struct arena_measures *block = measured_find(b->hot.base, n, MEASURE_GROUP_QUEUE);
    uint32_t unit = n->measures;
    thread_leave(b);
    block->next = unit; /* a circle */
    CHECK_EQ_U64(row_now("scope")->extra->queue_avg_ns, 50);
    block->range.count = 0;
    CHECK_EQ_U64(row_now("scope")->has & ROW_QUEUE, 0);
    STINT_IMPL_STORE(&n->measures, UINT32_MAX);
    CHECK_EQ_U64(row_now("scope")->has & ROW_QUEUE, 0);
    STINT_IMPL_STORE(&n->measures, 0);
}

/* Files of later versions have more values in a group, those of earlier ones have fewer. */
TEST(measured, groups_of_other_versions_are_read_as_far_as_known) {
    REGISTER_TIMER("scope");
    queued(1, 50);
    struct thread_block *b = thread_enter(1);
    struct stint_impl_node *n = tree_node(b, thread_innermost(b)->node);
    struct arena_measures *cpu = measured_get(b, n, MEASURE_GROUP_CPU);
    struct arena_measures *queue = measured_find(b->hot.base, n, MEASURE_GROUP_QUEUE);
    thread_leave(b);
    cpu->range.first = 4095; /* a group that is not known; the next block is still read */
    queue->range.count = 3;
    CHECK_EQ_U64(row_now("scope")->extra->queue_avg_ns, 50);
    queue->range.count = 1;
    CHECK_EQ_U64(row_now("scope")->extra->measure[MEASURE_QUEUE_CALLS], 1);
    CHECK_EQ_U64(row_now("scope")->extra->measure[MEASURE_QUEUE_NS], 0);
    queue->range.count = 2;
}
