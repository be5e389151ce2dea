/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A guard is an entry's, so an entry never moves. The open ranges of a domain are a list, the
 *   innermost one first; the entries that are free are another. So ranges of two domains that
 *   overlap all the time need two entries.
 * - The entry with the highest address is taken first, as stint searches least for a guard below
 *   all that are open.
 * - While a domain has ranges without an entry, its new ones get none either: each end is then that
 *   of the range that began last.
 * - A signal handler may push and pop between any two instructions, balanced: it leaves both lists
 *   as they were.
 * - A stack is mapped, not allocated: libstint-mem.so would count it for the program's scope.
 */
#include "range_stack.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/errno_keep.h"
#include "session/range_calls.h"

struct open_range {
    stint_impl_opened guard; /* first: at the guard's address */
    uint64_t next;           /* number of the next one of its list; 0: it is the last */
};

struct domain_ranges {
    uint32_t innermost; /* number of an entry */
    uint32_t depth;     /* open ranges with an entry */
    uint32_t unentered; /* open ranges without one, inside of those */
};

struct range_stack {
    uint64_t *counts; /* in the arena at `base` */
    const char *base;
    struct domain_ranges of[RANGE_DOMAINS_ALL];
    uint64_t first_free;
    struct open_range open[RANGE_STACK_MOST + 1]; /* number 0 is none */
};

/* A pointer, and initial-exec: with the stack itself in thread-local storage a range costs 0.3 of a
 * dynamic scope more, as a library that is loaded at run time finds that by a call. */
static __thread struct range_stack *stack_here __attribute__((tls_model("initial-exec")));
/* Pushed ranges of the thread that were lost because it had no stack, less their ends. */
static __thread uint32_t without_stack __attribute__((tls_model("initial-exec")));

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void stack_free(void *stack) {
    stack_here = NULL;
    stint_impl_range_guards(NULL, 0);
    munmap(stack, sizeof(struct range_stack));
}

/* Zeroed, or NULL. */
static struct range_stack *stack_map(void) {
    void *pages = mmap(NULL, sizeof(struct range_stack), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        return NULL;
    }
    struct range_stack *stack = pages;
    for (uint32_t i = 1; i <= RANGE_STACK_MOST; ++i) {
        stack->open[i].next = i - 1;
    }
    stack->first_free = RANGE_STACK_MOST;
    stack->base = (const char *)stack; /* of no arena: not asked yet */
    return stack;
}

static void key_make(void) {
    has_key = !pthread_key_create(&key, stack_free);
}

/* The thread's first one; NULL without memory. */
static struct range_stack *stack_make(void) {
    ERRNO_KEEP;
    pthread_once(&key_once, key_make);
    struct range_stack *stack = NULL;
    if (has_key) {
        stack = stack_map();
    }
    if (stack && pthread_setspecific(key, stack)) {
        stack_free(stack);
        stack = NULL;
    }
    if (stack) {
        stint_impl_range_guards(stack->open, sizeof stack->open);
    }
    stack_here = stack;
    return stack;
}

/* The places of ranges in the source. */
#define PLACE_OF(interface, name, place, ...) [interface] = {"", place, "", 0, 0, 0, 0, 0},
static struct stint_impl_site places[RANGE_INTERFACES] = {RANGE_EACH(PLACE_OF)};

static int level_of(const struct domain_ranges *domain) {
    return (int)(domain->depth + domain->unentered);
}

/* Ranges of threads without counts, as in a signal handler that interrupts the recorder: the next
 * thread that gets some adds them to its own. Atomic. */
static uint64_t early_counts[RANGE_INTERFACES];

static __attribute__((noinline)) void stack_find_counts(struct range_stack *stack) {
    if (!stint_impl_range_counts(&stack->counts)) {
        stack->base = stint_impl_thread_here->base;
    }
    for (int i = 0; stack->counts && i < RANGE_INTERFACES; ++i) {
        stint_impl_owner_add(&stack->counts[i],
                             __atomic_exchange_n(&early_counts[i], 0, __ATOMIC_RELAXED));
    }
}

/* In the thread's own numbers; a fork changes where they are. stack: NULL without memory. */
static inline __attribute__((always_inline)) void stack_count(struct range_stack *stack,
                                                              enum range_interface interface) {
    if (stack && stack->base != stint_impl_thread_here->base) {
        stack_find_counts(stack);
    }
    if (stack && stack->counts) {
        stint_impl_owner_add(&stack->counts[interface], 1);
    } else {
        __atomic_fetch_add(&early_counts[interface], 1, __ATOMIC_RELAXED);
    }
}

/* The calling thread's stack, NULL without memory. */
static struct range_stack *stack_get(void) {
    struct range_stack *stack = stack_here;
    if (!stack) {
        stack = stack_make();
    }
    return stack;
}

void range_count(enum range_interface interface) {
    stack_count(stack_get(), interface);
}

/* An entry for a range that begins; NULL: counted as lost. Inline: - 0.1 of a dynamic scope. */
static inline __attribute__((always_inline)) struct open_range *
range_enter(const struct range_domain *domain, int *level) {
    struct range_stack *stack = stack_get();
    *level = 0;
    if (!stack) {
        ++without_stack;
        stint_impl_lose_range();
        stack_count(NULL, domain->interface);
        return NULL;
    }
    struct domain_ranges *of = &stack->of[domain->number];
    *level = level_of(of);
    uint64_t at = stack->first_free;
    if (!at || of->unentered || domain->number == RANGE_DOMAIN_LOST) {
        ++of->unentered;
        stack_count(stack, domain->interface);
        stint_impl_lose_range();
        return NULL;
    }
    struct open_range *range = &stack->open[at];
    stack->first_free = range->next;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    range->next = of->innermost;
    of->innermost = (uint32_t)at;
    ++of->depth;
    stack_count(stack, domain->interface);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return range;
}

int range_push(const struct range_domain *domain, const struct range_name *name,
               const stint_set *set) {
    int level;
    struct open_range *range = range_enter(domain, &level);
    if (range) {
        stint_impl_begin_dynamic(&range->guard, &places[domain->interface], stint_impl_set_id(set),
                                 name->bytes, name->length, UINT64_MAX);
    }
    return level;
}

int range_push_site_in(const struct range_domain *domain, struct stint_impl_site *site,
                       const stint_set *set) {
    int level;
    struct open_range *range = range_enter(domain, &level);
    if (range) {
        range->guard = stint_impl_begin(&range->guard, site, stint_impl_set_id(set));
    }
    return level;
}

int range_push_site(const struct range_domain *domain, struct stint_impl_site *site) {
    return range_push_site_in(domain, site, domain->set);
}

int range_push_under(const struct range_domain *domain, struct stint_impl_site *site,
                     stint_sender sender) {
    int level;
    struct open_range *range = range_enter(domain, &level);
    if (range) {
        stint_impl_open_under(&range->guard, site, sender);
    }
    return level;
}

int range_push_at(const struct range_domain *domain, struct stint_impl_site *site, uint64_t ticks) {
    int level;
    struct open_range *range = range_enter(domain, &level);
    if (range) {
        stint_impl_range_begin_at(&range->guard, site, ticks);
    }
    return level;
}

/* The inline path if it is the innermost scope, as it nearly always is. */
static void range_end(struct open_range *range) {
    uint64_t me = (uint64_t)(uintptr_t)&range->guard;
    const struct stint_impl_frame *top = stint_impl_thread_here->top;
    if (!range->guard) {
        return; /* switched off, or counted as lost when it began */
    }
    if ((STINT_IMPL_LOAD(&top->guard) | STINT_IMPL_TAGS) == (me | STINT_IMPL_TAGS)) {
        stint_impl_end_open(&range->guard);
    } else {
        stint_impl_end_crossing(&range->guard);
    }
}

int range_pop(const struct range_domain *domain) {
    struct range_stack *stack = stack_here;
    if (!stack || !level_of(&stack->of[domain->number])) {
        range_finish_refused(&without_stack);
        return -1;
    }
    struct domain_ranges *of = &stack->of[domain->number];
    if (of->unentered) {
        --of->unentered; /* it was counted when it began */
        return level_of(of);
    }
    uint64_t at = of->innermost;
    struct open_range *range = &stack->open[at];
    range_end(range);
    of->innermost = (uint32_t)range->next;
    --of->depth;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    range->next = stack->first_free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack->first_free = at;
    return level_of(of);
}

int range_depth(const struct range_domain *domain) {
    const struct range_stack *stack = stack_here;
    if (!stack) {
        return 0;
    }
    return level_of(&stack->of[domain->number]);
}
