/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <string.h>

#include "base/arithmetic.h"
#include "system/clock.h"

static const struct watch_scope *scopes; /* release, acquire; written once */
static unsigned scope_count;
static int slow[WATCH_SCOPES]; /* any thread, relaxed */

void watch_set_scopes(const struct watch_scope *list, unsigned count) {
    scope_count = (unsigned)u64_min(count, WATCH_SCOPES);
    __atomic_store_n(&scopes, list, __ATOMIC_RELEASE);
}

static uint64_t ticks_over(const struct watch_scope *s) {
    return clock_ticks_of_ns(s->over_ns) + 1;
}

uint8_t watch_mark(const char *name, size_t length) {
    const struct watch_scope *all = __atomic_load_n(&scopes, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; all && i < scope_count; ++i) {
        const char *scope = all[i].name;
        if (scope && strlen(scope) == length && !memcmp(scope, name, length)) {
            return (uint8_t)(i + 1);
        }
    }
    return 0;
}

/* The mark is the first scope of that name; others may have the same name and another limit. */
static const struct watch_scope *scope_of(uint8_t mark, unsigned i) {
    const struct watch_scope *all = __atomic_load_n(&scopes, __ATOMIC_ACQUIRE);
    if (!all || i >= scope_count || !all[i].name || strcmp(all[i].name, all[mark - 1].name) != 0) {
        return NULL;
    }
    return &all[i];
}

uint64_t watch_limit(uint8_t mark) {
    uint64_t limit = UINT64_MAX;
    for (unsigned i = mark - 1u; mark && i < WATCH_SCOPES; ++i) {
        const struct watch_scope *s = scope_of(mark, i);
        if (s && ticks_over(s) < limit) {
            limit = ticks_over(s);
        }
    }
    return limit;
}

void watch_sample(uint8_t mark, uint64_t ticks) {
    for (unsigned i = mark - 1u; mark && i < WATCH_SCOPES; ++i) {
        const struct watch_scope *s = scope_of(mark, i);
        if (s && ticks >= ticks_over(s)) {
            __atomic_store_n(&slow[i], 1, __ATOMIC_RELAXED);
        }
    }
}

int watch_take(unsigned i) {
    return __atomic_exchange_n(&slow[i], 0, __ATOMIC_RELAXED);
}

void watch_forget(void) {
    memset(slow, 0, sizeof slow);
}
