/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TIMER_MARK and TIMER_VALUE: events of the trace without a scope.
 */
#include "mark.h"

#include <string.h>

#include "base/errno_keep.h"
#include "registry.h"
#include "ring.h"
#include "site.h"
#include "thread.h"

/* The thread's block if there is a trace for the event; *site its number. */
static struct thread_block *site_enter(struct stint_impl_site *from, uint64_t *site) {
    uint64_t word = STINT_IMPL_LOAD(&from->word);
    struct thread_block *b = thread_here();
    if (!b || site_gate_of(word) != registry_gate()) {
        b = thread_enter(1);
        if (!b) {
            return NULL;
        }
        word = site_resolve(from);
        thread_leave(b);
    }
    if (site_is_off(word) || !b->hot.ring) {
        return NULL;
    }
    if (site_is_unnamed(word)) {
        thread_lose(b, STINT_STATUS_NO_NAME);
        return NULL;
    }
    *site = word & STINT_IMPL_SITE_ID;
    return b;
}

static uint64_t event_at(uint64_t kind, uint64_t ticks) {
    return kind << STINT_IMPL_EVENT_KIND | ticks;
}

void mark_add(struct stint_impl_site *from) {
    ERRNO_KEEP;
    uint64_t site;
    struct thread_block *b = site_enter(from, &site);
    if (b) {
        stint_impl_ring_add(b->hot.ring, event_at(STINT_IMPL_EVENT_MARK, clock_ticks()), site);
    }
}

void mark_add_value(struct stint_impl_site *from, double value) {
    ERRNO_KEEP;
    uint64_t site, bits;
    struct thread_block *b = site_enter(from, &site);
    if (b) {
        memcpy(&bits, &value, sizeof bits);
        ring_add_pair(b->hot.ring, event_at(STINT_IMPL_EVENT_VALUE, clock_ticks()), site, bits);
    }
}
