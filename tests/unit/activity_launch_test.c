/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table from a launch's number to its scope, thread and time. Places are reused and written by
 * threads and signal handlers at the same time; a lookup must return a whole entry or none.
 */
#include "activity/activity_private.h"
#include "harness_threads.h"

#include "activity_made.h"
#include "stepping.h"

static struct activity_origin origin_of(uint32_t correlation) {
    struct activity_origin o;
    memset(&o, 0xff, sizeof o);
    activity_launch_now(clock_ticks());
    activity_launch_find(correlation, &o);
    return o;
}

TEST(activity_launch, who_and_when) {
    CHECK(!activity_open());
    REGISTER_TIMER("s");
    fake_advance(5000);
    activity_launch(12);
    fake_advance(5000);
    struct activity_origin o = origin_of(12);
    CHECK(o.known);
    CHECK_EQ_U64(o.node, node_here());
    CHECK_EQ_U64(o.ticks, FAKE_START + 5000);
    const struct arena_thread *t = arena_at(o.thread);
    CHECK(t == newest_thread());
    CHECK(!origin_of(13).known);
    CHECK(!origin_of(0).known);
}

TEST(activity_launch, latest_scope_wins) {
    CHECK(!activity_open());
    activity_launch(12);
    REGISTER_TIMER("s");
    activity_launch(12);
    CHECK_EQ_U64(origin_of(12).node, node_here());
}

/* A number 65 536 away takes the place; neither is ever taken for the other. */
TEST(activity_launch, place_is_taken_over) {
    CHECK(!activity_open());
    REGISTER_TIMER("s");
    activity_launch(5);
    for (uint32_t id = 6; id < 5 + 65536; ++id) {
        activity_launch(id);
    }
    CHECK(origin_of(5).known); /* all of them fit */
    CHECK(origin_of(5 + 65535).known);
    activity_launch(5 + 65536);
    CHECK(!origin_of(5).known);
    CHECK(origin_of(5 + 65536).known);
    CHECK(!origin_of(5 + 2 * 65536).known);
    activity_launch(UINT32_MAX);
    CHECK(origin_of(UINT32_MAX).known);
    CHECK(!origin_of(65535).known || origin_of(65535).node == node_here());
}

static void *other_thread(NO_ARG) {
    activity_launch(7); /* without a recorder */
    return NULL;
}

TEST(activity_launch, thread_without_recorder) {
    CHECK(!activity_open());
    REGISTER_TIMER("s");
    thread_run(other_thread, NULL);
    struct activity_origin o = origin_of(7);
    CHECK(o.known && !o.node && !o.thread && o.ticks);
}

/* Ticks are cut to 48 bits: 26 hours of a fast counter. */
TEST(activity_launch, long_runs) {
    CHECK(!activity_open());
    fake_now = ((uint64_t)3 << 48) - 10;
    activity_launch(1);
    fake_advance(20);
    CHECK_EQ_U64(origin_of(1).ticks, ((uint64_t)3 << 48) - 10);
    activity_launch(2);
    fake_advance((uint64_t)-20); /* as another thread saw it a moment before */
    CHECK_EQ_U64(origin_of(2).ticks, ((uint64_t)3 << 48) + 10);
    fake_now = ((uint64_t)3 << 48) + 1000;
    activity_launch(3);
    fake_advance((uint64_t)-20);
    CHECK_EQ_U64(origin_of(3).ticks, ((uint64_t)3 << 48) + 1000);
}

static unsigned instructions, next_launch;

/* Between two instructions of a launch, another one 65 536 numbers away: two moments later. */
static void launch_in_between(int number) {
    (void)number;
    if (++instructions == next_launch) {
        fake_advance(1000);
        activity_launch(9 + 65536);
        fake_advance(1000);
    }
}

TEST(activity_launch, interrupted_by_one_of_its_slot) {
    NEEDS_STEPPING(launch_in_between);
    unsigned wrong = 0, known = 0, cut = 0;
    CHECK(!activity_open());
    REGISTER_TIMER("s");
    for (next_launch = 1; instructions + 1 >= next_launch; ++next_launch) {
        uint64_t at = fake_now;
        instructions = 0;
        stepping(1);
        activity_launch(9);
        stepping(0);
        struct activity_origin o = origin_of(9);
        known += o.known ? 1u : 0u;
        cut += o.known && !o.ticks ? 1u : 0u;
        wrong += o.known && o.ticks && o.ticks != at && o.ticks != at + 2000;
        o = origin_of(9 + 65536);
        wrong += o.known && o.ticks && o.ticks != at + 1000;
    }
    CHECK(next_launch > 20 && known > 10);
    CHECK(cut > 0); /* it happens, and is seen */
    CHECK_EQ_U64(wrong, 0);
}

static int stop; /* atomic */

static void *hammer(void *number) {
    uint32_t id = (uint32_t)(uintptr_t)number;
    REGISTER_TIMER_DYNAMIC(id < 65536 ? "low" : "high");
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        activity_launch(id);
    }
    return NULL;
}

/* Two threads write the same slot for two numbers: what is found is of that number. */
TEST(activity_launch, two_writers_of_one_slot) {
    pthread_t threads[2];
    unsigned seen = 0, mixed = 0;
    CHECK(!activity_open());
    fake_step = 1;
    CHECK(!pthread_create(&threads[0], NULL, hammer, (void *)(uintptr_t)9));
    CHECK(!pthread_create(&threads[1], NULL, hammer, (void *)(uintptr_t)(9 + 65536)));
    uint32_t nodes[2] = {0, 0}, records[2] = {0, 0};
    for (unsigned i = 0; i < 200000 || (seen < 100 && i < 50000000); ++i) {
        struct activity_origin o = origin_of(i % 2 ? 9 : 9 + 65536);
        if (o.known && o.thread) {
            nodes[i % 2] = nodes[i % 2] ? nodes[i % 2] : o.node;
            records[i % 2] = records[i % 2] ? records[i % 2] : o.thread;
            mixed += o.node != nodes[i % 2] || o.thread != records[i % 2];
            ++seen;
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    CHECK_EQ_U64(mixed, 0);
    CHECK(seen >= 100);
    CHECK(nodes[0] != nodes[1] || !nodes[0]);
}
