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
 * - With STINT_SAMPLE a node of which calls are not timed is found by its sums, which have what
 *   such a call needs. It reads no clock; its frame has a tagged guard, so that the check of a
 *   guard that is not on top leads `end` to it.
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

#ifndef STINT_INLINE
#define STINT_INLINE 2
#endif
#if STINT_INLINE != 1 && STINT_INLINE != 2
#error "STINT_INLINE must be 1 (inline at each site) or 2 (one copy per file, the default)"
#endif

#define STINT_IMPL_LIKELY(x) __builtin_expect(!!(x), 1)
#define STINT_IMPL_UNLIKELY(x) __builtin_expect(!!(x), 0)

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
    __attribute__((tls_model("initial-exec")));

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

/* The second try: by a hash of the place in the tree. NULL: the slow path finds or makes it. */
static inline __attribute__((always_inline)) struct stint_impl_node *
stint_impl_node_find(struct stint_impl_thread *t, uint32_t parent, uint32_t set, uint32_t id) {
    const struct stint_impl_node *p =
        (struct stint_impl_node *)(void *)(t->base + (uint64_t)parent * STINT_IMPL_UNIT);
    const uint32_t *edges;
    uint64_t slot;
    uint32_t i;
    if (p->site == id && p->set == set) {
        return STINT_IMPL_NULL; /* it calls itself: there is no such edge */
    }
    slot =
        stint_impl_edge_slot(stint_impl_edge_key(parent, set, id), STINT_IMPL_LOAD(&t->edge_shift));
    /* In this order: a signal handler may put a larger table in its place. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    edges = STINT_IMPL_LOAD(&t->edges);
    for (i = 0; i < STINT_IMPL_EDGE_GROUP; ++i) {
        uint32_t unit = STINT_IMPL_LOAD(&edges[slot ^ i]);
#if defined(STINT_IMPL_ATOMIC_ONLY)
        if (!unit) {
            continue; /* ThreadSanitizer sees the reads below, and who writes the header */
        }
#endif
        /* At 0 is the arena's header, which is longer than a node. */
        struct stint_impl_node *n =
            (struct stint_impl_node *)(void *)(t->base + (uint64_t)unit * STINT_IMPL_UNIT);
        if (n->site == id && n->parent == parent && n->set == set && unit) {
            return n;
        }
    }
    return STINT_IMPL_NULL;
}

/* With STINT_SAMPLE: the node's sums if calls of it are left out, 0: every call is timed. A node
 * that has some is in no `near`, its sums are in `near_sampled`. */
static inline __attribute__((always_inline)) uint32_t
stint_impl_sampled_of(const struct stint_impl_node *n) {
    uint32_t kind = STINT_IMPL_LOAD(&n->kind);
    if ((kind & (STINT_IMPL_SAMPLED | STINT_IMPL_EXACT)) != STINT_IMPL_SAMPLED) {
        return 0;
    }
    return STINT_IMPL_LOAD(&n->gpu);
}

/* Hides from the compiler where a value comes from. */
#define STINT_IMPL_HIDE(value) __asm__("" : "+r"(value))

static inline __attribute__((always_inline)) struct stint_impl_sampled *
stint_impl_sampled_at(const char *base, uint32_t sampled) {
    return (struct stint_impl_sampled *)(void *)(base + (uint64_t)sampled * STINT_IMPL_UNIT);
}

/* What an untimed call has for a start; 0: the call is to be timed. */
static inline __attribute__((always_inline)) uint64_t stint_impl_untimed(const char *base,
                                                                         uint32_t sampled) {
    struct stint_impl_sampled *s = stint_impl_sampled_at(base, sampled);
    uint32_t left = STINT_IMPL_LOAD(&s->left);
    if (!left) {
        return 0;
    }
    STINT_IMPL_STORE(&s->left, left - 1);
    return STINT_IMPL_UNTIMED | sampled;
}

/* The frame of the node's last untimed call, most likely that of the next one, too. */
static inline __attribute__((always_inline)) struct stint_impl_frame *
stint_impl_frame_guess(const char *base, const struct stint_impl_sampled *s) {
    return (struct stint_impl_frame *)(void *)(base + STINT_IMPL_LOAD(&s->frame));
}

/* Whether the guess is `f`. The compiler must not know that it is where it is: a processor guesses
 * the comparison, so what is written to `top` does not wait for the `top` that was read, which the
 * scope before has just written. */
static inline __attribute__((always_inline)) int
stint_impl_frame_is(const struct stint_impl_frame *guess, const struct stint_impl_frame *f) {
    STINT_IMPL_HIDE(guess);
    return guess == f;
}

/* Opens a scope as an untimed call if its node is one of those tried first. 0: not so, or the call
 * is to be timed, or the guard is not below every open one. */
static inline __attribute__((always_inline)) int
stint_impl_open_untimed(struct stint_impl_thread *t, uint64_t me, uint32_t set, uint32_t id) {
    struct stint_impl_sampled *s = STINT_IMPL_LOAD(&t->near_sampled[id % STINT_IMPL_NEAR]);
    struct stint_impl_frame *top = t->top;
    struct stint_impl_frame *f = stint_impl_frame_guess(t->base, s);
    if (STINT_IMPL_LOAD(&s->site) != id || s->parent != STINT_IMPL_LOAD(&top->node) ||
        s->set != set || me >= STINT_IMPL_LOAD(&top->low)) {
        return 0;
    }
    uint32_t left = STINT_IMPL_LOAD(&s->left);
    if (!stint_impl_frame_is(f, top + 1) || !left) {
        return 0;
    }
    uint64_t start = s->start;
    STINT_IMPL_STORE(&s->left, left - 1);
    t->top = f;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&f->node, s->node);
    STINT_IMPL_STORE(&f->low, me);
    STINT_IMPL_STORE(&f->nested, 0);
    STINT_IMPL_STORE(&f->guard, me | STINT_IMPL_TAG);
    STINT_IMPL_STORE(&f->start, start);
    *(stint_impl_opened *)(uintptr_t)me = start;
    return 1;
}

static inline __attribute__((always_inline)) int
stint_impl_node_is(const struct stint_impl_node *n, uint32_t parent, uint32_t set, uint32_t id) {
    return n->site == id && n->parent == parent && n->set == set;
}

static inline __attribute__((always_inline)) void
stint_impl_frame_fill(struct stint_impl_thread *t, struct stint_impl_frame *f,
                      const struct stint_impl_node *n, uint64_t low, uint64_t guard,
                      uint64_t start) {
    t->top = f;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&f->node, (uint32_t)((uint64_t)((char *)n - t->base) / STINT_IMPL_UNIT));
    STINT_IMPL_STORE(&f->low, low);
    STINT_IMPL_STORE(&f->nested, 0);
    STINT_IMPL_STORE(&f->guard, guard);
    STINT_IMPL_STORE(&f->start, start);
    stint_impl_pending_add(t->base, f);
}

/* Opens a scope of a known site below the innermost open one if its node is one of those tried
 * first, and its guard below every open one. */
static inline __attribute__((always_inline)) int
stint_impl_open_near(struct stint_impl_thread *t, uint64_t me, uint32_t set, uint32_t id) {
    struct stint_impl_frame *f = t->top;
    struct stint_impl_node *n;
    if (STINT_IMPL_UNLIKELY(f == t->last)) {
        return 0; /* also of a thread that has recorded nothing yet */
    }
    n = STINT_IMPL_LOAD(&t->near[id % STINT_IMPL_NEAR]);
    if (!stint_impl_node_is(n, STINT_IMPL_LOAD(&f->node), set, id)) {
        return stint_impl_open_untimed(t, me, set, id);
    }
    if (STINT_IMPL_UNLIKELY(me >= STINT_IMPL_LOAD(&f->low))) {
        return 0;
    }
    uint64_t now = STINT_IMPL_TICKS(); /* here, before the stores: - 0.1 nested */
    stint_impl_frame_fill(t, f + 1, n, me, me, now);
    *(stint_impl_opened *)(uintptr_t)me = now;
    return 1;
}

/* Opens a scope of a known site below the innermost open one. 0: not possible here. */
static inline __attribute__((always_inline)) int
stint_impl_open_far(struct stint_impl_thread *t, uint64_t me, uint32_t set, uint32_t id) {
    struct stint_impl_frame *f = t->top;
    if (STINT_IMPL_UNLIKELY(f == t->last)) {
        return 0;
    }
    uint32_t parent = STINT_IMPL_LOAD(&f->node);
    struct stint_impl_node *n = STINT_IMPL_LOAD(&t->near[id % STINT_IMPL_NEAR]);
    uint32_t sampled = 0;
    if (!stint_impl_node_is(n, parent, set, id)) {
        n = stint_impl_node_find(t, parent, set, id);
        if (!n) {
            return 0;
        }
        sampled = stint_impl_sampled_of(n);
        if (!sampled) {
            STINT_IMPL_STORE(&t->near[id % STINT_IMPL_NEAR], n);
        }
    }
    uint64_t low = STINT_IMPL_LOAD(&f->low);
    if (STINT_IMPL_UNLIKELY(me >= low)) {
        /* Not below every open guard: two in one frame laid out upwards, or a stale one of ours. */
        struct stint_impl_frame *g = f;
        if (STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
            return 0;
        }
        do {
            if ((STINT_IMPL_LOAD(&g->guard) | STINT_IMPL_TAG) == (me | STINT_IMPL_TAG)) {
                return 0;
            }
            --g;
        } while (me >= STINT_IMPL_LOAD(&g->low));
    } else {
        low = me;
    }
    uint64_t now = 0, guard = me | STINT_IMPL_TAG;
    ++f;
    if (sampled) {
        struct stint_impl_sampled *s = stint_impl_sampled_at(t->base, sampled);
        STINT_IMPL_STORE(&s->frame, (uint64_t)((char *)f - t->base));
        STINT_IMPL_STORE(&t->near_sampled[id % STINT_IMPL_NEAR], s);
        now = stint_impl_untimed(t->base, sampled);
    }
    if (!now) {
        now = STINT_IMPL_TICKS();
        guard = me;
    }
    stint_impl_frame_fill(t, f, n, low, guard, now);
    *(stint_impl_opened *)(uintptr_t)me = now;
    return 1;
}

static inline __attribute__((always_inline)) int
stint_impl_open_body(struct stint_impl_thread *t, uint64_t me, uint32_t set, uint32_t id) {
    return stint_impl_open_near(t, me, set, id) || stint_impl_open_far(t, me, set, id);
}

/* Closes an untimed call on top. 0: it is none, or the slow path has to see it. */
static inline __attribute__((always_inline)) int
stint_impl_end_untimed(struct stint_impl_thread *t, uint64_t me,
                       const struct stint_impl_call *call) {
    struct stint_impl_frame *f = t->top, *guess;
    uint64_t start, compared;
    if (STINT_IMPL_LOAD(&f->guard) != (me | STINT_IMPL_TAG) ||
        (call && (call->info || call->threshold_us >= 0))) {
        return 0;
    }
    /* That of the guard, which does not wait for the frame's: see stint_impl_frame_is. */
    start = *(stint_impl_opened *)(uintptr_t)me;
    compared = start;
    STINT_IMPL_HIDE(compared);
    if (STINT_IMPL_LOAD(&f->start) != compared || !(start & STINT_IMPL_UNTIMED)) {
        return 0;
    }
    struct stint_impl_sampled *s = stint_impl_sampled_at(t->base, (uint32_t)start);
    guess = stint_impl_frame_guess(t->base, s);
    if (STINT_IMPL_UNLIKELY(!stint_impl_frame_is(guess, f))) {
        /* The node is called at other depths, too. */
        STINT_IMPL_STORE(&s->frame, (uint64_t)((char *)f - t->base));
        guess = f;
    }
    STINT_IMPL_STORE(&s->untimed, STINT_IMPL_LOAD(&s->untimed) + 1);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&guess->guard, 0);
    t->top = guess - 1;
    return 1;
}

static inline __attribute__((always_inline)) void
stint_impl_end_body(void *guard, const struct stint_impl_call *call) {
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct stint_impl_frame *f = t->top;
    uint64_t me = (uint64_t)(uintptr_t)guard;
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    if (STINT_IMPL_UNLIKELY(STINT_IMPL_LOAD(&f->guard) != me) ||
        STINT_IMPL_UNLIKELY(*(stint_impl_opened *)guard != start)) {
        if (!stint_impl_end_untimed(t, me, call)) {
            stint_impl_end_slow(guard, 0, call);
        }
        return;
    }
    uint64_t now = STINT_IMPL_TICKS();
    struct stint_impl_node *n =
        (struct stint_impl_node *)(void *)(t->base +
                                           (uint64_t)STINT_IMPL_LOAD(&f->node) * STINT_IMPL_UNIT);
    uint64_t ticks = now - start;
    /* A new minimum or maximum, the first sample, a clock that stepped back (they wrap to huge
     * values), or over the call's own threshold. */
    if (STINT_IMPL_UNLIKELY(ticks - STINT_IMPL_LOAD(&n->min) >= STINT_IMPL_LOAD(&n->span)) ||
        (call && STINT_IMPL_UNLIKELY(ticks >= (uint64_t)call->threshold_us * t->ticks_per_us >> 8 &&
                                     call->threshold_us >= 0))) {
        stint_impl_end_slow(guard, now, call);
        return;
    }
    uint64_t seq = STINT_IMPL_LOAD(&n->seq) | 1; /* odd already if one was left midway */
    STINT_IMPL_STORE(&n->seq, seq);
    STINT_IMPL_PUBLISH(&n->total, STINT_IMPL_LOAD(&n->total) + ticks);
    STINT_IMPL_PUBLISH(&n->nested, STINT_IMPL_LOAD(&n->nested) + STINT_IMPL_LOAD(&f->nested));
    uint32_t histogram = STINT_IMPL_LOAD(&n->histogram);
    if (histogram) {
        STINT_IMPL_STORE(&f->pending, histogram * STINT_IMPL_BUCKETS_A_UNIT +
                                          stint_impl_bucket_of_32((uint32_t)ticks));
    }
    STINT_IMPL_PUBLISH(&n->seq, seq + 1);
    STINT_IMPL_STORE(&f[-1].nested, STINT_IMPL_LOAD(&f[-1].nested) + ticks);
    if (STINT_IMPL_UNLIKELY(ticks >= t->trace_min)) {
        /* Read again: kept in a register it costs untraced scopes 0.04. */
        stint_impl_ring_add(t->ring, STINT_IMPL_LOAD(&f->start),
                            stint_impl_span(STINT_IMPL_LOAD(&f->node), ticks));
    }
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&f->guard, 0);
    t->top = f - 1;
}

#if defined(__cplusplus)
/* One copy a module, merged by the linker; the variant is part of the name, so that translation
 * units that chose differently do not share one. */
namespace stint_impl {
#if STINT_INLINE == 1
inline namespace inlined {
#define STINT_IMPL_FN inline __attribute__((always_inline))
#else
inline namespace local {
#define STINT_IMPL_FN inline __attribute__((noinline, visibility("hidden")))
#endif
#elif STINT_INLINE == 2
#define STINT_IMPL_FN static __attribute__((noinline, unused))
#else
#define STINT_IMPL_FN static inline __attribute__((always_inline, unused))
#endif
#if defined(__cplusplus)
#define STINT_IMPL_FAR inline __attribute__((noinline, visibility("hidden")))
#else
#define STINT_IMPL_FAR static inline __attribute__((noinline, unused))
#endif

/* Where no node is tried first. A function of its own, so that other scopes save no registers for
 * it; inline, because without optimisation gcc emits any other static function that is unused. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes" /* inline and noinline */
STINT_IMPL_FAR void stint_impl_begin_far(void *guard, struct stint_impl_site *site, uint32_t set,
                                         uint32_t id) {
    if (!stint_impl_open_far(stint_impl_thread_here, (uint64_t)(uintptr_t)guard, set, id)) {
        stint_impl_begin_slow(guard, site, set);
    }
}
#pragma GCC diagnostic pop

static inline __attribute__((always_inline)) void
stint_impl_begin_body(void *guard, struct stint_impl_site *site, uint32_t set) {
    struct stint_impl_thread *t = stint_impl_thread_here;
    uint64_t word = STINT_IMPL_LOAD(&site->word);
    uint32_t id = (uint32_t)word;
    if (STINT_IMPL_UNLIKELY((uint32_t)(word >> 32) != STINT_IMPL_LOAD(&t->gate))) {
        stint_impl_begin_slow(guard, site, set);
        return;
    }
    /* Falls through, without a taken branch: a scope that is on waits for the clock anyway. */
    if (STINT_IMPL_LIKELY(id & STINT_IMPL_SITE_OFF)) {
        *(stint_impl_opened *)guard = 0;
        return;
    }
    if (STINT_IMPL_UNLIKELY(!stint_impl_open_near(t, (uint64_t)(uintptr_t)guard, set, id))) {
        stint_impl_begin_far(guard, site, set, id);
    }
}

STINT_IMPL_FN void stint_impl_begin(void *guard, struct stint_impl_site *site, uint32_t set) {
    stint_impl_begin_body(guard, site, set);
}

STINT_IMPL_FN void stint_impl_end_open(void *guard) {
    stint_impl_end_body(guard, STINT_IMPL_NULL);
}

STINT_IMPL_FN void stint_impl_end_open_with(struct stint_impl_call *guard) {
    stint_impl_end_body(guard, guard);
}

/* At the site itself: an off scope costs no call at its end. */
static inline __attribute__((always_inline, unused)) void stint_impl_end(void *guard) {
    if (*(stint_impl_opened *)guard) {
        stint_impl_end_open(guard);
    }
}

static inline __attribute__((always_inline, unused)) void
stint_impl_end_with(struct stint_impl_call *guard) {
    if (guard->opened) {
        stint_impl_end_open_with(guard);
    }
}

#ifdef __cplusplus
} /* inline namespace */
} /* namespace stint_impl */
#endif

#endif
