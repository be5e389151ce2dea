/* SPDX-License-Identifier: Apache-2.0 */
#include "measured.h"

static uint64_t block_bytes(struct measure_range range) {
    return sizeof(struct arena_measures) + range.count * sizeof(uint64_t);
}

struct arena_measures *measured_find(char *base, const struct stint_impl_node *n,
                                     enum measure_group group) {
    struct measure_range range = measure_range_of(group);
    uint32_t unit = __atomic_load_n(&n->measures, __ATOMIC_ACQUIRE);
    while (unit) {
        struct arena_measures *block =
            (struct arena_measures *)(void *)(base + (uint64_t)unit * STINT_IMPL_UNIT);
        if (block->range.first == range.first) {
            return block;
        }
        unit = block->next;
    }
    return NULL;
}

/* Puts the block first in the node's list. A signal handler may have put one of the group there
 * since it was looked for: then that one counts, and the new one stays unused. */
static struct arena_measures *block_link(char *base, struct stint_impl_node *n,
                                         enum measure_group group, uint32_t unit) {
    struct arena_measures *block =
        (struct arena_measures *)(void *)(base + (uint64_t)unit * STINT_IMPL_UNIT);
    do {
        block->next = STINT_IMPL_LOAD(&n->measures); /* before the look */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        struct arena_measures *other = measured_find(base, n, group);
        if (other) {
            return other;
        }
    } while (!__atomic_compare_exchange_n(&n->measures, &block->next, unit, 0, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED));
    return block;
}

struct arena_measures *measured_get(struct thread_block *b, struct stint_impl_node *n,
                                    enum measure_group group) {
    return measured_get_with(b, n, group, 0);
}

struct arena_measures *measured_get_with(struct thread_block *b, struct stint_impl_node *n,
                                         enum measure_group group, uint32_t bytes) {
    struct arena_measures *block = measured_find(b->hot.base, n, group);
    if (block) {
        return block;
    }
    struct measure_range range = measure_range_of(group);
    uint32_t unit = 0;
    if (b->hot.base == arena.base) { /* else a signal handler has forked */
        unit = arena_get(block_bytes(range) + bytes, ARENA_RECORD);
    }
    if (!unit) {
        thread_lose(b, STINT_STATUS_NO_MEASURES);
        return NULL;
    }
    block = (struct arena_measures *)(void *)(b->hot.base + (uint64_t)unit * STINT_IMPL_UNIT);
    block->range = range;
    return block_link(b->hot.base, n, group, unit);
}
