/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activities of a snapshot: read under their sequence word as nodes are, at most as many as fit
 * into the arena, which also ends a cycle. What was taken back of them is subtracted
 * (snapshot_taken.c).
 */
#include "arena/activity_kind.h"
#include "arena/arena.h"
#include "base/arithmetic.h"
#include "snapshot_parts.h"

/* One attempt; 0 when the sequence word was even and the same at both ends. */
int snapshot_activity_load(struct snapshot_activity *out, const struct arena_activity *a) {
    uint64_t seq = SNAPSHOT_ACQUIRE(&a->seq);
    numbers_load(&record_activity, out->number, a);
    out->varies = SNAPSHOT_ACQUIRE(&a->varies);
    for (size_t i = 0; i < sizeof a->shape / sizeof *a->shape; ++i) {
        out->shape[i] = SNAPSHOT_ACQUIRE(&a->shape[i]);
    }
    return seq & 1 || STINT_IMPL_LOAD(&a->seq) != seq;
}

/* Makes true what reports rely on, whatever the file says. */
static void make_sane(struct snapshot_activity *a) {
    if (!a->count) {
        a->min = 0;
        a->max = 0;
    }
    a->min = u64_min(a->min, a->max);
    a->min_bytes = u64_min(a->min_bytes, a->max_bytes);
    snapshot_activity_cut(a, 0);
}

static void read_activity(struct snapshot *s, struct snapshot_activity *out, uint32_t unit,
                          const struct arena_activity *a) {
    uint32_t node = STINT_IMPL_LOAD(&a->node);
    for (int i = 0; snapshot_activity_load(out, a) && snapshot_try_again(s, i); ++i) {
    }
    make_sane(out);
    out->unit = unit;
    out->kind = a->kind;
    out->detail = a->detail;
    out->node = SNAPSHOT_NONE;
    if (node) {
        out->node = snapshot_node_of(s, node);
    }
    out->device = snapshot_device_of(s, a->device);
    out->context = a->context;
    out->stream = a->stream;
    out->histogram = STINT_IMPL_LOAD(&a->histogram);
    out->samples = STINT_IMPL_LOAD(&a->samples);
    const uint64_t sizes = offsetof(struct arena_sizes, histogram);
    if (activity_kind_has_sizes(a->kind) && snapshot_at(s, out->samples, sizes)) {
        out->byte_histogram = out->samples + (uint32_t)sizes / STINT_IMPL_UNIT;
    }
    out->name = snapshot_text(s, a->name, &out->name_length);
    if (!out->name) {
        out->name = "";
        out->name_length = 0;
    }
}

uint64_t snapshot_activity_begin(const struct snapshot_activity *a) {
    return a->first_at;
}

uint64_t snapshot_activity_span(const struct snapshot_activity *a) {
    return saturating_subtract(a->last_at, a->first_at);
}

void snapshot_activity_cut(struct snapshot_activity *a, uint64_t from) {
    a->first_at = u64_max(a->first_at, from);
    a->last_at = u64_max(a->last_at, a->first_at);
}

static int is_known(const struct arena_activity *a) {
    return a->kind > ACTIVITY_NONE && a->kind < ACTIVITY_KINDS;
}

int snapshot_read_activities(struct snapshot *s, uint32_t first) {
    const struct arena_activity *a;
    struct snapshot_list list = SNAPSHOT_LIST(s, first, struct arena_activity, UINT32_MAX);
    for (struct snapshot_list all = list; (a = snapshot_list_next(&all));) {
        s->activity_count += (uint32_t)is_known(a);
    }
    s->activities = scratch_array(&s->memory, (size_t)s->activity_count + 1, sizeof *s->activities);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = s->activity_count; i && (a = snapshot_list_next(&list));) {
        if (is_known(a)) {
            read_activity(s, &s->activities[--i], list.unit, a); /* oldest first */
        }
    }
    return snapshot_take_back(s);
}
