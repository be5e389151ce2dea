/* SPDX-License-Identifier: Apache-2.0 */
#include "interval_sample.h"

#include "base/arithmetic.h"
#include "node.h"
#include "registry.h"
#include "ring.h"
#include "site.h"
#include "system/clock.h"
#include "thread.h"
#include "tree.h"

/* The node of a sample without a scope, made if need be; 0: none, counted. */
static uint32_t interval_enter(enum stint_impl_kind kind, uint64_t word, uint32_t set) {
    struct thread_block *b = thread_enter(1);
    uint32_t node = 0;
    if (!b) {
        return 0;
    }
    if (site_gate_of(word) < registry_arena_gate()) {
        thread_lose(b, STINT_STATUS_ABANDONED); /* begun before a fork */
    } else {
        node = tree_get_interval(b, kind, set, site_id_of(word));
    }
    thread_leave(b);
    return node;
}

/* time: ticks, or nanoseconds in nodes of these. */
static int sample_add(enum stint_impl_kind kind, uint64_t word, uint32_t set, uint64_t start,
                      uint64_t time, uint64_t ticks) {
    if (site_is_off(word)) {
        return -1;
    }
    struct thread_block *b = thread_here(); /* NULL: the thread has none, or is inside */
    if (site_is_unnamed(word) && b) {
        thread_lose(b, STINT_STATUS_NO_NAME);
        return -1;
    }
    if (site_is_unnamed(word)) {
        arena_lose(STINT_STATUS_NO_NAME, 1);
        return -1;
    }
    int is_known = b && site_gate_of(word) >= registry_arena_gate();
    uint32_t node = 0;
    if (is_known) {
        node = tree_find_interval(b, kind, set, site_id_of(word));
    }
    if (!node) {
        node = interval_enter(kind, word, set);
        b = thread_here();
    }
    if (!node || !b) {
        return -1;
    }
    if (node_add_interval(b, tree_node(b, node), start, time, ticks)) {
        thread_lose(b, STINT_STATUS_BAD_TIME);
        return -1;
    }
    if (ticks >= b->hot.trace_min) {
        ring_add_span(b->hot.ring, node, start, time);
    }
    return 0;
}

int interval_sample_add(uint64_t word, uint32_t set, uint64_t start, uint64_t ticks) {
    return sample_add(STINT_IMPL_INTERVAL_NODE, word, set, start, ticks, ticks);
}

int interval_sample_add_ns(uint64_t word, uint64_t end, uint64_t ns) {
    uint64_t ticks = clock_ticks_of_ns(ns);
    uint64_t start = u64_max(saturating_subtract(end, ticks), 1); /* 0: no event */
    return sample_add(STINT_IMPL_NS_NODE, word, 0, start, ns, ticks);
}

void interval_count_open(uint64_t word, int64_t more) {
    if (site_is_off(word) || site_gate_of(word) < registry_arena_gate()) {
        return;
    }
    struct thread_block *b = thread_block_here();
    struct arena_header *h = arena_header(); /* NULL: the child of a fork, before its first use */
    if (b) {
        stint_impl_owner_add(&b->record->lost[ARENA_OPEN_INTERVALS], (uint64_t)more);
    } else if (h) {
        __atomic_fetch_add(&h->lost[ARENA_OPEN_INTERVALS], (uint64_t)more, __ATOMIC_RELAXED);
    }
}
