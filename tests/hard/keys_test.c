/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that has used up the keys whose values glibc keeps in the thread itself: the library
 * takes none, and finds ended threads by their numbers.
 */

#include "harness_threads.h"
#include "recorded.h"
#include "stint/stint.h"

#define THREADS 300

/* Takes thread keys before all constructors run. */
static void take_keys(void) {
    pthread_key_t key;
    for (int i = 0; i < 40; ++i) {
        pthread_key_create(&key, NULL);
    }
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = take_keys;

static void *record(void *leave_open) {
    stint_scope_begin("left open");
    if (!leave_open) {
        stint_scope_end("left open");
    }
    { REGISTER_TIMER("short"); }
    return NULL;
}

TEST(keys, short_threads_continue_each_others_recorders) {
    pthread_t t;
    for (int i = 0; i < THREADS; ++i) {
        thread_run(record, i == 0 ? &t : NULL);
    }
    CHECK_EQ_U64(calls_of("short"), THREADS);
    CHECK_EQ_U64(calls_of("left open"), THREADS);
    CHECK_EQ_U64(stat_of("left open").samples, THREADS - 1);
    CHECK_EQ_U64(lost(STINT_STATUS_ABANDONED), 1);
    CHECK(arena_header()->thread_count <= THREADS / 10); /* one may not have left the kernel yet */
}
