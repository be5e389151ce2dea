/* SPDX-License-Identifier: Apache-2.0 */
#include "left.h"

#include "measured.h"
#include "tree.h"

/* The node's calls so far that are counted in the same way as the frame's. */
static uint64_t frame_calls(const struct thread_block *b, const struct stint_impl_frame *f) {
    const struct stint_impl_node *n = tree_node(b, thread_frame_node(f));
    if (stint_impl_frame_is_recursive(f)) {
        return STINT_IMPL_LOAD(&n->recursions);
    }
    return left_samples(n);
}

/* Whether the call is counted already: a signal handler left it after its sample and before its
 * frame was closed. The slow path leaves a note in the frame; the inline one leaves the sample's
 * bucket there, while the node's seq is odd until it is counted. Neither is there if there are no
 * percentiles: such a call is counted twice. */
static int frame_is_counted(const struct thread_block *b, const struct stint_impl_frame *f) {
    uint32_t counted = STINT_IMPL_LOAD(&f->counted);
    if (counted) {
        uint32_t since = ((uint32_t)frame_calls(b, f) << 1 | 1) - counted;
        return since < UINT32_MAX / 2;
    }
    if (!STINT_IMPL_LOAD(&f->pending) || stint_impl_frame_is_recursive(f)) {
        return 0;
    }
    return !(STINT_IMPL_LOAD(&tree_node(b, STINT_IMPL_LOAD(&f->node))->seq) & 1);
}

/* The seq of the frame's node if the call was left in the middle of its sample, else 0. */
static uint64_t frame_unfinished_seq(const struct thread_block *b,
                                     const struct stint_impl_frame *f) {
    uint64_t seq = STINT_IMPL_LOAD(&tree_node(b, thread_frame_node(f))->seq);
    if (!(seq & 1) || stint_impl_frame_is_recursive(f)) {
        return 0;
    }
    return seq;
}

/* A sample that was left in the middle is none: a reader would count it, and the next sample with
 * it. If a signal handler has added that one already, the two are one. */
static void sample_undo(struct stint_impl_frame *f, struct stint_impl_node *n, uint64_t seq,
                        uint32_t pending) {
    if (!seq) {
        return;
    }
    __atomic_compare_exchange_n(&f->pending, &pending, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    __atomic_compare_exchange_n(&n->seq, &seq, seq - 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* Guard 0: the scope was not open yet, or has been counted and closed. */
static void count_call(struct thread_block *b, uint32_t node, uint64_t guard) {
    struct stint_impl_node *n = tree_node(b, node);
    thread_lose(b, STINT_STATUS_ABANDONED);
    if (!guard) {
        return;
    }
    stint_impl_owner_add(&n->recursions, 1);
    struct arena_measures *left = measured_get(b, n, MEASURE_GROUP_LEFT);
    if (left) {
        measure_add(left, MEASURE_LEFT_CALLS, 1);
    }
}

/* All of the frame is read before it is taken: afterwards a signal handler may use it. */
int left_take(struct thread_block *b, struct stint_impl_frame *f, uint64_t *guard) {
    *guard = STINT_IMPL_LOAD(&f->guard);
    uint32_t node = thread_frame_node(f);
    int is_counted = frame_is_counted(b, f);
    uint64_t seq = frame_unfinished_seq(b, f);
    uint32_t pending = STINT_IMPL_LOAD(&f->pending);
    if (*guard == STINT_IMPL_MOVED) {
        return 0;
    }
    uint64_t is = *guard;
    if (!__atomic_compare_exchange_n(&f->guard, &is, STINT_IMPL_MOVED, 0, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED)) {
        return -1;
    }
    if (!is_counted) {
        sample_undo(f, tree_node(b, node), seq, pending);
        count_call(b, node, *guard);
    }
    return 0;
}
