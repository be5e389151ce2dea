/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a node besides its times: a block for each group that it has, in a list. */
#ifndef STINT_ARENA_MEASURES_H
#define STINT_ARENA_MEASURES_H

#include <stddef.h>

#include "base/measure.h"
#include "stint/detail/impl_layout.h"

/* Each number is written in one step, by itself: a reader may see one of a call and not yet
 * another. */
struct arena_measures {
    uint32_t next; /* the node's next block, units; set before this one is published */
    struct measure_range range;
    uint64_t value[]; /* relaxed */
};

/* The inline path knows one block. */
_Static_assert((int)STINT_IMPL_INNER_TICKS == (int)MEASURE_INNER_TICKS, "the measure's number");
_Static_assert(offsetof(struct stint_impl_inner, first) ==
                   offsetof(struct arena_measures, range.first),
               "of the same layout");
_Static_assert(offsetof(struct stint_impl_inner, ticks) == offsetof(struct arena_measures, value),
               "of the same layout");

/* The place of a number in the block of its group. */
static inline uint64_t *measure_place(struct arena_measures *block, enum measure m) {
    return &block->value[measure_place_of(m)];
}

/* Any thread; a signal handler too. */
static inline void measure_add(struct arena_measures *block, enum measure m, uint64_t number) {
    __atomic_fetch_add(measure_place(block, m), number, __ATOMIC_RELAXED);
}

#endif
