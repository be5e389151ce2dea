/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work below the scope that sent it. A sender is two words that the program passes from thread to
 * thread: when it was made, in ticks, and the node of the scope with a check of both. The check is
 * a hash with the secret of the process and what changes with a fork, so that a sender that is
 * torn, made up, of another process, of another copy of the library or from before a fork is found
 * out before anything is read with it; the scope is then recorded where it runs, and counted.
 *
 * The thread that does the work records it in its own tree, below the scope that is open there, in
 * a node that names the sender's node: nothing of another thread is written, and each thread's
 * times add up as without senders. Readers move the node below its sender (snapshot.c).
 */
#include "recorder.h"

#include "base/api.h"
#include "base/errno_keep.h"
#include "base/hash.h"
#include "measured.h"
#include "site.h"
#include "system/clock.h"
#include "tree.h"

#define CHECK_BITS (64 - STINT_IMPL_NODE_BITS)

/* The node in the upper 26 bits, the check below it. */
static uint64_t sender_word(uint64_t at, uint32_t node) {
    uint64_t h = hash_number((uint64_t)(uintptr_t)arena.base ^ registry_arena_gate());
    h = hash_add(hash_add(h, at), node);
    return (uint64_t)node << CHECK_BITS | h >> STINT_IMPL_NODE_BITS;
}

stint_sender sender_here(void) {
    ERRNO_KEEP;
    stint_sender out = {{0, 0}};
    const struct thread_block *b = thread_block_here();
    const struct stint_impl_frame *f = NULL;
    if (b && b->hot.base == arena.base) {
        f = thread_innermost(b);
    }
    if (f) {
        out.word[0] = clock_ticks();
        out.word[1] = sender_word(out.word[0], STINT_IMPL_LOAD(&f->node));
    }
    return out;
}

/* The node of the sender; 0: it is not valid. */
static uint32_t sender_node(uint64_t at, uint64_t who) {
    uint32_t node = (uint32_t)(who >> CHECK_BITS);
    if (!arena.base || !node || sender_word(at, node) != who) {
        return 0;
    }
    return node;
}

/* Where the work is shown. Work that sends itself, at once or by way of others, is shown below the
 * sender of the outermost: each scope is at most once on a path, so the tree is finite. 0: below no
 * scope. */
static uint32_t sender_place(const struct thread_block *b, uint32_t node, uint32_t set,
                             uint32_t site) {
    uint32_t place = node;
    for (uint32_t unit = node; unit; unit = tree_above(b, unit)) {
        const struct stint_impl_node *n = tree_node(b, unit);
        if (n->site == site && n->set == set) {
            place = tree_above(b, unit);
        }
    }
    if (!place || !tree_node(b, place)->site) {
        return 0;
    }
    return place;
}

/* The time from sending to the begin of the frame's call. The block of the numbers is made with the
 * first one. */
static void queue_add(struct thread_block *b, const struct stint_impl_frame *f, uint64_t at) {
    struct stint_impl_node *n = tree_node(b, thread_frame_node(f));
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    struct arena_measures *queue = measured_find(b->hot.base, n, MEASURE_GROUP_QUEUE);
    if (!queue) {
        struct thread_block *inside = thread_enter(0);
        if (!inside) {
            return;
        }
        queue = measured_get(inside, n, MEASURE_GROUP_QUEUE);
        thread_leave(inside);
    }
    if (queue && start >= at) { /* else the clock stepped back */
        measure_add(queue, MEASURE_QUEUE_CALLS, 1);
        measure_add(queue, MEASURE_QUEUE_NS, clock_ns_of_ticks(start - at));
    }
}

/* Returns the place of the sender's scope; 0: the work is sent below the scope that it runs in, and
 * is an ordinary scope there. */
static uint32_t sender_of_scope(const struct thread_block *b, uint32_t node, uint32_t site) {
    uint32_t place = 0;
    if (node) {
        place = sender_place(b, node, 0, site);
    }
    if (place == STINT_IMPL_LOAD(&b->hot.top->node)) {
        return 0;
    }
    return place;
}

static struct thread_block *sender_begin_known(uint64_t guard, const struct stint_impl_site *site,
                                               uint32_t node) {
    struct thread_block *b = thread_here();
    uint32_t id = site_id_of(site_get_word(site));
    if (b && recorder_begin_known_sent(b, guard, id, sender_of_scope(b, node, id))) {
        return b;
    }
    return NULL;
}

static struct thread_block *sender_begin_new(uint64_t guard, struct stint_impl_site *site,
                                             uint32_t node) {
    struct thread_block *b = thread_enter(1);
    if (!b) {
        return NULL;
    }
    uint64_t word = site_get_word(site);
    if (site_gate_of(word) != registry_gate()) {
        word = site_resolve(site);
    }
    if (!site_is_off(word)) {
        uint32_t id = site_id_of(word);
        recorder_begin_new_sent(b, guard, id, sender_of_scope(b, node, id));
    }
    thread_leave(b);
    return b;
}

void sender_begin(void *guard, struct stint_impl_site *site, uint64_t at, uint64_t who) {
    ERRNO_KEEP;
    uint64_t me = (uint64_t)(uintptr_t)guard, word = site_get_word(site);
    uint32_t node = sender_node(at, who);
    const struct stint_impl_frame *f = NULL;
    struct thread_block *b = NULL;
    *(stint_impl_opened *)guard = 0;
    if (site_gate_of(word) == registry_gate()) {
        if (site_is_off(word)) {
            return;
        }
        b = sender_begin_known(me, site, node);
    }
    if (!b) {
        b = sender_begin_new(me, site, node);
    }
    if (b) {
        f = recorder_opened(b, me);
    }
    if (f && node) {
        queue_add(b, f, at);
    } else if (f && (at | who)) {
        arena_lose(STINT_STATUS_SENDER_LOST, 1);
    }
}
