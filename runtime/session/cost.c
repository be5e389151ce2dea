/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the measurement the thread-local pointer points to a separate recorder with a root, one node
 * and one histogram. A signal handler that opens a scope meanwhile finds this recorder busy; its
 * scope is counted as lost. The site has the number 0, which no arena has: the slow path looks up
 * nothing about it.
 */
#include "cost.h"

#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/scratch.h"
#include "ranges/ranges.h"
#include "record/registry.h"
#include "record/thread.h"

#define ROUNDS 8 /* the best of */
#define PAIRS 64

#define UNITS(bytes) ((bytes) / STINT_IMPL_UNIT)
#define UNIT_ROOT 1u
#define UNIT_NODE (UNIT_ROOT + (uint32_t)UNITS(sizeof(struct stint_impl_node)))
#define UNIT_HISTOGRAM (UNIT_NODE + (uint32_t)UNITS(sizeof(struct stint_impl_node)))
#define UNIT_SAMPLED (UNIT_HISTOGRAM + (uint32_t)UNITS(sizeof(struct stint_impl_histogram)))
#define UNIT_END (UNIT_SAMPLED + (uint32_t)UNITS(sizeof(struct stint_impl_sampled)))

struct bench {
    struct thread_block block;
    struct arena_thread record;
    struct stint_impl_frame frames[4];
    char arena[(UNIT_END + 1) * STINT_IMPL_UNIT];
};

static void *cost_unit(const struct bench *b, uint32_t unit) {
    return b->block.hot.base + (size_t)unit * STINT_IMPL_UNIT;
}

static void cost_prepare(struct bench *b, char *base, struct stint_impl_site *site) {
    struct stint_impl_thread *t = &b->block.hot;
    t->gate = 1;
    t->base = base;
    t->top = b->frames;
    t->last = b->frames + 3;
    t->trace_min = UINT64_MAX;
    for (size_t i = 0; i < sizeof b->frames / sizeof *b->frames; ++i) {
        b->frames[i].node = UNIT_ROOT;
    }
    b->frames[0].low = UINT64_MAX;
    b->record.root = UNIT_ROOT;
    b->block.record = &b->record;
    b->block.frames = b->frames;
    b->block.busy = 1;
    struct stint_impl_node *n = cost_unit(b, UNIT_NODE);
    n->min = 0;
    n->span = STINT_IMPL_SLOW_TICKS;
    n->parent = UNIT_ROOT;
    n->histogram = UNIT_HISTOGRAM;
    t->near[0] = n;
    site->word = (uint64_t)1 << 32;
}

/* As sample.c leaves a node: found by its edge, and each of its timed calls ends on the slow path. */
static void cost_prepare_sampled(struct bench *b) {
    struct stint_impl_thread *t = &b->block.hot;
    struct stint_impl_node *n = cost_unit(b, UNIT_NODE);
    struct stint_impl_sampled *s = cost_unit(b, UNIT_SAMPLED);
    t->near[0] = cost_unit(b, UNIT_ROOT);
    t->edges = b->block.first_edges;
    t->edge_shift = 64 - THREAD_EDGE_BITS;
    t->edges[stint_impl_edge_slot(stint_impl_edge_key(UNIT_ROOT, 0, 0), t->edge_shift)] = UNIT_NODE;
    s->weight = 1;
    s->random = 1;
    n->gpu = UNIT_SAMPLED;
    n->kind = STINT_IMPL_SAMPLED;
    n->span = 0;
}

static uint64_t cost_measure(struct bench *b, struct stint_impl_site *site) {
    struct stint_impl_sampled *s = cost_unit(b, UNIT_SAMPLED);
    uint64_t best = UINT64_MAX;
    stint_impl_opened guard;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t from = clock_ticks();
        for (int i = 0; i < PAIRS; ++i) {
            STINT_IMPL_STORE(&s->left, 0);
            stint_impl_begin_body(&guard, site, 0);
            stint_impl_end_body(&guard, 0);
        }
        uint64_t ticks = clock_ticks() - from;
        best = u64_min(best, ticks);
    }
    return best * 1000 / PAIRS;
}

static uint64_t cost_of(void (*prepare_more)(struct bench *b)) {
    struct bench *b = pages_get(sizeof *b);
    struct stint_impl_site site = {0};
    if (!b) {
        return 0;
    }
    uint64_t misalign = (uint64_t)(uintptr_t)b->arena % STINT_IMPL_UNIT;
    cost_prepare(b, b->arena + (STINT_IMPL_UNIT - misalign) % STINT_IMPL_UNIT, &site);
    if (prepare_more) {
        prepare_more(b);
    }
    /* At once: after a fork in a signal handler between the two, `mine` would be the parent's. */
    struct stint_impl_thread *mine =
        __atomic_exchange_n(&stint_impl_thread_here, &b->block.hot, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t cost = cost_measure(b, &site);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stint_impl_thread_here = mine;
    pages_put(b, sizeof *b);
    registry_settle(); /* in a child that a signal handler forked meanwhile */
    return cost;
}

uint64_t cost_ticks_x1000(void) {
    return cost_of(NULL);
}

/* With NVTX ranges the slow path would end one that was not begun. */
uint64_t cost_sampled_x1000(void) {
    if (ranges_on()) {
        return cost_of(NULL);
    }
    return cost_of(cost_prepare_sampled);
}
