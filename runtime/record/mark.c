/* SPDX-License-Identifier: Apache-2.0 */
/*
 * STINT_TIMER_MARK and STINT_TIMER_VALUE: events of the trace without a scope.
 */
#include "recorder.h"

#include <string.h>

#include "base/errno_keep.h"
#include "dynamic.h"
#include "registry.h"
#include "ring.h"
#include "site.h"
#include "thread.h"

/* The block if there is a trace for an event of that word; *site its number. */
static struct thread_block *word_enter(struct thread_block *b, uint64_t word, uint64_t *site) {
    if (site_is_off(word) || !b->hot.ring) {
        return NULL;
    }
    if (site_is_unnamed(word)) {
        thread_lose(b, STINT_STATUS_NO_NAME);
        return NULL;
    }
    *site = site_id_of(word);
    return b;
}

/* The thread's block if there is a trace for the event; *site its number. */
static struct thread_block *site_enter(struct stint_impl_site *from, uint64_t *site) {
    uint64_t word = site_get_word(from);
    struct thread_block *b = thread_here();
    if (!b || site_gate_of(word) != registry_gate()) {
        b = thread_enter(1);
        if (!b) {
            return NULL;
        }
        word = site_resolve(from);
        thread_leave(b);
    }
    return word_enter(b, word, site);
}

static struct thread_block *name_enter(const char *name, uint64_t length, uint64_t *site) {
    uint64_t word = dynamic_word(name, length);
    struct thread_block *b = thread_here();
    if (!word || !b) {
        return NULL;
    }
    return word_enter(b, word, site);
}

static uint64_t event_at(uint64_t kind, uint64_t ticks) {
    return kind << STINT_IMPL_EVENT_KIND | ticks;
}

static void put_mark(struct thread_block *b, uint64_t site) {
    stint_impl_ring_add(b->hot.ring, event_at(STINT_IMPL_EVENT_MARK, clock_ticks()), site);
}

static void put_value(struct thread_block *b, uint64_t site, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    ring_add_pair(b->hot.ring, event_at(STINT_IMPL_EVENT_VALUE, clock_ticks()), site, bits);
}

void mark_add(struct stint_impl_site *from) {
    ERRNO_KEEP;
    uint64_t site;
    struct thread_block *b = site_enter(from, &site);
    if (b) {
        put_mark(b, site);
    }
}

void mark_add_value(struct stint_impl_site *from, double value) {
    ERRNO_KEEP;
    uint64_t site;
    struct thread_block *b = site_enter(from, &site);
    if (b) {
        put_value(b, site, value);
    }
}

void mark_add_named(const char *name, uint64_t length) {
    ERRNO_KEEP;
    uint64_t site;
    struct thread_block *b = name_enter(name, length, &site);
    if (b) {
        put_mark(b, site);
    }
}

void mark_add_named_value(const char *name, uint64_t length, double value) {
    ERRNO_KEEP;
    uint64_t site;
    struct thread_block *b = name_enter(name, length, &site);
    if (b) {
        put_value(b, site, value);
    }
}
