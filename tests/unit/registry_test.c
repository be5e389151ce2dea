/* SPDX-License-Identifier: Apache-2.0 */
#include "record/registry.h"

#include <pthread.h>

#include "base/clock.h"
#include "record/thread.h"
#include "recorded.h"

TEST(registry, first_lock_opens_everything) {
    CHECK(arena.base == NULL);
    registry_lock();
    CHECK(registry_held());
    registry_unlock();
    CHECK(!registry_held());
    CHECK(arena.base != NULL);
    CHECK_EQ_U64(arena.size, 64 << 20);
    CHECK_EQ_U64(arena_header()->set_count, 1);
    CHECK(registry_gate() != 0);
    CHECK_EQ_U64(registry_arena_gate(), registry_gate());
}

TEST(registry, environment_is_read_at_first_use) {
    setenv("STINT_MEMORY", "2M", 1);
    setenv("STINT_CLOCK", "monotonic", 1);
    registry_lock();
    registry_unlock();
    CHECK_EQ_U64(arena.size, 2 << 20);
    CHECK(clock_kind() == CLOCK_KIND_MONOTONIC);
    setenv("STINT_MEMORY", "4M", 1);
    registry_lock();
    registry_unlock();
    CHECK_EQ_U64(arena.size, 2 << 20);
}

TEST(registry, gate_moves_every_thread_on) {
    { REGISTER_TIMER("scope"); }
    uint32_t before = registry_gate();
    CHECK_EQ_U64(stint_impl_thread_here->gate, before);
    registry_lock();
    registry_advance();
    registry_unlock();
    CHECK_EQ_U64(registry_gate(), before + 1);
    CHECK_EQ_U64(stint_impl_thread_here->gate, before + 1);
}

TEST(registry, a_thread_inside_takes_the_gate_when_it_leaves) {
    struct thread_block *b = thread_enter(1);
    CHECK_EQ_U64(b->hot.gate, STINT_IMPL_SHUT);
    registry_lock();
    registry_advance();
    registry_unlock();
    CHECK_EQ_U64(b->hot.gate, STINT_IMPL_SHUT);
    thread_leave(b);
    CHECK_EQ_U64(b->hot.gate, registry_gate());
}

TEST(registry, switched_off_by_the_environment) {
    setenv("STINT_ENABLE", "0", 1);
    {
        REGISTER_TIMER("off");
        fake_advance(1);
    }
    CHECK_EQ_U64(calls_of("off"), 0);
    stint_enable(1); /* a call has the last word */
    {
        REGISTER_TIMER("on");
        fake_advance(1);
    }
    CHECK_EQ_U64(calls_of("on"), 1);
}

/* Cancelled while the environment is read and complained about: the lock must not stay taken. */
static void *cancelled(void *unused) {
    pthread_cancel(pthread_self());
    REGISTER_TIMER("cancelled");
    pthread_testcancel();
    return unused;
}

TEST(registry, cancelled_inside_the_first_use) {
    pthread_t t;
    setenv("STINT_UNIT", "parsecs", 1);
    CHECK(pthread_create(&t, NULL, cancelled, NULL) == 0);
    pthread_join(t, NULL);
    { REGISTER_TIMER("afterwards"); }
    CHECK_EQ_U64(calls_of("afterwards"), 1);
}

static void *advances(void *unused) {
    for (int i = 0; i < 3000; ++i) {
        stint_use_level(i % 2);
    }
    return unused;
}

static void *records(void *unused) {
    for (int i = 0; i < 30000; ++i) {
        REGISTER_TIMER("records");
    }
    return unused;
}

TEST(registry, no_scope_is_lost_to_a_moving_gate) {
    pthread_t t[3];
    for (int i = 0; i < 3; ++i) {
        CHECK(pthread_create(&t[i], NULL, i ? records : advances, NULL) == 0);
    }
    for (int i = 0; i < 3; ++i) {
        pthread_join(t[i], NULL);
    }
    CHECK_EQ_U64(calls_of("records"), 60000);
    CHECK_EQ_U64(lost_in_all(), 0);
}

HARNESS_MAIN()
