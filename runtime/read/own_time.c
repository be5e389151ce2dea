/* SPDX-License-Identifier: Apache-2.0 */
#include "snapshot.h"

#include "base/arithmetic.h"

/* The calls' time without nested scopes. The own time of a recursive call is in the time of the
 * scope around it, and belongs to the node that counts the call; it may be below 0. */
static uint64_t own_of(const struct snapshot_node *n) {
    uint64_t with = n->total, without = n->nested;
    uint64_t inner = n->measures->measure[MEASURE_INNER_TICKS];
    if (inner > INT64_MAX) {
        without = saturating_add(without, -inner);
    } else {
        with = saturating_add(with, inner);
    }
    return saturating_subtract(with, without);
}

void snapshot_sum_children(struct snapshot *s) {
    for (uint32_t i = 0; i < s->node_count; ++i) {
        struct snapshot_node *n = &s->nodes[i];
        n->children = n->inside = n->splits = 0;
        n->own = own_of(n);
    }
    for (uint32_t i = 0; i < s->node_count; ++i) {
        const struct snapshot_node *n = &s->nodes[i];
        if (n->parent == SNAPSHOT_NONE || n->kind != STINT_IMPL_SCOPE_NODE) {
            continue;
        }
        struct snapshot_node *around = &s->nodes[n->parent];
        around->children += n->total + n->extra->open;
        around->inside = saturating_add(around->inside, n->total);
        around->splits += n->count;
        if (n->extra->untimed) {
            snapshot_extra_of(s, n->parent)->holds_untimed = 1;
        }
    }
}
