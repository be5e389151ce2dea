/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the measurement the thread-local pointer points to a separate recorder with one node and one
 * histogram. A signal handler that opens a scope meanwhile finds this recorder busy; its scope is
 * counted as lost.
 */
#include "cost.h"

#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/scratch.h"
#include "record/registry.h"
#include "record/thread.h"

#define ROUNDS 8 /* the best of */
#define PAIRS 64

struct bench {
    struct thread_block block;
    struct arena_thread record;
    struct stint_impl_frame frames[4];
    char arena[2 * STINT_IMPL_UNIT + sizeof(struct stint_impl_node) +
               sizeof(struct stint_impl_histogram)];
};

static void cost_prepare(struct bench *b, char *base, struct stint_impl_site *site) {
    uint32_t node = 1, histogram = node + sizeof(struct stint_impl_node) / STINT_IMPL_UNIT;
    struct stint_impl_node *n =
        (struct stint_impl_node *)(void *)(base + (size_t)node * STINT_IMPL_UNIT);
    n->min = 0;
    n->span = STINT_IMPL_SLOW_TICKS;
    n->site = 1;
    n->histogram = histogram;
    struct stint_impl_thread *t = &b->block.hot;
    t->gate = 1;
    t->base = base;
    t->top = b->frames;
    t->last = b->frames + 3;
    t->trace_min = UINT64_MAX;
    b->frames[0].low = UINT64_MAX;
    b->block.record = &b->record;
    b->block.busy = 1;
    t->near[1] = n; /* the root of its frames is 0 */
    site->word = (uint64_t)1 << 32 | 1;
}

static uint64_t cost_measure(struct stint_impl_site *site) {
    uint64_t best = UINT64_MAX;
    stint_impl_opened guard;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t from = clock_ticks();
        for (int i = 0; i < PAIRS; ++i) {
            stint_impl_begin_body(&guard, site, 0);
            stint_impl_end_body(&guard, 0);
        }
        uint64_t ticks = clock_ticks() - from;
        best = u64_min(best, ticks);
    }
    return best * 1000 / PAIRS;
}

uint64_t cost_ticks_x1000(void) {
    struct bench *b = pages_get(sizeof *b);
    struct stint_impl_site site = {0};
    if (!b) {
        return 0;
    }
    uint64_t misalign = (uint64_t)(uintptr_t)b->arena % STINT_IMPL_UNIT;
    cost_prepare(b, b->arena + (STINT_IMPL_UNIT - misalign) % STINT_IMPL_UNIT, &site);
    /* At once: after a fork in a signal handler between the two, `mine` would be the parent's. */
    struct stint_impl_thread *mine =
        __atomic_exchange_n(&stint_impl_thread_here, &b->block.hot, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t cost = cost_measure(&site);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stint_impl_thread_here = mine;
    pages_put(b, sizeof *b);
    registry_settle(); /* in a child that a signal handler forked meanwhile */
    return cost;
}
