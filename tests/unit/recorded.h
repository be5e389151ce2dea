/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions by which a test reads the recorder's data: one statistic, the ledger, the open scopes.
 */
#ifndef STINT_TESTS_RECORDED_H
#define STINT_TESTS_RECORDED_H

#include "stint/stint.h"

#include "arena/arena.h"
#include "base/status.h"
#include "fake_clock.h"
#include "harness.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define RECORDED static inline __attribute__((unused))

/* All zero if there is no such statistic. */
RECORDED stint_stat stat_of(const char *name) {
    stint_stat s;
    if (stint_stat_get(name, &s, sizeof s)) {
        memset(&s, 0, sizeof s);
    }
    return s;
}

RECORDED uint64_t calls_of(const char *name) {
    return stat_of(name).calls;
}

RECORDED const struct arena_thread *newest_thread(void) {
    uint32_t unit =
        arena.base ? __atomic_load_n(&arena_header()->first_thread, __ATOMIC_ACQUIRE) : 0;
    return unit ? (const struct arena_thread *)arena_at(unit) : NULL;
}

RECORDED const struct arena_thread *next_thread(const struct arena_thread *t) {
    return t->next ? (const struct arena_thread *)arena_at(t->next) : NULL;
}

/* Says how the code of all sites so far was built, however this test was. */
RECORDED void set_plain(int plain) {
    for (uint32_t id = 1; id <= arena_header()->site_count; ++id) {
        arena_site_at(id)->plain = plain != 0;
    }
}

/* The count of a loss since the arena was opened, of all threads and outside of threads. */
RECORDED uint64_t lost(enum stint_status what) {
    uint64_t n = arena.base ? STINT_IMPL_LOAD(&arena_header()->lost[what]) : 0;
    for (const struct arena_thread *t = newest_thread(); t; t = next_thread(t)) {
        n += STINT_IMPL_LOAD(&t->lost[what]);
    }
    return n;
}

RECORDED uint64_t lost_in_all(void) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        n += lost((enum stint_status)i);
    }
    return n;
}

/* Open scopes of the calling thread. */
RECORDED uint64_t open_scopes(void) {
    const struct stint_impl_thread *t = stint_impl_thread_here;
    const struct stint_impl_frame *last = t->last - (t->base ? STINT_IMPL_DEPTH : 0);
    return (uint64_t)(t->top - last);
}

RECORDED uint64_t arena_used(void) {
    return __atomic_load_n(&arena_header()->used, __ATOMIC_RELAXED);
}

#endif
