/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The registry: opening at first use, and the gate that makes every thread look at changed
 * settings. No scope may be lost while the gate moves.
 */
#include "harness_threads.h"
#include "record/registry.h"

#include "record/thread.h"
#include "recorded.h"
#include "system/clock.h"

TEST(registry, first_lock_opens_everything) {
    CHECK(arena.base == NULL);
    registry_lock();
    CHECK(registry_held());
    registry_unlock();
    CHECK(!registry_held());
    CHECK(arena.base != NULL);
    CHECK_EQ_U64(arena.size, 1 << 30);
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

static void off_scope(void) {
    REGISTER_TIMER("off on threads");
    fake_advance(1);
}

static void *without_recorder(void *unused) {
    CHECK(thread_block_here() == NULL);
    CHECK_EQ_U64(stint_impl_thread_here->gate, registry_gate());
    stint_impl_opened guard = 1;
    struct stint_impl_site site = {.name = "x"};
    site.word = (uint64_t)registry_gate() << 32;
    /* A scope that is off takes neither the slow path nor a recorder. */
    guard = stint_impl_begin_body(&guard, &site, 0);
    CHECK_EQ_U64(guard, 0);
    off_scope();
    CHECK(thread_block_here() == NULL);
    return unused;
}

static void *with_recorder(void *unused) {
    off_scope();
    CHECK(thread_block_here() != NULL);
    return unused;
}

static void run_on_a_thread(void *(*function)(void *)) {
    thread_run(function, NULL);
}

/* A thread that starts when all its scopes are off never gets a recorder: it has the gate
 * nevertheless, so that they return at once. */
TEST(registry, threads_without_a_recorder_have_the_gate) {
    for (int i = 0; i < 3; ++i) { /* from the second call on its edge is tried first */
        off_scope();
    }
    stint_timers_enable(0);
    off_scope();
    run_on_a_thread(without_recorder);
    stint_filter_set("-nothing");
    off_scope();
    run_on_a_thread(without_recorder);
    stint_timers_enable(1);
    run_on_a_thread(with_recorder);
    CHECK_EQ_U64(calls_of("off on threads"), 4);
}

static void switched_on_in_the_child(void) {
    CHECK(stint_impl_thread_here->gate != registry_gate()); /* until the first scope */
    off_scope();
    run_on_a_thread(without_recorder);
    stint_timers_enable(1);
    run_on_a_thread(with_recorder);
}

/* The gates of the parent are no longer current in the child. */
TEST(registry, threads_of_a_child_have_the_gate) {
    off_scope();
    stint_timers_enable(0);
    off_scope();
    harness_in_child(switched_on_in_the_child);
    run_on_a_thread(without_recorder);
}

TEST(registry, switched_off_by_the_environment) {
    setenv("STINT_ENABLE", "0", 1);
    {
        REGISTER_TIMER("off");
        fake_advance(1);
    }
    CHECK_EQ_U64(calls_of("off"), 0);
    stint_timers_enable(1); /* a call has the last word */
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
#if defined(__SANITIZE_ADDRESS__)
    SKIP("the address sanitizer's marks stay on a stack that cancellation unwound");
#endif
    setenv("STINT_UNIT", "parsecs", 1);
    thread_run(cancelled, NULL);
    { REGISTER_TIMER("afterwards"); }
    CHECK_EQ_U64(calls_of("afterwards"), 1);
}

static void *advances(void *unused) {
    for (int i = 0; i < 3000; ++i) {
        stint_level_set(i % 2);
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
    threads_join(t, 3);
    CHECK_EQ_U64(calls_of("records"), 60000);
    CHECK_EQ_U64(lost_in_all(), 0);
}
