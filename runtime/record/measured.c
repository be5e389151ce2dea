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
    uint32_t unit = arena_get(block_bytes(range) + bytes, ARENA_RECORD);
    if (!unit) {
        thread_lose(b, STINT_STATUS_NO_MEASURES);
        return NULL;
    }
    block = (struct arena_measures *)(void *)(b->hot.base + (uint64_t)unit * STINT_IMPL_UNIT);
    block->range = range;
    block->next = n->measures;
    STINT_IMPL_PUBLISH(&n->measures, unit);
    return block;
}
