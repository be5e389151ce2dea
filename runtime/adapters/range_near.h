/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The paths of a nested range that is begun and ended on the inline paths of a scope: inline, so
 * that the interface, and its place in the stack, is a constant in most of them. The functions
 * _rest are for all other ranges; they are called last, so that registers are not saved for them.
 */
#ifndef STINT_RANGE_NEAR_H
#define STINT_RANGE_NEAR_H

#include <stdint.h>
#include <string.h>

#include "range_stack.h"
#include "session/range_calls.h"

#define RANGE_INLINE static inline __attribute__((always_inline))
#define RANGE_NOT_INLINE __attribute__((noinline))

struct open_range {
    stint_impl_opened guard; /* first: at the guard's address */
    struct open_range *next; /* of its list; NULL: it is the last */
};

struct domain_ranges {
    struct open_range *innermost;
    uint32_t depth;     /* open ranges with an entry */
    uint32_t unentered; /* open ranges without one, inside of those; and UNENTERED_ALWAYS */
};

/* A bit in the number of the domain whose ranges never have an entry. */
#define UNENTERED_ALWAYS 0x80000000u

#define RANGE_KNOWN_BITS 10

/* Names at addresses with the same hash. */
struct known_place {
    /* A name that does not change (name_is_fixed): written once, by compare and exchange. NULL:
     * none; and its word, 0: not known yet. */
    const char *fixed;
    uint64_t fixed_word;
    /* The word of the name that was at an address last: it is still that one if it equals the known
     * name of its id. 0: none, as always in the first place. */
    uint64_t word;
    uint64_t reserved; /* a power of two is found in one instruction */
};

struct range_stack {
    struct known_place known[1 << RANGE_KNOWN_BITS]; /* first: at no offset */
    const char *base; /* the arena that `counts` are in; else counts may be NULL */
    uint64_t *counts;
    struct open_range *first_free;
    struct domain_ranges of[RANGE_DOMAINS_ALL];
    struct open_range open[RANGE_STACK_MOST];
};

/* Never NULL. A pointer, and initial-exec: with the stack itself in thread-local storage a range
 * costs 0.3 of a dynamic scope more, as a library that is loaded at run time finds that by a
 * call. */
extern RANGE_INTERNAL __thread struct range_stack *range_stack_here
    __attribute__((tls_model("initial-exec")));

/* The names of the first ids. Written before a word with the id gets into a stack, by any thread,
 * with the same contents; relaxed. In the child of a fork, whose arena is another one, no word of
 * the parent is of the thread's gate. */
#define RANGE_KNOWN_IDS 65536
struct known_name {
    const char *text;    /* in the arena, where it stays */
    uint64_t full_words; /* 8 bytes each, all before the NUL */
    uint64_t last;       /* the bytes after those up to the NUL, which `mask` has */
    uint64_t mask;
};
extern RANGE_INTERNAL struct known_name range_known_names[RANGE_KNOWN_IDS];

/* ---- The other paths: range_stack.c. */

void range_push_site_rest(const struct range_domain *domain, struct stint_impl_site *site,
                          uint32_t set);
void range_begin_site_rest(struct open_range *range, struct stint_impl_site *site, uint32_t set);
int range_push_name_rest(enum range_interface interface, const char *name);
int range_begin_name_rest(struct open_range *range, enum range_interface interface,
                          const char *name);
/* ticks: its duration, if that is read already; else 0. */
int range_pop_rest(uint32_t domain, uint64_t ticks);

/* ---- Entries. */

/* NULL: none is free, or the domain's new ranges get none. */
RANGE_INLINE struct open_range *range_entry_take(struct range_stack *stack,
                                                 struct domain_ranges *of) {
    struct open_range *range = stack->first_free;
    if (STINT_IMPL_UNLIKELY(!range) || STINT_IMPL_UNLIKELY(of->unentered)) {
        return NULL;
    }
    stack->first_free = range->next;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    range->next = of->innermost;
    of->innermost = range;
    ++of->depth;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return range;
}

RANGE_INLINE void range_entry_give(struct range_stack *stack, struct domain_ranges *of,
                                   struct open_range *range) {
    of->innermost = range->next;
    --of->depth;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    range->next = stack->first_free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack->first_free = range;
}

/* An entry for a range that begins, counted in a stack that knows where; NULL: the path _rest has
 * to see it. */
RANGE_INLINE struct open_range *range_enter_known(struct range_stack *stack, uint32_t number,
                                                  enum range_interface interface) {
    struct open_range *range = range_entry_take(stack, &stack->of[number]);
    if (STINT_IMPL_LIKELY(range)) {
        stint_impl_owner_count(&stack->counts[interface]);
    }
    return range;
}

/* ---- Ranges at a site. */

RANGE_INLINE void range_near_push_site(enum range_interface interface,
                                       const struct range_domain *domain, uint32_t number,
                                       struct stint_impl_site *site, uint32_t set) {
    struct range_stack *stack = range_stack_here;
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct open_range *range = NULL;
    if (STINT_IMPL_LIKELY(stack->base == t->base)) {
        range = range_enter_known(stack, number, interface);
    }
    if (STINT_IMPL_UNLIKELY(!range)) {
        range_push_site_rest(domain, site, set);
        return;
    }
    struct stint_impl_looked looked = stint_impl_site_look(t, STINT_IMPL_LOAD(&site->word));
    if (STINT_IMPL_UNLIKELY(looked.is_off) ||
        STINT_IMPL_UNLIKELY(!stint_impl_open_near(t, (uint64_t)(uintptr_t)&range->guard, set,
                                                  looked.id, &range->guard))) {
        range_begin_site_rest(range, site, set);
    }
}

/* ---- Ranges with a name of the program. */

/* 0 for NULL. Names beside each other, and those a page apart, have places of their own. */
RANGE_INLINE uint64_t range_known_place(const char *name) {
    uint64_t at = (uint64_t)(uintptr_t)name;
    return (at ^ at >> RANGE_KNOWN_BITS) % ((uint64_t)1 << RANGE_KNOWN_BITS);
}

/* The id in a word of the stack; RANGE_KNOWN_IDS or more if it is not of the thread's gate. */
RANGE_INLINE uint64_t range_id_of(const struct stint_impl_thread *t, uint64_t word) {
    return stint_impl_site_look(t, word).id;
}

/* With an id of range_id_of. It tells also that the stack knows where to count, and that the place
 * of these ranges is on: it is by the switch alone, as it has no level, and so is the name. */
RANGE_INLINE int range_near_push_known(struct range_stack *stack, struct stint_impl_thread *t,
                                       enum range_interface interface, const char *name,
                                       uint64_t id) {
    int level = (int)stack->of[interface].depth;
    struct open_range *range = range_enter_known(stack, interface, interface);
    if (STINT_IMPL_UNLIKELY(!range)) {
        return range_push_name_rest(interface, name);
    }
    if (STINT_IMPL_LIKELY(
            stint_impl_open_near(t, (uint64_t)(uintptr_t)&range->guard, 0, id, &range->guard))) {
        return level;
    }
    return range_begin_name_rest(range, interface, name);
}

/* Whether the name, at a multiple of 8, is the known one. Its words are read whole: the last one
 * has at least one byte of it, so that no other page is touched; the bytes after the NUL make no
 * difference. The sanitizers would see them. */
RANGE_INLINE int range_name_is_known(const char *name, const struct known_name *known) {
    STINT_IMPL_HIDE(known); /* one register for all four */
    const char *text = STINT_IMPL_SEEN(&known->text);
#if defined(__SANITIZE_ADDRESS__) || defined(STINT_IMPL_ATOMIC_ONLY) || defined(STINT_IMPL_MSAN)
    return !strcmp(name, text);
#else
    uint64_t at = 0, end = STINT_IMPL_SEEN(&known->full_words) * 8, here, there;
    for (; at != end; at += 8) {
        memcpy(&here, name + at, 8);
        memcpy(&there, text + at, 8);
        if (here != there) {
            return 0;
        }
    }
    memcpy(&here, name + at, 8);
    return !((here ^ STINT_IMPL_SEEN(&known->last)) & STINT_IMPL_SEEN(&known->mask));
#endif
}

/* The id of a name that the thread has found at the same address before; RANGE_KNOWN_IDS or more:
 * it has not, or the name is at no multiple of 8. */
RANGE_INLINE uint64_t range_id_by_contents(const struct stint_impl_thread *t,
                                           const struct known_place *place, const char *name) {
    uint64_t id = range_id_of(t, STINT_IMPL_LOAD(&place->word));
    if (STINT_IMPL_LIKELY(id < RANGE_KNOWN_IDS) && STINT_IMPL_LIKELY(!((uintptr_t)name % 8)) &&
        STINT_IMPL_LIKELY(range_name_is_known(name, &range_known_names[id]))) {
        return id;
    }
    return RANGE_KNOWN_IDS;
}

/* Without a domain, for a name that ends with a NUL. may_be_fixed: it may be in a part of the
 * program that is not written, where its address alone tells which it is. */
RANGE_INLINE int range_near_push_name(enum range_interface interface, const char *name,
                                      int may_be_fixed) {
    struct range_stack *stack = range_stack_here;
    struct stint_impl_thread *t = stint_impl_thread_here;
    const struct known_place *place = &stack->known[range_known_place(name)];
    uint64_t id;
    if (may_be_fixed && STINT_IMPL_LOAD(&place->fixed) == name) {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        id = range_id_of(t, STINT_IMPL_LOAD(&place->fixed_word));
    } else {
        id = range_id_by_contents(t, place, name);
    }
    if (STINT_IMPL_UNLIKELY(id >= RANGE_KNOWN_IDS)) {
        return range_push_copied_name(interface, name);
    }
    return range_near_push_known(stack, t, interface, name, id);
}

/* ---- Ends. */

/* Ends the innermost range of the domain with that place. 0: range_pop_rest has to do it, with
 * *ticks. (Without the number of the domain, for which a register would be kept.) */
RANGE_INLINE int range_near_pop_of(struct range_stack *stack, struct domain_ranges *of,
                                   uint64_t *ticks) {
    struct open_range *range = of->innermost;
    *ticks = 0;
    if (STINT_IMPL_UNLIKELY(!range) || STINT_IMPL_UNLIKELY(of->unentered)) {
        return 0;
    }
    /* As stint_impl_end_body. */
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct stint_impl_frame *f = t->top;
    uint64_t start = STINT_IMPL_LOAD(&f->start);
    if (STINT_IMPL_UNLIKELY(STINT_IMPL_SEEN(&f->guard) != (uint64_t)(uintptr_t)&range->guard) ||
        STINT_IMPL_UNLIKELY(range->guard != start)) {
        return 0;
    }
    *ticks = STINT_IMPL_TICKS_SINCE(start);
    struct stint_impl_node *n = stint_impl_node_at(t, STINT_IMPL_OWN(&f->node));
    if (STINT_IMPL_UNLIKELY(*ticks - STINT_IMPL_OWN(&n->min) >= STINT_IMPL_OWN(&n->span))) {
        return 0;
    }
    stint_impl_end_ordinary(t, f, n, *ticks);
    range_entry_give(stack, of, range);
    return 1;
}

/* As range_pop. */
RANGE_INLINE int range_near_pop(uint32_t domain) {
    struct range_stack *stack = range_stack_here;
    uint64_t ticks;
    if (STINT_IMPL_UNLIKELY(!range_near_pop_of(stack, &stack->of[domain], &ticks))) {
        return range_pop_rest(domain, ticks);
    }
    return (int)stack->of[domain].depth;
}

#endif
