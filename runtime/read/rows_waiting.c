/* SPDX-License-Identifier: Apache-2.0 */
#include "rows_private.h"

#include "base/arithmetic.h"
#include "base/role.h"
#include "stint/stint.h"

int rows_waiting(uint64_t **out, struct snapshot *s) {
    uint32_t waits = 0;
    for (uint32_t id = 1; id <= s->site_count; ++id) {
        waits += (uint32_t)role_waits(s->sites[id].role);
    }
    *out = NULL;
    if (!waits) {
        return 0;
    }
    uint64_t *waiting = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *waiting);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = s->node_count; i-- > 0;) { /* those inside come later */
        const struct snapshot_node *n = &s->nodes[i];
        if (role_waits(s->sites[n->site].role)) {
            waiting[i] = saturating_add(waiting[i], snapshot_node_ticks(s, n, n->own));
        }
        waiting[i] = u64_min(waiting[i], snapshot_node_ticks(s, n, n->total));
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE) {
            waiting[n->parent] = saturating_add(waiting[n->parent], waiting[i]);
        }
    }
    *out = waiting;
    return 0;
}
