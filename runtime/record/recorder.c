/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of open scopes of a thread. The inline path and the entry points of the session call
 * these functions on the thread whose block it is; a signal handler may interrupt each of them and
 * record, too. So a frame is complete before its guard is written, and the inline path reads
 * nothing above hot.top. Scopes that stay open when one below them ends are in crossing.c, scopes
 * that end on another thread in moved.c.
 */
#include "recorder.h"

#include "base/api.h"
#include "base/arithmetic.h"
#include "base/errno_keep.h"
#include "crossing.h"
#include "emit/emit.h"
#include "left.h"
#include "node.h"
#include "probe.h"
#include "registry.h"
#include "ring.h"
#include "site.h"
#include "system/log.h"
#include "tree.h"

/* Scopes opened by name have no guard in memory. */
static int is_name(uint64_t guard) {
    return guard >> 63 != 0;
}

static void guard_write(uint64_t guard, uint64_t opened) {
    if (!is_name(guard)) {
        *(stint_impl_opened *)(uintptr_t)guard = opened;
    }
}

/* The topmost open frame of that guard, or NULL. `low` ends the search early: nothing at or below a
 * frame lies under its low. */
static inline __attribute__((always_inline)) struct stint_impl_frame *
frame_find(const struct thread_block *b, uint64_t guard) {
    for (struct stint_impl_frame *f = b->hot.top;
         f != b->frames && guard >= STINT_IMPL_LOAD(&f->low); --f) {
        if (thread_untag_guard(STINT_IMPL_LOAD(&f->guard)) == guard) {
            return f;
        }
    }
    return NULL;
}

/* The frame of this very opening. A guard has one frame at most, names may have several. */
static inline __attribute__((always_inline)) struct stint_impl_frame *
frame_find_opened(const struct thread_block *b, uint64_t guard, uint64_t opened) {
    struct stint_impl_frame *f = frame_find(b, guard);
    if (f && !is_name(guard) && STINT_IMPL_LOAD(&f->start) != opened) {
        return NULL;
    }
    return f;
}

/* The same where a signal handler left a frame above before it was filled: its low is from an older
 * scope. */
static struct stint_impl_frame *frame_find_below(const struct thread_block *b, uint64_t guard,
                                                 uint64_t opened) {
    struct stint_impl_frame *f = b->hot.top;
    while (f != b->frames && thread_untag_guard(STINT_IMPL_LOAD(&f->guard)) != guard) {
        --f;
    }
    if (f == b->frames || STINT_IMPL_LOAD(&f->start) != opened) {
        return NULL;
    }
    return f;
}

static void range_open(struct thread_block *b, uint32_t node) {
    uint32_t busy = b->busy;
    const struct stint_impl_node *n = tree_node(b, node);
    b->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    emit_push(n->site, n->set);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    b->busy = busy;
}

/* Whether the frame's call is right inside another one of its node: then both have their time
 * together. */
static int frame_continues(const struct stint_impl_frame *f) {
    uint32_t recursive = STINT_IMPL_LOAD(&f->recursive);
    if (!recursive) {
        return stint_impl_frame_is_recursive(f);
    }
    return thread_frame_node(f - 1) == recursive;
}

/* The start of the call that contains what is opened above the frame, in ticks; 0 for the root. A
 * call right inside another one of its node has no time of its own, nor has one that another thread
 * ended. */
static uint64_t start_around(const struct stint_impl_frame *f) {
    while (frame_continues(f) || STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
        --f;
    }
    return STINT_IMPL_LOAD(&f->start);
}

/* Takes the frame above the top for a scope, and writes all of it but guard and start. A recursive
 * call stays where it is in the tree: what it opens lies below the scope around it, not below the
 * outermost call, whose own children already hold that time. */
static inline __attribute__((always_inline)) struct stint_impl_frame *
frame_claim(struct thread_block *b, uint64_t guard, struct tree_place to) {
    const struct stint_impl_frame *below = b->hot.top;
    struct stint_impl_frame *f = b->hot.top + 1;
    uint32_t node = to.node, recursive = 0;
    b->hot.top = f;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (to.recursive) {
        node = STINT_IMPL_LOAD(&below->node);
        recursive = to.node;
    }
    stint_impl_pending_add(&b->hot, f);
    STINT_IMPL_STORE(&f->node, node);
    STINT_IMPL_STORE(&f->low, u64_min(guard, STINT_IMPL_LOAD(&below->low)));
    STINT_IMPL_STORE(&f->recursive, recursive);
    STINT_IMPL_STORE(&f->nested, 0);
    return f;
}

/* Opens a scope that has a node. start: a time, 0 for now. The order is a contract:
 *   1. The frame is claimed, so that a signal handler opens its scopes above it.
 *   2. The range of emit and the reading of the probe begin: their time is not the scope's.
 *   3. The frame gets its guard: the call is open, and its clock is not read yet.
 *   4. The clock is read, and the frame gets the start.
 *   5. The caller's guard gets the start, which proves that it is open. */
static inline __attribute__((always_inline)) void frame_push(struct thread_block *b, uint64_t guard,
                                                             struct tree_place to, uint64_t start) {
    uint64_t tag = 0; /* TAG: the scope ends on the slow path */
    /* The call begins before the scope around it, and only a part of it is that scope's time. */
    int is_sooner = start && start < start_around(b->hot.top);
    if (to.recursive || is_sooner || thread_slow_only()) {
        tag = STINT_IMPL_TAG;
    }
    struct stint_impl_frame *f = frame_claim(b, guard, to);
    if (emit_on()) {
        range_open(b, to.node);
    }
    int measured = to.probed && !start && probe_begin(b, f, tree_node(b, to.node));
    if (measured) {
        tag = STINT_IMPL_TAG;
    }
    STINT_IMPL_STORE(&f->guard, guard | tag);
    if (!start) {
        start = clock_ticks();
    }
    STINT_IMPL_STORE(&f->start, start);
    if (measured) {
        probe_began(b, f, start);
    }
    guard_write(guard, start);
}

void recorder_reopen(struct thread_block *b, uint64_t guard, struct tree_place to, uint64_t start) {
    frame_push(b, thread_untag_guard(guard), to, start);
}

/* A call of an open scope that has no frame: too deep, or recursive beyond the deepest frame. */
static void count_unframed(struct thread_block *b, struct tree_place to) {
    if (to.recursive) {
        stint_impl_owner_add(&tree_node(b, to.node)->recursions, 1);
    } else {
        thread_lose(b, STINT_STATUS_TOO_DEEP);
    }
}

/* ---- Begin. */

/* A guard that the caller's stack frame already opened was left by goto, longjmp or the like, and
 * with it what is above, but for ranges of other interfaces. Scopes opened by name have no address:
 * they may nest in themselves. Returns 0 if that needs the thread to be entered. */
static inline __attribute__((always_inline)) int guard_reopen(struct thread_block *b,
                                                              uint64_t guard) {
    struct stint_impl_frame *stale = NULL, *last = b->hot.top;
    if (!is_name(guard)) {
        stale = frame_find(b, guard);
    }
    if (stale && crossing_has_range_above(b, stale)) {
        if (!b->busy) {
            return 0;
        }
        crossing_take(b, stale - 1, 0);
        crossing_reopen(b, stale, last);
    } else if (stale) {
        thread_unwind(b, stale - 1);
    }
    if (STINT_IMPL_UNLIKELY(STINT_IMPL_LOAD(&b->hot.top->guard) == STINT_IMPL_MOVED)) {
        thread_drop_moved(b);
    }
    return 1;
}

enum begin { BEGIN_NOW, BEGIN_LOST, BEGIN_ENTERED };

/* Before a scope is opened: whether it can be, is counted as lost, or can be in the slow path
 * alone. */
static inline __attribute__((always_inline)) enum begin
begin_prepare(struct thread_block *b, uint64_t guard, uint32_t site) {
    if (!guard_reopen(b, guard)) {
        return BEGIN_ENTERED;
    }
    if (!site) {
        thread_lose(b, STINT_STATUS_NO_NAME);
        return BEGIN_LOST;
    }
    return BEGIN_NOW;
}

/* Opens the scope if it has a node, or counts it as lost. */
static inline __attribute__((always_inline)) int begin_place(struct thread_block *b, uint64_t guard,
                                                             struct tree_place to, uint64_t start) {
    if (b->hot.top == b->hot.last) {
        count_unframed(b, to);
        return 1;
    }
    if (!to.node || to.settled) {
        return 0;
    }
    frame_push(b, guard, to, start);
    if (to.edge) {
        STINT_IMPL_STORE(&b->hot.again[stint_impl_edge_site(to.edge) % STINT_IMPL_NEAR], to.edge);
    }
    return 1;
}

/* The edge of a scope that is opened below the innermost open one. */
static inline __attribute__((always_inline)) struct tree_edge
edge_here(const struct thread_block *b, uint32_t set, uint32_t site, uint32_t sender) {
    struct tree_edge e = {STINT_IMPL_LOAD(&b->hot.top->node), set, site, sender};
    return e;
}

/* Opens the scope if that needs no new node, or counts it as lost. */
static inline __attribute__((always_inline)) int begin_known(struct thread_block *b, uint64_t guard,
                                                             uint32_t set, uint32_t site,
                                                             uint32_t sender, uint64_t start) {
    enum begin how = begin_prepare(b, guard, site);
    if (how != BEGIN_NOW) {
        return how == BEGIN_LOST;
    }
    struct tree_edge e = edge_here(b, set, site, sender);
    return begin_place(b, guard, tree_find(b, &e), start);
}

void recorder_begin_entered(struct thread_block *b, uint64_t guard, uint64_t word, uint32_t set,
                            uint64_t start) {
    uint32_t id = site_id_of(word);
    if (site_is_off(word) || begin_known(b, guard, set, id, 0, start)) {
        return;
    }
    struct tree_edge e = edge_here(b, set, id, 0);
    struct tree_place to = tree_get(b, &e);
    if (to.node) {
        frame_push(b, guard, to, start);
    }
}

void recorder_begin(uint64_t guard, uint64_t word, uint32_t set, uint64_t start) {
    uint32_t id = site_id_of(word);
    struct thread_block *b = thread_here();
    if (site_is_off(word) || (b && begin_known(b, guard, set, id, 0, start))) {
        return;
    }
    b = thread_enter(1);
    if (b) {
        recorder_begin_entered(b, guard, word, set, start);
        thread_leave(b);
    }
}

int recorder_begin_known_sent(struct thread_block *b, uint64_t guard, uint32_t site,
                              uint32_t sender) {
    return begin_known(b, guard, 0, site, sender, 0);
}

void recorder_begin_new_sent(struct thread_block *b, uint64_t guard, uint32_t site,
                             uint32_t sender) {
    if (!recorder_begin_known_sent(b, guard, site, sender)) {
        struct tree_edge e = edge_here(b, 0, site, sender);
        begin_place(b, guard, tree_get(b, &e), 0);
    }
}

const struct stint_impl_frame *recorder_opened(const struct thread_block *b, uint64_t guard) {
    const struct stint_impl_frame *f = b->hot.top;
    if (thread_untag_guard(STINT_IMPL_LOAD(&f->guard)) != guard) {
        return NULL;
    }
    return f;
}

static void report_slow_call(const struct thread_block *b, const struct stint_impl_node *n,
                             uint64_t ticks, const char *info) {
    uint32_t site = STINT_IMPL_LOAD(&n->site);
    if (!site) {
        return; /* a signal handler has forked */
    }
    uint32_t name = arena_site_in(b->hot.base, site)->name;
    uint64_t rate = clock_ticks_per_us(); /* years of ticks leave no room for eight bits more */
    uint64_t us = ticks / rate * 256 + ticks % rate * 256 / rate;
    if (!info) {
        info = "";
    }
    log_slow("Stat: [%.300s] %.500s [Span:%llums%lluus] ", arena_text_in(b->hot.base, name)->bytes,
             info, (unsigned long long)(us / 1000), (unsigned long long)(us % 1000));
}

static int is_over_threshold(const struct thread_block *b, uint64_t ticks,
                             const struct stint_impl_call *call) {
    return call && call->threshold_us >= 0 &&
           ticks >= (uint64_t)call->threshold_us * b->hot.ticks_per_us >> 8;
}

/* The part of the frame's call from `start` to `now` that lies in the call around it. All of it
 * unless the call was begun with an earlier start (frame_push). If it only seems to begin before
 * the call around it, because the clock was set back, it adds to that call's time as on the fast
 * path. */
static uint64_t ticks_within(const struct stint_impl_frame *f, uint64_t start, uint64_t now) {
    uint64_t around = start_around(f - 1);
    int is_slow = (STINT_IMPL_LOAD(&f->guard) & STINT_IMPL_TAGS) == STINT_IMPL_TAG;
    if (is_slow && start < around && around <= now) {
        return now - around;
    }
    return now - start;
}

/* Returns the time at which the frame's call ends: now, or read from the clock if that is 0. A call
 * that continues another one has its time in that one's: it ends at its start, unless a trace or a
 * threshold asks for its time. */
static inline __attribute__((always_inline)) uint64_t end_time(const struct thread_block *b,
                                                               const struct stint_impl_frame *f,
                                                               uint64_t now,
                                                               const struct stint_impl_call *call) {
    int is_asked = b->hot.trace_min != UINT64_MAX || (call && call->threshold_us >= 0);
    if (!is_asked && frame_continues(f)) {
        return STINT_IMPL_LOAD(&f->start);
    }
    if (!now) {
        return clock_ticks();
    }
    return now;
}

/* The end of a call inside an open one of its node n, which counts it. If other scopes are between
 * the two, its own time is added to the node's; without memory for that, it stays own time of the
 * scope around. */
static inline __attribute__((always_inline)) void end_recursive(struct thread_block *b,
                                                                struct stint_impl_frame *f,
                                                                struct stint_impl_node *n,
                                                                uint64_t now) {
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    stint_impl_frame_note(f, STINT_IMPL_LOAD(&n->recursions) + 1);
    stint_impl_owner_add(&n->recursions, 1);
    if (frame_continues(f) || now < start) {
        return;
    }
    uint64_t ticks = ticks_within(f, start, now);
    uint64_t own = ticks - STINT_IMPL_LOAD(&f->nested);
    if (!node_add_inner(b, STINT_IMPL_LOAD(&f->recursive), own)) {
        STINT_IMPL_STORE(&f->nested, ticks);
    }
}

/* The end of an outermost call, whose time becomes a sample of its node n. */
static inline __attribute__((always_inline)) void end_sampled(struct thread_block *b,
                                                              struct stint_impl_frame *f,
                                                              struct stint_impl_node *n,
                                                              uint64_t now, const char *info) {
    uint64_t start = STINT_IMPL_LOAD(&f->start), ticks = now - start;
    probe_end(b, f, n, ticks);
    stint_impl_frame_note(f, left_samples(n) + 1);
    node_add_sample(b, n, start, ticks, STINT_IMPL_LOAD(&f->nested), info);
    if (STINT_IMPL_UNLIKELY(ticks >= probe_long_from)) {
        tree_check_long(b, thread_frame_node(f));
    }
    STINT_IMPL_STORE(&f->nested, ticks_within(f, start, now));
}

/* The topmost frame's scope ends. now 0: the clock is read. */
static inline __attribute__((always_inline)) void end_top(struct thread_block *b, uint64_t now,
                                                          const struct stint_impl_call *call) {
    struct stint_impl_frame *f = b->hot.top;
    uint32_t node = thread_frame_node(f);
    struct stint_impl_node *n = tree_node(b, node);
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    if (!node) { /* the edge was wiped by a fork that interrupted begin */
        thread_pop(b);
        return;
    }
    now = end_time(b, f, now, call);
    uint64_t ticks = now - start;
    int backwards = now < start;
    if (stint_impl_frame_is_recursive(f)) {
        end_recursive(b, f, n, now);
    } else if (backwards) {
        thread_lose(b, STINT_STATUS_CLOCK_BACK);
    } else {
        end_sampled(b, f, n, now, call ? call->info : NULL);
    }
    if (!backwards && ticks >= b->hot.trace_min) {
        ring_add_span(b->hot.ring, node, start, ticks);
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread_pop(b);
    if (!backwards && is_over_threshold(b, ticks, call)) {
        report_slow_call(b, n, ticks, call->info);
    }
}

/* Each of two scopes that cross has its whole time. The time of both is own time of the one that
 * began later: it is taken from the own time of the other one, and once from the scope around. */
static void end_below(struct thread_block *b, struct stint_impl_frame *f, uint64_t now,
                      const struct stint_impl_call *call, int all_stay) {
    struct stint_impl_frame *last = b->hot.top, *first = crossing_take(b, f, all_stay);
    uint64_t both = 0;
    if (!now) {
        now = clock_ticks();
    }
    if (first && !frame_continues(f)) { /* else it has no time of its own */
        both = saturating_subtract(
            now, u64_max(STINT_IMPL_LOAD(&first->start), STINT_IMPL_LOAD(&f->start)));
    }
    STINT_IMPL_STORE(&f->nested, STINT_IMPL_LOAD(&f->nested) + both);
    end_top(b, now, call);
    struct stint_impl_frame *around = b->hot.top;
    STINT_IMPL_STORE(&around->nested, saturating_subtract(STINT_IMPL_LOAD(&around->nested), both));
    crossing_reopen(b, f + 1, last);
}

/* 0, or -1 if the thread cannot be entered or has no such scope. */
static __attribute__((noinline)) int end_crossing(uint64_t guard, uint64_t opened, uint64_t now,
                                                  const struct stint_impl_call *call,
                                                  int all_stay) {
    struct thread_block *b = thread_enter(0);
    if (!b) {
        return -1;
    }
    struct stint_impl_frame *f = frame_find_opened(b, guard, opened);
    if (f) {
        end_below(b, f, now, call, all_stay);
    }
    thread_leave(b);
    if (!f) {
        return -1;
    }
    return 0;
}

int recorder_end(uint64_t guard, uint64_t opened, uint64_t now,
                 const struct stint_impl_call *call) {
    struct thread_block *b = thread_block_here();
    struct stint_impl_frame *f = NULL;
    if (b) {
        f = frame_find_opened(b, guard, opened);
    }
    if (!f && b && !is_name(guard)) {
        f = frame_find_below(b, guard, opened);
    }
    if (!f) {
        if (!is_name(guard)) {
            moved_end(guard, opened);
        }
        return -1;
    }
    if (clock_kind() != CLOCK_KIND_COUNTER) {
        now = 0; /* the caller has read another clock */
    }
    if (f != b->hot.top) {
        if (crossing_has_range_above(b, f) && !end_crossing(guard, opened, now, call, 0)) {
            return 0;
        }
        thread_unwind(b, f);
    }
    end_top(b, now, call);
    return 0;
}

int recorder_end_crossing(uint64_t guard, uint64_t opened) {
    if (!end_crossing(guard, opened, 0, NULL, 1)) {
        return 0;
    }
    return recorder_end(guard, opened, 0, NULL); /* it may be another thread's */
}

static void begin_site(void *guard, struct stint_impl_site *site, uint32_t set, uint64_t start) {
    *(stint_impl_opened *)guard = 0;
    uint64_t me = (uint64_t)(uintptr_t)guard;
    uint64_t word = site_get_word(site);
    if (site_gate_of(word) == registry_gate()) {
        recorder_begin(me, word, set, start);
        return;
    }
    struct thread_block *b = thread_enter(1);
    if (b) {
        recorder_begin_entered(b, me, site_resolve(site), set, start);
        thread_leave(b);
    }
}

void recorder_begin_slow(void *guard, struct stint_impl_site *site, uint32_t set) {
    ERRNO_KEEP;
    begin_site(guard, site, set, 0);
}

void recorder_begin_at(void *guard, struct stint_impl_site *site, uint32_t set, uint64_t ticks) {
    ERRNO_KEEP;
    begin_site(guard, site, set, ticks);
}

void recorder_begin_since(void *guard, struct stint_impl_site *site, uint32_t set,
                          uint64_t start_us) {
    recorder_begin_at(guard, site, set, clock_ticks_at(start_us));
}

void recorder_end_slow(void *guard, uint64_t now, const struct stint_impl_call *call) {
    ERRNO_KEEP;
    const stint_impl_opened *opened = guard;
    if (opened && *opened) {
        recorder_end((uint64_t)(uintptr_t)guard, *opened, now, call);
    }
}
