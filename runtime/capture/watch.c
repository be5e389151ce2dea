/* SPDX-License-Identifier: Apache-2.0 */
#include "watch.h"

#include <string.h>

#include "base/clock.h"
#include "capture_rules.h"

static const struct capture_rules *rules; /* written once, before there is a mark */
static int slow[CAPTURE_RULES];           /* any thread, relaxed */

static uint64_t ticks_over(const struct capture_rule *r) {
    return clock_ticks_of_ns(r->over_ns) + 1;
}

uint8_t watch_mark(const char *name, size_t length) {
    const struct capture_rules *all = capture_rules_get();
    for (unsigned i = 0; i < all->count; ++i) {
        const char *scope = all->rule[i].scope;
        if (*scope && strlen(scope) == length && !memcmp(scope, name, length)) {
            __atomic_store_n(&rules, all, __ATOMIC_RELEASE);
            return (uint8_t)(i + 1);
        }
    }
    return 0;
}

/* The mark is the first rule that waits for the name; others may wait for it with other limits. */
static const struct capture_rule *rule_of(uint8_t mark, unsigned i) {
    const struct capture_rules *all = __atomic_load_n(&rules, __ATOMIC_ACQUIRE);
    return all && i < all->count && !strcmp(all->rule[i].scope, all->rule[mark - 1].scope)
               ? &all->rule[i]
               : NULL;
}

uint64_t watch_limit(uint8_t mark) {
    uint64_t limit = UINT64_MAX;
    for (unsigned i = mark - 1u; mark && i < CAPTURE_RULES; ++i) {
        const struct capture_rule *r = rule_of(mark, i);
        if (r && ticks_over(r) < limit) {
            limit = ticks_over(r);
        }
    }
    return limit;
}

void watch_sample(uint8_t mark, uint64_t ticks) {
    for (unsigned i = mark - 1u; mark && i < CAPTURE_RULES; ++i) {
        const struct capture_rule *r = rule_of(mark, i);
        if (r && ticks >= ticks_over(r)) {
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
