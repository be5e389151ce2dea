/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of nodes besides their times: read from an arena, which may be an untrusted file, and
 * the columns that are made of several of them.
 */
#include "rows_private.h"

#include "arena/measures.h"

/* The group of a block, MEASURE_GROUP_COUNT if it is none: a file of a program that is not this. */
static uint32_t group_of(struct measure_range range) {
    uint32_t group = 0;
    while (group < MEASURE_GROUP_COUNT) {
        struct measure_range known = measure_range_of(group);
        if (known.first == range.first && known.count == range.count) {
            break;
        }
        ++group;
    }
    return group;
}

/* No list is longer than there are groups; this also ends a cycle. */
void snapshot_read_measures(struct snapshot *s, struct snapshot_node *out, uint32_t unit) {
    for (uint32_t blocks = 0; unit && blocks < MEASURE_GROUP_COUNT; ++blocks) {
        const struct arena_measures *block = snapshot_at(s, unit, sizeof *block);
        if (!block) {
            return;
        }
        struct measure_range range = block->range;
        uint32_t group = group_of(range);
        if (group == MEASURE_GROUP_COUNT ||
            !snapshot_at(s, unit, sizeof *block + range.count * sizeof(uint64_t))) {
            return;
        }
        if (!out->measures) {
            out->measures = scratch_get(&s->memory, sizeof *out->measures);
        }
        if (!out->measures) {
            return;
        }
        out->measures->groups |= 1u << group;
        for (uint32_t i = 0; i < range.count; ++i) {
            out->measures->value[range.first + i] = STINT_IMPL_LOAD(&block->value[i]);
        }
        unit = block->next;
    }
}

void measured_fill(struct stint_row *r) {
    if (r->measure[MEASURE_QUEUE_CALLS]) {
        r->queue_avg_ns = r->measure[MEASURE_QUEUE_NS] / r->measure[MEASURE_QUEUE_CALLS];
    }
}
