/* SPDX-License-Identifier: Apache-2.0 */
#include "base/api.h"

#include "range_calls.h"

#include "arena/arena.h"
#include "base/errno_keep.h"
#include "place.h"
#include "record/crossing.h"
#include "record/measured.h"
#include "record/recorder.h"
#include "record/tree.h"
#include "system/clock.h"

void stint_impl_end_crossing(void *guard) {
    ERRNO_KEEP;
    const stint_impl_opened *opened = guard;
    if (*opened) {
        recorder_end_crossing((uint64_t)(uintptr_t)guard, *opened);
    }
}

uint64_t stint_impl_range_ticks(void) {
    return clock_ticks();
}

void stint_impl_range_begin_at(void *guard, struct stint_impl_site *site, uint64_t ticks) {
    recorder_begin_at(guard, site, 0, ticks);
}

void stint_impl_range_guards(const void *from, uint64_t bytes) {
    crossing_set_range_guards(from, bytes);
}

int stint_impl_range_counts(uint64_t **out) {
    ERRNO_KEEP;
    *out = NULL;
    if (thread_is_busy()) {
        return -1;
    }
    struct thread_block *b = thread_enter(0);
    if (b) {
        struct stint_impl_node *root = tree_node(b, STINT_IMPL_LOAD(&b->frames->node));
        struct arena_measures *counts = measured_get(b, root, MEASURE_GROUP_RANGES);
        if (counts) {
            *out = counts->value;
        }
        thread_leave(b);
    }
    return 0;
}

uint64_t stint_impl_range_name(const void *guard, const char **text) {
    const struct thread_block *b = thread_here();
    const stint_impl_opened *opened = guard;
    if (!b || !*opened || STINT_IMPL_LOAD(&b->hot.gate) == STINT_IMPL_SHUT) {
        return 0;
    }
    const struct stint_impl_frame *f = b->hot.top;
    if (STINT_IMPL_LOAD(&f->guard) / 4 != (uint64_t)(uintptr_t)guard / 4) { /* maybe tagged */
        return 0;
    }
    uint32_t id = tree_node(b, thread_frame_node(f))->site;
    *text = arena_text_at(arena_site_at(id)->name)->bytes;
    return (uint64_t)STINT_IMPL_LOAD(&b->hot.gate) << 32 | id;
}

void stint_impl_handle_end_in(uint64_t *handle, const stint_set *set) {
    handle_end_in(handle, stint_impl_set_id(set));
}

void stint_impl_mark_named(const char *name, uint64_t length) {
    mark_add_named(name, length);
}

void stint_impl_value_named(const char *name, uint64_t length, double value) {
    mark_add_named_value(name, length, value);
}

void stint_impl_range_thread(const char *name) {
    ERRNO_KEEP;
    if (!name || thread_is_busy()) {
        return;
    }
    struct thread_block *b = thread_enter(0);
    if (b) {
        thread_rename(b, name);
        thread_leave(b);
    }
}

void stint_impl_lose_range(void) {
    arena_lose(STINT_STATUS_RANGE_FULL, 1);
}

void stint_impl_lose_end(void) {
    arena_lose(STINT_STATUS_STRAY_END, 1);
}

void stint_impl_rank_seen(uint32_t rank, uint32_t size) {
    ERRNO_KEEP;
    place_rank_seen(rank, size);
}
