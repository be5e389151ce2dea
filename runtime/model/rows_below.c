/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of nodes that include what is nested in them.
 */
#include "rows_private.h"

#include "arena/activity_kind.h"
#include "base/arithmetic.h"
#include "base/role.h"
#include "stint/stint.h"

static void device_work_add(struct device_work *to, u128 count, u128 total) {
    to->count += count;
    to->total += total;
}

int rows_device(struct device_work **out, struct snapshot *s) {
    *out = NULL;
    if (!s->activity_count) {
        return 0;
    }
    struct device_work *work = scratch_array(&s->memory, (size_t)s->node_count + 1, sizeof *work);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < s->activity_count; ++i) {
        const struct snapshot_activity *a = &s->activities[i];
        if (a->kind >= ACTIVITY_KERNEL && a->kind <= ACTIVITY_FILL && a->node < s->node_count) {
            device_work_add(&work[a->node], a->count, a->total);
        }
    }
    for (uint32_t i = s->node_count; i-- > 0;) { /* parents come before children */
        uint32_t parent = s->nodes[i].parent;
        if (parent != SNAPSHOT_NONE && s->nodes[i].kind == STINT_IMPL_SCOPE_NODE) {
            device_work_add(&work[parent], work[i].count, work[i].total);
        }
    }
    *out = work;
    return 0;
}

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
            waiting[i] = saturating_add(waiting[i], snapshot_node_ticks(s, n, snapshot_own(n)));
        }
        waiting[i] = u64_min(waiting[i], snapshot_node_ticks(s, n, n->total));
        if (n->parent != SNAPSHOT_NONE && n->kind == STINT_IMPL_SCOPE_NODE) {
            waiting[n->parent] = saturating_add(waiting[n->parent], waiting[i]);
        }
    }
    *out = waiting;
    return 0;
}
