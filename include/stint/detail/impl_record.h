/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hot path: opening and closing a scope. Not for users.
 *
 * Implementation notes
 * - One comparison of the site's word with the thread's gate covers every unusual case: a new site
 *   or thread, a changed filter or level, a fork, a thread that has ended, a signal handler inside
 *   the slow path, a clock other than the inline one. All of these take the slow path.
 * - A scope is identified by the address of its guard and by its start, which is in the guard and
 *   in its frame. A guard that a goto, switch or longjmp left uninitialised or open is harmless:
 *   its contents count only together with a frame of its address. `begin` at an address that may
 *   already be open (not below every open one: `low`) and `end` of a guard that is not the top
 *   frame's take the slow path, which searches, also in other threads' frames, and repairs.
 * - A call right inside another one of its scope has a frame but no sample. The frame is tagged
 *   AGAIN, and its end adds 1 to the node's `recursions`.
 * - `begin` claims the frame before filling it and `end` frees it last, so that a signal handler in
 *   between pushes its own scopes above and pops them again.
 * - `end` writes the node under its sequence word; data stores are release stores because that
 *   orders them after the odd sequence word without a fence (plain moves on x86-64).
 *
 * Two ways to compile it, chosen per translation unit by STINT_INLINE: 2 (default) one local copy
 * of begin and end that every site calls, 1 everything inline at the site. docs/performance.md has
 * the measurements.
 */
#ifndef STINT_IMPL_RECORD_H
#define STINT_IMPL_RECORD_H

#include "impl_clock.h"
#include "impl_layout.h"

#if !defined(STINT_INLINE) || STINT_INLINE == 2
#define STINT_IMPL_INLINE_2
#elif STINT_INLINE == 1
#define STINT_IMPL_INLINE_1
#ifndef STINT_IMPL_MSAN
#define STINT_IMPL_AT_SITES
#endif
#else
#error "STINT_INLINE must be 1 (inline at each site) or 2 (one copy per file, the default)"
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define stint_impl_thread_here STINT_IMPL_ABI_NAME(stint_impl_thread_here)
/* Inside the library both are other functions (runtime/base/api.h). */
#ifndef STINT_IMPL_BEGIN_SLOW
#define STINT_IMPL_BEGIN_SLOW STINT_IMPL_ABI_NAME(stint_impl_begin_slow)
#define STINT_IMPL_END_SLOW STINT_IMPL_ABI_NAME(stint_impl_end_slow)
#endif
#define stint_impl_begin_slow STINT_IMPL_BEGIN_SLOW
#define stint_impl_end_slow STINT_IMPL_END_SLOW
#define stint_impl_begin_since STINT_IMPL_ABI_NAME(stint_impl_begin_since)
#define stint_impl_begin_dynamic STINT_IMPL_ABI_NAME(stint_impl_begin_dynamic)
#define stint_impl_begin_under STINT_IMPL_ABI_NAME(stint_impl_begin_under)
#define stint_impl_handle_begin STINT_IMPL_ABI_NAME(stint_impl_handle_begin)
#define stint_impl_handle_begin_dynamic STINT_IMPL_ABI_NAME(stint_impl_handle_begin_dynamic)
#define stint_impl_scope_open STINT_IMPL_ABI_NAME(stint_impl_scope_open)
#define stint_impl_scope_close STINT_IMPL_ABI_NAME(stint_impl_scope_close)
#define stint_impl_handle_end STINT_IMPL_ABI_NAME(stint_impl_handle_end)

/* Never NULL: it starts at a block whose gate matches nothing. Initial-exec, 8 bytes: the default
 * model costs + 0.2 of two clock reads a scope in a shared library. */
extern __thread struct stint_impl_thread *stint_impl_thread_here
    __attribute__((__tls_model__("initial-exec")));

extern void stint_impl_begin_slow(void *guard, struct stint_impl_site *site, uint32_t set);
extern void stint_impl_end_slow(void *guard, uint64_t now, const struct stint_impl_call *call);
extern void stint_impl_begin_since(void *guard, struct stint_impl_site *site, uint32_t set,
                                   uint64_t start_us);
/* length (size_t)-1: name ends with NUL. start_us UINT64_MAX: now. */
extern void stint_impl_begin_dynamic(void *guard, struct stint_impl_site *site, uint32_t set,
                                     const char *name, uint64_t length, uint64_t start_us);
/* The words of a stint_sender. */
extern void stint_impl_begin_under(void *guard, struct stint_impl_site *site, uint64_t at,
                                   uint64_t who);
extern void stint_impl_handle_begin(uint64_t *handle, struct stint_impl_site *site);
extern void stint_impl_handle_begin_dynamic(uint64_t *handle, const char *name, uint64_t length);
/* A scope of the call tree that is known by its name, not by an address: two words, which may be
 * moved. scope[0] = 0: none is open. length UINT64_MAX: up to the NUL. */
extern void stint_impl_scope_open(uint64_t *scope, const char *name, uint64_t length);
extern void stint_impl_scope_close(uint64_t *scope);
extern void stint_impl_handle_end(uint64_t *handle);

#ifdef __cplusplus
}
#endif

/* Hides from the compiler where a value comes from. */
#define STINT_IMPL_HIDE(value) __asm__("" : "+r"(value))

STINT_IMPL_INLINED struct stint_impl_node *stint_impl_node_at(const struct stint_impl_thread *t,
                                                              uint32_t unit) {
    return (struct stint_impl_node *)(void *)(t->base + (uint64_t)unit * STINT_IMPL_UNIT);
}

/* Searches an edge by a hash of the place in the tree. NULL: the slow path finds or makes it. */
STINT_IMPL_INLINED const struct stint_impl_edge *
stint_impl_edge_find(struct stint_impl_thread *t, uint32_t parent, uint32_t set, uint32_t id) {
    const struct stint_impl_edge *const *edges;
    uint64_t slot, key = stint_impl_scope_key(set, id);
    uint32_t i;
    slot =
        stint_impl_edge_slot(stint_impl_edge_key(parent, set, id), STINT_IMPL_LOAD(&t->edge_shift));
    /* In this order: a signal handler may put a larger table in its place. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    edges = STINT_IMPL_LOAD(&t->edges);
    for (i = 0; i < STINT_IMPL_EDGE_GROUP; ++i) {
        const struct stint_impl_edge *e = STINT_IMPL_LOAD(&edges[slot ^ i]);
        if (e && e->key == key && e->parent == parent) {
            return e;
        }
    }
    return STINT_IMPL_NULL;
}

/* Opens the scope of a node in frame f, the one above the top. Returns the guard's word. */
STINT_IMPL_INLINED stint_impl_opened stint_impl_frame_open(struct stint_impl_thread *t,
                                                           struct stint_impl_frame *f,
                                                           uint32_t node, uint64_t low, uint64_t me,
                                                           uint64_t start) {
    stint_impl_frame_take(t);
    stint_impl_frame_fill(f, node, low, me, start);
    stint_impl_pending_add(t, f);
    return start;
}

/* Opens a call in frame f + 1, right inside the call of frame f, which has the same node (in units)
 * and 0 in `recursive`. Returns the guard's word. The frame keeps the bucket that is not counted
 * yet. */
STINT_IMPL_INLINED stint_impl_opened stint_impl_open_right_inside(struct stint_impl_thread *t,
                                                                  struct stint_impl_frame *f,
                                                                  uint32_t node, uint64_t low,
                                                                  uint64_t me) {
    uint64_t now = STINT_IMPL_TICKS();
    stint_impl_frame_take(t);
    stint_impl_frame_fill(f + 1, node, low, me | STINT_IMPL_AGAIN, now);
    return now;
}

/* Opens any other call in frame f + 1 that is inside an open one, of the node `outer`: in the frame
 * below or, where frames of other scopes lie between the two, in one further down. The call stays
 * where it is in the tree. Returns the guard's word. */
STINT_IMPL_INLINED stint_impl_opened stint_impl_open_inside(struct stint_impl_thread *t,
                                                            struct stint_impl_frame *f,
                                                            uint32_t outer, uint64_t low,
                                                            uint64_t me, uint32_t tag) {
    uint64_t now = STINT_IMPL_TICKS();
    stint_impl_frame_take(t);
    STINT_IMPL_STORE(&f[1].recursive, outer);
    stint_impl_frame_fill(f + 1, STINT_IMPL_OWN(&f->node), low, me | tag, now);
    return now;
}

/* Opens a call inside an open one of its scope: right inside the outermost one, or inside any with
 * other scopes between the two. f: the frame on top; e: an edge of the scope, not from f's node,
 * but maybe to it. Returns 0 for everything else, which stint_impl_open_other decides: the call is
 * not recursive, it is right inside a recursive one, or its guard is not below every open one. */
STINT_IMPL_INLINED int stint_impl_open_recursive(struct stint_impl_thread *t,
                                                 struct stint_impl_frame *f,
                                                 const struct stint_impl_edge *e, uint64_t me,
                                                 uint32_t set, uint64_t id,
                                                 stint_impl_opened *opened) {
    /* The compiler reads here what only this path needs. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (e->node == STINT_IMPL_OWN(&f->node)) {
        if (!STINT_IMPL_OWN(&f->recursive) && me < STINT_IMPL_SEEN(&f->low)) {
            *opened = stint_impl_open_right_inside(t, f, e->node, me, me);
            return 1;
        }
    } else {
        e = STINT_IMPL_OWN(&t->again[id % STINT_IMPL_NEAR]);
        if (e->key != stint_impl_scope_key(set, id) || e->parent != STINT_IMPL_OWN(&f->node)) {
            return 0;
        }
    }
    if (e->node == STINT_IMPL_OWN(&f->recursive) || me >= STINT_IMPL_SEEN(&f->low)) {
        return 0;
    }
    *opened = stint_impl_open_inside(t, f, e->node, me, me, STINT_IMPL_INNER);
    return 1;
}

/* Opens a scope of a known site below the innermost open one. id: as in stint_impl_looked; a number
 * that is not an id is in the key of no edge. *opened: the guard's word. Returns 0 if its edge is
 * not one of those tried first, or its guard not below every open one. */
STINT_IMPL_INLINED int stint_impl_open_near(struct stint_impl_thread *t, uint64_t me, uint32_t set,
                                            uint64_t id, stint_impl_opened *opened) {
    struct stint_impl_frame *f = t->top;
    const struct stint_impl_edge *e;
    if (STINT_IMPL_UNLIKELY(f == t->last) || (set && id > STINT_IMPL_SITE_ID)) {
        return 0; /* also of a thread that has recorded nothing yet */
    }
    e = STINT_IMPL_OWN(&t->nearby[id % STINT_IMPL_NEAR]);
    if (STINT_IMPL_UNLIKELY(e->key != stint_impl_scope_key(set, id))) {
        return 0;
    }
    if (STINT_IMPL_UNLIKELY(e->parent != STINT_IMPL_OWN(&f->node))) {
#ifndef STINT_IMPL_AT_SITES
        return stint_impl_open_recursive(t, f, e, me, set, id, opened);
#else
        return 0;
#endif
    }
    if (STINT_IMPL_UNLIKELY(me >= STINT_IMPL_SEEN(&f->low))) {
        return 0;
    }
    /* The clock is read here, before the stores: - 0.1 nested. */
    uint64_t now = STINT_IMPL_TICKS();
    *opened = stint_impl_frame_open(t, f + 1, e->node, me, me, now);
    return 1;
}

/* Whether the slow path has to look at the open scopes, because the guard at `me` may be one of
 * them. f: the innermost one. The guard is not below every open one: it was left open at the same
 * address, or two guards of one function are laid out upwards. */
STINT_IMPL_INLINED int stint_impl_guard_is_open(const struct stint_impl_frame *f, uint64_t me) {
    if (STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
        return 1;
    }
    do {
        if ((STINT_IMPL_LOAD(&f->guard) | STINT_IMPL_TAGS) == (me | STINT_IMPL_TAGS)) {
            return 1;
        }
        --f;
    } while (me >= STINT_IMPL_LOAD(&f->low));
    return 0;
}

/* Opens a call inside any open one of its scope, as stint_impl_open_recursive, but without an edge
 * of the scope at hand: f's node itself tells whether it is the scope's. low: of the frame to open.
 * Returns 0 if the call is not recursive, or if the edge back to the open call is not
 * remembered. (Both functions have their own order of the same decisions: any other costs 1 to 4
 * instructions.) */
STINT_IMPL_INLINED int stint_impl_open_again(struct stint_impl_thread *t,
                                             struct stint_impl_frame *f, uint64_t low, uint64_t me,
                                             uint32_t set, uint32_t id, stint_impl_opened *opened) {
    uint32_t node = STINT_IMPL_OWN(&f->node), outer = node, tag = STINT_IMPL_INNER;
    const struct stint_impl_node *n = stint_impl_node_at(t, node);
    if (n->site != id || n->set != set) {
        const struct stint_impl_edge *e = STINT_IMPL_OWN(&t->again[id % STINT_IMPL_NEAR]);
        if (e->parent != node || e->key != stint_impl_scope_key(set, id)) {
            return 0;
        }
        outer = e->node;
    } else if (!STINT_IMPL_OWN(&f->recursive)) {
        *opened = stint_impl_open_right_inside(t, f, node, low, me);
        return 1;
    }
    /* It is right inside a recursive call: the slow path ends it. */
    if (outer == STINT_IMPL_OWN(&f->recursive)) {
        tag = STINT_IMPL_TAG;
    }
    *opened = stint_impl_open_inside(t, f, outer, low, me, tag);
    return 1;
}

/* Closes the call on top, in frame f, with the tag AGAIN. Returns 0 if the slow path has to see it,
 * because something asks for its own time. */
STINT_IMPL_INLINED int stint_impl_end_again(struct stint_impl_thread *t, struct stint_impl_frame *f,
                                            uint64_t me, const struct stint_impl_call *call) {
    if (*(stint_impl_opened *)me != STINT_IMPL_LOAD(&f->start) || t->trace_min != ~(uint64_t)0 ||
        (call && call->threshold_us >= 0)) {
        return 0;
    }
    struct stint_impl_node *n = stint_impl_node_at(t, STINT_IMPL_OWN(&f->node));
    stint_impl_frame_note(f, STINT_IMPL_LOAD(&n->recursions) + 1);
    stint_impl_owner_count(&n->recursions);
    stint_impl_owner_raise(&f[-1].nested, STINT_IMPL_OWN(&f->nested));
    STINT_IMPL_STORE(&f->guard, 0); /* as stint_impl_frame_close */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&f->counted, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stint_impl_top_lower(t);
    return 1;
}

/* The same with the tag INNER: its own time, without the calls in it, is added to its node. Returns
 * 0 also if the node has no place for it, or if the clock stepped back. */
STINT_IMPL_INLINED int stint_impl_end_inner(struct stint_impl_thread *t, struct stint_impl_frame *f,
                                            uint64_t me, const struct stint_impl_call *call) {
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    if (*(stint_impl_opened *)me != start || t->trace_min != ~(uint64_t)0 ||
        (call && call->threshold_us >= 0)) {
        return 0;
    }
    struct stint_impl_node *n = stint_impl_node_at(t, STINT_IMPL_OWN(&f->recursive));
    /* Without a block this is the arena's magic, which is another number (n->measures). */
    struct stint_impl_inner *inner =
        (struct stint_impl_inner *)(void *)stint_impl_node_at(t, STINT_IMPL_LOAD(&n->measures));
    uint64_t ticks = STINT_IMPL_TICKS_SINCE(start);
    if (inner->first != STINT_IMPL_INNER_TICKS || (int64_t)ticks < 0) {
        return 0;
    }
    stint_impl_frame_note(f, STINT_IMPL_LOAD(&n->recursions) + 1);
    stint_impl_owner_count(&n->recursions);
    stint_impl_owner_raise(&inner->ticks, ticks - STINT_IMPL_OWN(&f->nested));
    stint_impl_owner_raise(&f[-1].nested, ticks);
    stint_impl_frame_close(f);
    stint_impl_top_lower(t);
    return 1;
}

/* Closes the call on top, in frame f, if its guard is tagged. Returns 0 if another path has to. */
STINT_IMPL_INLINED int stint_impl_end_tagged(struct stint_impl_thread *t,
                                             struct stint_impl_frame *f, uint64_t me,
                                             const struct stint_impl_call *call) {
    uint64_t tag = STINT_IMPL_LOAD(&f->guard) ^ me;
    if (tag == STINT_IMPL_AGAIN) {
        return stint_impl_end_again(t, f, me, call);
    }
    if (tag == STINT_IMPL_INNER) {
        return stint_impl_end_inner(t, f, me, call);
    }
    return 0;
}

/* Opens a scope that stint_impl_open_near did not open: its edge has to be searched, it is inside
 * another call of itself, or its guard is not below every open one. Returns 0 if only the slow path
 * can open it. */
STINT_IMPL_INLINED int stint_impl_open_other(struct stint_impl_thread *t, uint64_t me, uint32_t set,
                                             uint32_t id, stint_impl_opened *opened) {
    struct stint_impl_frame *f = t->top;
    uint64_t low = STINT_IMPL_LOAD(&f->low);
    if (STINT_IMPL_UNLIKELY(f == t->last)) {
        return 0;
    }
    const struct stint_impl_edge *e = STINT_IMPL_NULL;
    if (STINT_IMPL_LIKELY(me < low)) {
        low = me;
    } else if (stint_impl_guard_is_open(f, me)) {
        return 0;
    } else { /* stint_impl_open_near looked at this edge only where the guard is lower */
        e = STINT_IMPL_OWN(&t->nearby[id % STINT_IMPL_NEAR]);
    }
    if (!e || e->key != stint_impl_scope_key(set, id) || e->parent != STINT_IMPL_OWN(&f->node)) {
        if (stint_impl_open_again(t, f, low, me, set, id, opened)) {
            return 1;
        }
        e = stint_impl_edge_find(t, STINT_IMPL_OWN(&f->node), set, id);
        if (!e) {
            return 0;
        }
        STINT_IMPL_STORE(&t->nearby[id % STINT_IMPL_NEAR], e);
    }
    *opened = stint_impl_frame_open(t, f + 1, e->node, low, me, STINT_IMPL_TICKS());
    return 1;
}

/* The word of a site as a thread sees it: the word less the thread's gate. */
struct stint_impl_looked {
    uint64_t id; /* above STINT_IMPL_SITE_ID it is none, and only the slow path knows */
    int is_off;  /* id is 0 */
};

STINT_IMPL_INLINED struct stint_impl_looked stint_impl_site_look(const struct stint_impl_thread *t,
                                                                 uint64_t word) {
    struct stint_impl_looked looked;
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__) && !defined(STINT_IMPL_ATOMIC_ONLY)
    /* One instruction, which reads both halves of the word that the gate is in, and its flags.
     * `volatile`: another thread writes the gate. */
    __asm__ volatile("subq %2, %0"
                     : "+r"(word), "=@ccz"(looked.is_off)
                     : "m"(t->no_site), "m"(t->gate));
#else
    word -= (uint64_t)STINT_IMPL_LOAD(&t->gate) << 32;
    looked.is_off = !word;
#endif
    looked.id = word;
    return looked;
}

/* For code of the library that has no site. Writes the guard. Returns 0 if only the slow path can
 * open the scope. */
STINT_IMPL_INLINED int stint_impl_open_body(struct stint_impl_thread *t, uint64_t me, uint32_t set,
                                            uint32_t id) {
    stint_impl_opened opened = 0;
    if (!stint_impl_open_near(t, me, set, id, &opened) &&
        !stint_impl_open_other(t, me, set, id, &opened)) {
        return 0;
    }
    *(stint_impl_opened *)me = opened;
    return 1;
}

#if defined(__cplusplus)
/* The functions of a guard object are at its site: as calls, they would cost a scope that is off
 * more than its check. */
#define STINT_IMPL_HERE STINT_IMPL_UNSEEN __attribute__((__always_inline__))

/* One copy a module, merged by the linker; the variant is part of the name, so that translation
 * units that chose differently do not share one. */
namespace stint_impl {
#ifdef STINT_IMPL_AT_SITES
inline namespace inlined {
#define STINT_IMPL_FN inline STINT_IMPL_UNSEEN __attribute__((__always_inline__))
#else
inline namespace copied {
#define STINT_IMPL_FN                                                                              \
    inline STINT_IMPL_UNSEEN STINT_IMPL_UNCHECKED STINT_IMPL_NOINLINE                              \
        __attribute__((__visibility__("hidden")))
#endif
#elif !defined(STINT_IMPL_AT_SITES)
#define STINT_IMPL_FN                                                                              \
    static STINT_IMPL_UNSEEN STINT_IMPL_UNCHECKED STINT_IMPL_NOINLINE __attribute__((__unused__))
#else
#define STINT_IMPL_FN STINT_IMPL_INLINED
#endif
#if defined(__cplusplus)
#define STINT_IMPL_FAR                                                                             \
    inline STINT_IMPL_UNSEEN STINT_IMPL_UNCHECKED STINT_IMPL_NOINLINE                              \
        __attribute__((__visibility__("hidden")))
#else
#define STINT_IMPL_FAR STINT_IMPL_INLINE STINT_IMPL_UNCHECKED STINT_IMPL_NOINLINE
#endif

/* Functions of their own, so that other scopes save no registers for them; inline, because without
 * optimisation gcc emits any other static function that is unused. The slow path opens the scope,
 * or does not, and writes the guard. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" /* inline and noinline */
STINT_IMPL_FAR stint_impl_opened stint_impl_begin_unusual(void *guard, struct stint_impl_site *site,
                                                          uint32_t set) {
    stint_impl_begin_slow(guard, site, set);
    return *(stint_impl_opened *)guard;
}

/* Opens any scope that stint_impl_open_near does not. It reads the site's word again, so that the
 * callers keep one number less. */
STINT_IMPL_FAR stint_impl_opened stint_impl_begin_other(void *guard, struct stint_impl_site *site,
                                                        uint32_t set) {
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct stint_impl_looked looked = stint_impl_site_look(t, STINT_IMPL_LOAD(&site->word));
    stint_impl_opened opened = 0;
    if (looked.is_off || looked.id > STINT_IMPL_SITE_ID ||
        !stint_impl_open_other(t, (uint64_t)guard, set, (uint32_t)looked.id, &opened)) {
        return stint_impl_begin_unusual(guard, site, set);
    }
    return opened;
}

/* The end of a scope that is inside another call of itself, or not on top. */
STINT_IMPL_FAR void stint_impl_end_far(void *guard, const struct stint_impl_call *call) {
#ifdef STINT_IMPL_AT_SITES
    struct stint_impl_thread *t = stint_impl_thread_here;
    if (stint_impl_end_tagged(t, t->top, (uint64_t)guard, call)) {
        return;
    }
#endif
    stint_impl_end_slow(guard, 0, call);
}
#pragma GCC diagnostic pop

/* In the local copy gcc would move the guard out of the argument's register. */
#ifndef STINT_IMPL_AT_SITES
#define STINT_IMPL_KEEP(guard) STINT_IMPL_HIDE(guard)
#else
#define STINT_IMPL_KEEP(guard) ((void)0)
#endif

/* Counts a sample that is neither a new minimum nor a new maximum of the node, and closes the frame
 * on top, of that node. */
STINT_IMPL_INLINED void stint_impl_end_ordinary(struct stint_impl_thread *t,
                                                struct stint_impl_frame *f,
                                                struct stint_impl_node *n, uint64_t ticks) {
    stint_impl_seq_begin(&n->seq);
    stint_impl_owner_raise(&n->total, ticks);
    stint_impl_owner_raise(&n->nested, STINT_IMPL_OWN(&f->nested));
    uint32_t histogram = STINT_IMPL_OWN(&n->histogram);
    if (STINT_IMPL_LIKELY(histogram)) {
        STINT_IMPL_STORE(&f->pending, stint_impl_bucket_place(histogram, (uint32_t)ticks));
    }
    stint_impl_owner_raise(&n->seq, 1);
    stint_impl_owner_raise(&f[-1].nested, ticks);
    if (STINT_IMPL_UNLIKELY(ticks >= t->trace_min)) {
        /* Read again: kept in a register it costs untraced scopes 0.04. */
        stint_impl_ring_add(t->ring, STINT_IMPL_LOAD(&f->start),
                            stint_impl_span_short(STINT_IMPL_LOAD(&f->node), ticks));
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&f->guard, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stint_impl_top_lower(t);
}

STINT_IMPL_INLINED void stint_impl_end_body(void *guard, const struct stint_impl_call *call) {
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct stint_impl_frame *f = t->top;
    uint64_t me = (uint64_t)guard;
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    if (STINT_IMPL_UNLIKELY(STINT_IMPL_SEEN(&f->guard) != me) ||
        STINT_IMPL_UNLIKELY(*(stint_impl_opened *)guard != start)) {
#ifndef STINT_IMPL_AT_SITES
        if (stint_impl_end_tagged(t, f, me, call)) {
            return;
        }
#endif
        stint_impl_end_far(guard, call);
        return;
    }
    uint64_t ticks = STINT_IMPL_TICKS_SINCE(start);
    STINT_IMPL_HIDE(ticks); /* the slow path's reading is not kept beside it */
    struct stint_impl_node *n = stint_impl_node_at(t, STINT_IMPL_OWN(&f->node));
    /* A new minimum or maximum, the first sample, a clock that stepped back (they wrap to huge
     * values), or over the call's own threshold. */
    if (STINT_IMPL_UNLIKELY(ticks - STINT_IMPL_OWN(&n->min) >= STINT_IMPL_OWN(&n->span)) ||
        (call && STINT_IMPL_UNLIKELY(ticks >= (uint64_t)call->threshold_us * t->ticks_per_us >> 8 &&
                                     call->threshold_us >= 0))) {
        STINT_IMPL_KEEP(guard);
        stint_impl_end_slow(guard, start + ticks, call);
        return;
    }
    stint_impl_end_ordinary(t, f, n, ticks);
}

/* The word of a guard that is not opened, from a number that is 0. In the local copy it is no
 * constant, which a scope that is on would put into the register, too. */
STINT_IMPL_INLINED stint_impl_opened stint_impl_opened_not(uint64_t zero) {
#ifdef STINT_IMPL_AT_SITES
    (void)zero;
    return 0;
#else
    __asm__ volatile("" : "+r"(zero));
    return zero;
#endif
}

STINT_IMPL_INLINED stint_impl_opened stint_impl_begin_body(void *guard,
                                                           struct stint_impl_site *site,
                                                           uint32_t set) {
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct stint_impl_looked looked = stint_impl_site_look(t, STINT_IMPL_LOAD(&site->word));
    stint_impl_opened opened = 0;
    /* Falls through, without a taken branch: a scope that is on waits for the clock anyway. */
    if (STINT_IMPL_LIKELY(looked.is_off)) {
        return stint_impl_opened_not(looked.id);
    }
    if (STINT_IMPL_LIKELY(stint_impl_open_near(t, (uint64_t)guard, set, looked.id, &opened))) {
        return opened;
    }
    return stint_impl_begin_other(guard, site, set);
}

/* In the default set, a function of its own: it compares no sets. */
STINT_IMPL_FN stint_impl_opened stint_impl_begin_default(void *guard,
                                                         struct stint_impl_site *site) {
    STINT_IMPL_KEEP(guard);
    return stint_impl_begin_body(guard, site, 0);
}

STINT_IMPL_FN stint_impl_opened stint_impl_begin_in_set(void *guard, struct stint_impl_site *site,
                                                        uint32_t set) {
    STINT_IMPL_KEEP(guard);
    return stint_impl_begin_body(guard, site, set);
}

/* Opens the scope and returns the guard's word, which the caller stores in the guard. So the check
 * at the end of the scope does not wait for a store of this function, which comes after one to an
 * address that is known late (docs/performance.md). */
STINT_IMPL_INLINED stint_impl_opened stint_impl_begin(void *guard, struct stint_impl_site *site,
                                                      uint32_t set) {
    if (__builtin_constant_p(set) && !set) {
        return stint_impl_begin_default(guard, site);
    }
    return stint_impl_begin_in_set(guard, site, set);
}

STINT_IMPL_FN void stint_impl_end_open(void *guard) {
    stint_impl_end_body(guard, STINT_IMPL_NULL);
}

STINT_IMPL_FN void stint_impl_end_open_with(struct stint_impl_call *guard) {
    stint_impl_end_body(guard, guard);
}

/* At the site itself: an off scope costs no call at its end. */
STINT_IMPL_INLINED void stint_impl_end(void *guard) {
    if (*(stint_impl_opened *)guard) {
        stint_impl_end_open(guard);
    }
}

STINT_IMPL_INLINED void stint_impl_end_with(struct stint_impl_call *guard) {
    if (guard->opened) {
        stint_impl_end_open_with(guard);
    }
}

#ifdef __cplusplus
} /* inline namespace */
} /* namespace stint_impl */
#endif

#endif
