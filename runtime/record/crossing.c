/* SPDX-License-Identifier: Apache-2.0 */
#include "crossing.h"

#include "left.h"
#include "recorder.h"
#include "tree.h"

/* Guards of ranges that other interfaces open on this thread. Owner. */
static __thread struct {
    uint64_t from;
    uint64_t bytes;
} range_guards __attribute__((tls_model("initial-exec")));

static int is_range(uint64_t guard) {
    return guard - range_guards.from < range_guards.bytes;
}

int crossing_has_range_above(const struct thread_block *b, const struct stint_impl_frame *f) {
    if (!range_guards.bytes) {
        return 0;
    }
    while (++f <= b->hot.top) {
        if (is_range(STINT_IMPL_LOAD(&f->guard))) {
            return 1;
        }
    }
    return 0;
}

/* Counts the scope as abandoned, unless another thread has ended it. */
static void frame_abandon(struct thread_block *b, struct stint_impl_frame *f) {
    uint64_t guard;
    while (left_take(b, f, &guard)) {
    }
}

void crossing_set_range_guards(const void *from, uint64_t bytes) {
    struct thread_block *b = thread_block_here();
    if (b && range_guards.bytes) {
        for (struct stint_impl_frame *f = b->hot.top; f != b->frames; --f) {
            if (is_range(STINT_IMPL_LOAD(&f->guard))) {
                frame_abandon(b, f); /* nothing is written to its guard any more */
            }
        }
    }
    range_guards.from = (uint64_t)(uintptr_t)from;
    range_guards.bytes = bytes;
}

struct stint_impl_frame *crossing_take(struct thread_block *b, struct stint_impl_frame *f,
                                       int all_stay) {
    struct stint_impl_frame *first = NULL, *below = f;
    for (struct stint_impl_frame *above = f + 1; above <= b->hot.top; ++above) {
        uint64_t guard = STINT_IMPL_LOAD(&above->guard);
        thread_close_range(b, above);
        int is_open = guard && guard != STINT_IMPL_MOVED;
        if (is_open && (all_stay || is_range(guard))) {
            below = above;
        } else { /* what was recorded in it is now inside the scope around it */
            frame_abandon(b, above);
            STINT_IMPL_STORE(&below->nested,
                             STINT_IMPL_LOAD(&below->nested) + STINT_IMPL_LOAD(&above->nested));
        }
        if (!first && below == above) {
            first = above;
        }
    }
    b->hot.top = f;
    return first;
}

/* The edge of the node below what is open now. */
static struct tree_edge edge_again(const struct thread_block *b, uint32_t node) {
    const struct stint_impl_node *n = tree_node(b, node);
    struct tree_edge e = {STINT_IMPL_LOAD(&b->hot.top->node), n->set, n->site, 0};
    if (n->kind & STINT_IMPL_SENT) {
        e.sender = tree_above(b, node);
    }
    return e;
}

void crossing_reopen(struct thread_block *b, struct stint_impl_frame *from,
                     const struct stint_impl_frame *last) {
    for (; from <= last; ++from) {
        uint64_t start = STINT_IMPL_LOAD(&from->start);
        uint64_t nested = STINT_IMPL_LOAD(&from->nested);
        uint32_t node = thread_frame_node(from);
        STINT_IMPL_STORE(&from->recursive, 0);
        STINT_IMPL_STORE(&from->counted, 0);
        uint64_t guard = __atomic_exchange_n(&from->guard, 0, __ATOMIC_RELAXED);
        if (guard == STINT_IMPL_MOVED) {
            continue;
        }
        struct tree_edge e = edge_again(b, node);
        struct tree_place to = tree_get(b, &e);
        if (to.node) {
            recorder_reopen(b, guard, to, start);
            STINT_IMPL_STORE(&b->hot.top->nested, nested);
        }
    }
}
