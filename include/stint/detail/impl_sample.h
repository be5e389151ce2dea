/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path of STINT_SAMPLE: scopes of which some calls are not timed. Not for users.
 *
 * Implementation notes
 * - To a node of which calls are left out no `near` leads: it is found by its sums, which are in
 *   `near_sampled` and have all that such a call needs, so that nothing else is read.
 * - An untimed call reads no clock. Its start word says so, and its frame has a tagged guard, so
 *   that the check for a guard that is not on top leads `end` here.
 * - impl_record.h calls stint_impl_open_untimed when it begins a scope, stint_impl_near_put when a
 *   search has found the node, and stint_impl_end_untimed when it ends a scope.
 */
#ifndef STINT_IMPL_SAMPLE_H
#define STINT_IMPL_SAMPLE_H

#include "impl_layout.h"

/* Hides from the compiler where a value comes from. */
#define STINT_IMPL_HIDE(value) __asm__("" : "+r"(value))

/* The node's sums if calls of it are left out, in units; 0: every call is timed. */
static inline __attribute__((always_inline)) uint32_t
stint_impl_sampled_of(const struct stint_impl_node *n) {
    uint32_t kind = STINT_IMPL_LOAD(&n->kind);
    if ((kind & (STINT_IMPL_SAMPLED | STINT_IMPL_EXACT)) != STINT_IMPL_SAMPLED) {
        return 0;
    }
    return STINT_IMPL_LOAD(&n->gpu);
}

static inline __attribute__((always_inline)) struct stint_impl_sampled *
stint_impl_sampled_at(const char *base, uint32_t sampled) {
    return (struct stint_impl_sampled *)(void *)(base + (uint64_t)sampled * STINT_IMPL_UNIT);
}

/* Takes one call of the node's block: its start word if it is untimed, none if it is timed. */
static inline __attribute__((always_inline)) struct stint_impl_start
stint_impl_sample_draw(const char *base, uint32_t sampled) {
    struct stint_impl_sampled *s = stint_impl_sampled_at(base, sampled);
    uint32_t left = STINT_IMPL_LOAD(&s->left);
    if (!left) {
        return stint_impl_start_none();
    }
    STINT_IMPL_STORE(&s->left, left - 1);
    return stint_impl_start_untimed(sampled);
}

/* Begin, where the frame on top is not the deepest one: opens the scope as an untimed call.
 * *opened: the guard's word. Returns 0 if the sums that are tried first are of another node, if the
 * call is to be timed, or if the guard is not below every open one. */
static inline __attribute__((always_inline)) int
stint_impl_open_untimed(struct stint_impl_thread *t, uint64_t me, uint32_t set, uint64_t id,
                        stint_impl_opened *opened) {
    /* Another index for the compiler, so that a timed call does not compute what both share. */
    uint64_t place = id;
    STINT_IMPL_HIDE(place);
    struct stint_impl_sampled *s = STINT_IMPL_OWN(&t->near_sampled[place % STINT_IMPL_NEAR]);
    struct stint_impl_frame *f = t->top;
    if (STINT_IMPL_OWN(&s->key) != stint_impl_scope_key(set, id) ||
        s->parent != STINT_IMPL_OWN(&f->node) || me >= STINT_IMPL_SEEN(&f->low)) {
        return 0;
    }
    uint32_t left = STINT_IMPL_LOAD(&s->left);
    if (!left) {
        return 0;
    }
    uint64_t start = s->start;
    STINT_IMPL_STORE(&s->left, left - 1);
    stint_impl_frame_take(t);
    stint_impl_frame_fill(f + 1, s->node, me, me | STINT_IMPL_TAG, stint_impl_start_from(start));
    *opened = start;
    return 1;
}

/* Begin, at an edge that a search has found: it is tried first from now on, or the sums
 * of its node are. Returns the start word of the call if it is untimed, else none. */
static inline __attribute__((always_inline)) struct stint_impl_start
stint_impl_near_put(struct stint_impl_thread *t, const struct stint_impl_edge *e, uint32_t id) {
    uint32_t sampled = stint_impl_sampled_of(
        (struct stint_impl_node *)(void *)(t->base + (uint64_t)e->node * STINT_IMPL_UNIT));
    if (!sampled) {
        STINT_IMPL_STORE(&t->near[id % STINT_IMPL_NEAR], e);
        return stint_impl_start_none();
    }
    struct stint_impl_sampled *s = stint_impl_sampled_at(t->base, sampled);
    STINT_IMPL_STORE(&t->near_sampled[id % STINT_IMPL_NEAR], s);
    return stint_impl_sample_draw(t->base, sampled);
}

/* End: closes the call on top, in frame f, if it is untimed. Returns 0 if it is not, or if the slow
 * path has to see it. */
static inline __attribute__((always_inline)) int
stint_impl_end_untimed(struct stint_impl_thread *t, struct stint_impl_frame *f, uint64_t me,
                       const struct stint_impl_call *call) {
    if (call && (call->info || call->threshold_us >= 0)) {
        return 0;
    }
    struct stint_impl_start start = stint_impl_start_from(*(stint_impl_opened *)(uintptr_t)me);
    if (STINT_IMPL_OWN(&f->start) != start.word || !stint_impl_start_is_untimed(start)) {
        return 0;
    }
    struct stint_impl_sampled *s = stint_impl_sampled_at(t->base, stint_impl_start_sampled(start));
    /* In this order: a signal handler that leaves the call here does not count it twice. */
    STINT_IMPL_STORE(&f->guard, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stint_impl_owner_count(&s->untimed);
    stint_impl_top_lower(t);
    return 1;
}

#endif
