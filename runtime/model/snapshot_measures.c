/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that only some nodes have, read from an arena, which may be an untrusted file.
 */
#include "snapshot.h"

#include <string.h>

#include "arena/measures.h"
#include "base/arithmetic.h"

/* Blocks of a node that are looked at, with those of groups that only later versions know. It also
 * ends a cycle. */
#define MAX_BLOCKS 64u

const struct measures snapshot_no_measures;

const struct measures *snapshot_read_measures(struct snapshot *s, uint32_t unit,
                                              const struct measures *known) {
    struct measures all = *known;
    const struct arena_measures *block;
    struct snapshot_list list = SNAPSHOT_LIST(s, unit, struct arena_measures, MAX_BLOCKS);
    while ((block = snapshot_list_next(&list))) {
        uint32_t group = measure_group_with(block->range.first), count = block->range.count;
        if (group != MEASURE_GROUP_COUNT && count) {
            if (!snapshot_at(s, list.unit, sizeof *block + count * sizeof(uint64_t))) {
                break;
            }
            measures_load(&all, group, block->value, count);
        }
    }
    if (!all.groups) {
        return &snapshot_no_measures;
    }
    struct measures *out = scratch_get(&s->memory, sizeof *out);
    if (out) {
        *out = all;
    }
    return out ? out : &snapshot_no_measures;
}

void snapshot_outside(const struct snapshot *s, struct measure_sums *out) {
    memset(out, 0, sizeof *out);
    measures_add(&out->groups, out->measure, s->outside, 0);
    for (uint32_t i = 0; i < s->node_count; ++i) {
        if (!s->nodes[i].site) { /* the root of a thread */
            measures_add(&out->groups, out->measure, s->nodes[i].measures, 0);
        }
    }
}

u128 snapshot_memory_live(const u128 measure[MEASURE_COUNT]) {
    return u128_subtract(measure[MEASURE_MEMORY_HELD], measure[MEASURE_MEMORY_GONE]);
}

uint64_t snapshot_left(const struct snapshot_node *n) {
    return n->measures->measure[MEASURE_LEFT_CALLS];
}

uint64_t snapshot_recursive(const struct snapshot_node *n) {
    return saturating_subtract(n->recursions, snapshot_left(n));
}
