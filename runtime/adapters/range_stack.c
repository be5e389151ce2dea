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
 * - A stack is mapped, and by system calls: libstint-mem.so would count what is allocated, or mapped
 *   by mmap, for the program's scope.
 * - The paths of a nested range are inline as far as it is begun and ended on the inline paths of a
 *   scope; the functions _rest have the others, and are called last, so that registers are not
 *   saved for them.
 */
#include "range_stack.h"

#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errno_keep.h"
#include "session/range_calls.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define NOT_INLINE __attribute__((noinline))

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

#define KNOWN_BITS 10

/* A name that does not change, by its address (name_is_fixed). */
struct fixed_name {
    const char *name; /* written once, by compare and exchange; NULL: free */
    uint64_t word;    /* 0: not known */
};

struct range_stack {
    const char *base; /* the arena that `counts` are in; else counts may be NULL */
    uint64_t *counts;
    struct open_range *first_free;
    struct domain_ranges of[RANGE_DOMAINS_ALL];
    struct open_range open[RANGE_STACK_MOST];
    /* By a hash of the address, the word of the name that was there last: it is still that one if
     * it equals known_text of its id. 0: none, as always in the first. */
    uint64_t known[1 << KNOWN_BITS];
    struct fixed_name fixed[1 << KNOWN_BITS]; /* likewise */
};

/* The stack of a thread without one: no entry is open and none is free. */
static struct range_stack stack_none;

/* A pointer, and initial-exec: with the stack itself in thread-local storage a range costs 0.3 of a
 * dynamic scope more, as a library that is loaded at run time finds that by a call. */
static __thread struct range_stack *stack_here __attribute__((tls_model("initial-exec"))) =
    &stack_none;
/* Pushed ranges of the thread that were lost because it had no stack, less their ends. */
static __thread uint32_t without_stack __attribute__((tls_model("initial-exec")));

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void stack_free(void *stack) {
    stack_here = &stack_none;
    stint_impl_range_guards(NULL, 0);
    syscall(SYS_munmap, stack, sizeof(struct range_stack));
}

/* Zeroed, or NULL. */
static struct range_stack *stack_map(void) {
    long pages = syscall(SYS_mmap, NULL, sizeof(struct range_stack), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (pages == -1) {
        return NULL;
    }
    struct range_stack *stack = (struct range_stack *)pages;
    for (uint32_t i = 1; i < RANGE_STACK_MOST; ++i) {
        stack->open[i].next = &stack->open[i - 1];
    }
    stack->first_free = &stack->open[RANGE_STACK_MOST - 1];
    stack->of[RANGE_DOMAIN_LOST].unentered = UNENTERED_ALWAYS;
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
        stack_here = stack;
    }
    return stack;
}

/* The places of ranges in the source. */
#define PLACE_OF(interface, name, place, ...) [interface] = {"", place, "", 0, 0, 0, 0, 0},
static struct stint_impl_site places[RANGE_INTERFACES] = {RANGE_EACH(PLACE_OF)};

static int level_of(const struct domain_ranges *domain) {
    return (int)((domain->depth + domain->unentered) % UNENTERED_ALWAYS);
}

/* Ranges of threads without counts, as in a signal handler that interrupts the recorder: the next
 * thread that gets some adds them to its own. Atomic. */
static uint64_t early_counts[RANGE_INTERFACES];

static NOT_INLINE void stack_find_counts(struct range_stack *stack) {
    const char *base = stint_impl_thread_here->base;
    if (!stint_impl_range_counts(&stack->counts) && stack->counts) {
        stack->base = base;
    }
    for (int i = 0; stack->counts && i < RANGE_INTERFACES; ++i) {
        stint_impl_owner_add(&stack->counts[i],
                             __atomic_exchange_n(&early_counts[i], 0, __ATOMIC_RELAXED));
    }
}

/* In the thread's own numbers; a fork changes where they are. stack: NULL without memory. */
static void stack_count(struct range_stack *stack, enum range_interface interface) {
    if (stack && stack->base != stint_impl_thread_here->base) {
        stack_find_counts(stack);
    }
    if (stack && stack->counts) {
        stint_impl_owner_count(&stack->counts[interface]);
    } else {
        __atomic_fetch_add(&early_counts[interface], 1, __ATOMIC_RELAXED);
    }
}

/* The calling thread's stack, NULL without memory. */
static struct range_stack *stack_get(void) {
    struct range_stack *stack = stack_here;
    if (stack == &stack_none) {
        stack = stack_make();
    }
    return stack;
}

void range_count(enum range_interface interface) {
    stack_count(stack_get(), interface);
}

/* ---- Entries. */

/* NULL: none is free, or the domain's new ranges get none. */
static ALWAYS_INLINE struct open_range *entry_take(struct range_stack *stack,
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

static ALWAYS_INLINE void entry_give(struct range_stack *stack, struct domain_ranges *of,
                                     struct open_range *range) {
    of->innermost = range->next;
    --of->depth;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    range->next = stack->first_free;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stack->first_free = range;
}

/* An entry for a range that begins, counted in a stack that knows where; NULL: range_enter has to
 * see it. */
static ALWAYS_INLINE struct open_range *
range_enter_known(struct range_stack *stack, uint32_t number, enum range_interface interface) {
    struct open_range *range = entry_take(stack, &stack->of[number]);
    if (STINT_IMPL_LIKELY(range)) {
        stint_impl_owner_count(&stack->counts[interface]);
    }
    return range;
}

/* The same for any: NULL: counted as lost. */
static struct open_range *range_enter(const struct range_domain *domain, int *level) {
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
    struct open_range *range = entry_take(stack, of);
    stack_count(stack, domain->interface);
    if (!range) {
        ++of->unentered;
        stint_impl_lose_range();
    }
    return range;
}

/* ---- Ranges with a name of the program. */

/* The names of the first ids, in the arena, where they stay. Written before a word with the id gets
 * into a stack, by any thread, the same one: in the child of a fork, whose arena is another one, no
 * word of the parent is of the thread's gate. */
#define KNOWN_IDS 65536
static const char *known_text[KNOWN_IDS];

/* 0 for NULL. Names beside each other, and those a page apart, have places of their own. */
static ALWAYS_INLINE uint64_t known_place(const char *name) {
    uint64_t at = (uint64_t)(uintptr_t)name;
    return (at ^ at >> KNOWN_BITS) % ((uint64_t)1 << KNOWN_BITS);
}

/* The parts of the program's own file that are mapped and not written, as the linker wrote them:
 * string literals, until the process ends. Those of libraries may be unloaded. Set at load. */
static struct { uintptr_t from, to; } fixed_parts[8];

static int parts_find(struct dl_phdr_info *module, size_t size, void *unused) {
    size_t parts = 0;
    (void)size;
    (void)unused;
    for (int i = 0; i < module->dlpi_phnum; ++i) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W) &&
            parts < sizeof fixed_parts / sizeof *fixed_parts) {
            fixed_parts[parts].from = module->dlpi_addr + part->p_vaddr;
            fixed_parts[parts].to = fixed_parts[parts].from + part->p_filesz;
            ++parts;
        }
    }
    return 1; /* the first module is the program */
}

__attribute__((constructor)) static void fixed_parts_find(void) {
    dl_iterate_phdr(parts_find, NULL);
}

static int name_is_fixed(const char *name) {
    uintptr_t at = (uintptr_t)name;
    for (size_t i = 0; i < sizeof fixed_parts / sizeof *fixed_parts; ++i) {
        if (at >= fixed_parts[i].from && at < fixed_parts[i].to) {
            return 1;
        }
    }
    return 0;
}

/* Notes the name of the range that was begun last, if it is the innermost scope. The place of a
 * fixed name is given to no other one: so a call that a signal handler interrupts between its reads
 * has the word of its name. */
static void name_learn(struct range_stack *stack, const char *name,
                       const struct open_range *range) {
    const char *text = NULL, *other = NULL;
    uint64_t word = stint_impl_range_name(&range->guard, &text), at = known_place(name);
    uint32_t id = (uint32_t)word;
    if (!word || !at || id >= KNOWN_IDS || stack->base != stint_impl_thread_here->base ||
        strcmp(text, name)) { /* cut */
        return;
    }
    __atomic_store_n(&known_text[id], text, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&stack->known[at], word);
    if (name_is_fixed(name) && (__atomic_compare_exchange_n(&stack->fixed[at].name, &other, name, 0,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                                other == name)) {
        STINT_IMPL_STORE(&stack->fixed[at].word, word);
    }
}

/* Both are called last. */
static NOT_INLINE int begin_name_rest(struct open_range *range, enum range_interface interface,
                                      const char *name, int level) {
    stint_impl_begin_dynamic(&range->guard, &places[interface], 0, name, UINT64_MAX, UINT64_MAX);
    name_learn(stack_here, name, range);
    return level;
}

static NOT_INLINE int push_name_rest(enum range_interface interface, const char *name) {
    int level;
    struct open_range *range = range_enter(&range_default[interface], &level);
    if (range) {
        begin_name_rest(range, interface, name, level);
    }
    return level;
}

/* A word under the thread's gate tells also that the stack knows where to count, and that the place
 * of these ranges is on: it is by the switch alone, as it has no level, and so is the name. */
static ALWAYS_INLINE int push_known_name(enum range_interface interface, const char *name,
                                         uint32_t id) {
    struct range_stack *stack = stack_here;
    int level = (int)stack->of[interface].depth;
    struct open_range *range = range_enter_known(stack, interface, interface);
    if (STINT_IMPL_UNLIKELY(!range)) {
        return push_name_rest(interface, name);
    }
    if (STINT_IMPL_LIKELY(stint_impl_open_near(
            stint_impl_thread_here, (uint64_t)(uintptr_t)&range->guard, 0, id, &range->guard))) {
        return level;
    }
    return begin_name_rest(range, interface, name, level);
}

static ALWAYS_INLINE int gate_is_here(uint64_t word) {
    return word >> 32 == STINT_IMPL_LOAD(&stint_impl_thread_here->gate);
}

int range_push_copied_name(enum range_interface interface, const char *name) {
    uint64_t word = STINT_IMPL_LOAD(&stack_here->known[known_place(name)]);
    uint32_t id = (uint32_t)word;
    if (STINT_IMPL_UNLIKELY(!gate_is_here(word)) ||
        STINT_IMPL_UNLIKELY(strcmp(__atomic_load_n(&known_text[id], __ATOMIC_RELAXED), name))) {
        return push_name_rest(interface, name);
    }
    return push_known_name(interface, name, id);
}

int range_push_name(enum range_interface interface, const char *name) {
    const struct fixed_name *fixed = &stack_here->fixed[known_place(name)];
    if (STINT_IMPL_LIKELY(STINT_IMPL_LOAD(&fixed->name) == name)) {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        uint64_t word = STINT_IMPL_LOAD(&fixed->word);
        if (STINT_IMPL_LIKELY(gate_is_here(word))) {
            return push_known_name(interface, name, (uint32_t)word);
        }
    }
    return range_push_copied_name(interface, name);
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

/* ---- Ranges at a site. */

static NOT_INLINE void begin_site_rest(struct open_range *range, struct stint_impl_site *site,
                                       uint32_t set) {
    range->guard = stint_impl_begin(&range->guard, site, set);
}

static NOT_INLINE void push_site_rest(const struct range_domain *domain,
                                      struct stint_impl_site *site, uint32_t set) {
    int level;
    struct open_range *range = range_enter(domain, &level);
    if (range) {
        begin_site_rest(range, site, set);
    }
}

/* Begins it in an entry of range_enter_known. */
static ALWAYS_INLINE void range_begin_site(struct stint_impl_thread *t, struct open_range *range,
                                           struct stint_impl_site *site, uint32_t set) {
    struct stint_impl_looked looked = stint_impl_site_look(t, STINT_IMPL_LOAD(&site->word));
    if (STINT_IMPL_UNLIKELY(looked.is_off) ||
        STINT_IMPL_UNLIKELY(!stint_impl_open_near(t, (uint64_t)(uintptr_t)&range->guard, set,
                                                  looked.id, &range->guard))) {
        begin_site_rest(range, site, set);
    }
}

void range_push_site_in(const struct range_domain *domain, struct stint_impl_site *site,
                        uint32_t set) {
    struct range_stack *stack = stack_here;
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct open_range *range = NULL;
    if (STINT_IMPL_LIKELY(stack->base == t->base)) {
        range = range_enter_known(stack, domain->number, domain->interface);
    }
    if (STINT_IMPL_UNLIKELY(!range)) {
        push_site_rest(domain, site, set);
    } else {
        range_begin_site(t, range, site, set);
    }
}

void range_push_site(enum range_interface interface, struct stint_impl_site *site) {
    struct range_stack *stack = stack_here;
    struct stint_impl_thread *t = stint_impl_thread_here;
    struct open_range *range = NULL;
    if (STINT_IMPL_LIKELY(stack->base == t->base)) {
        range = range_enter_known(stack, interface, interface);
    }
    if (STINT_IMPL_UNLIKELY(!range)) {
        push_site_rest(&range_default[interface], site, 0);
    } else {
        range_begin_site(t, range, site, 0);
    }
}

void range_push_under(enum range_interface interface, struct stint_impl_site *site,
                      stint_sender sender) {
    int level;
    struct open_range *range = range_enter(&range_default[interface], &level);
    if (range) {
        stint_impl_open_under(&range->guard, site, sender);
    }
}

void range_push_at(enum range_interface interface, struct stint_impl_site *site, uint64_t ticks) {
    int level;
    struct open_range *range = range_enter(&range_default[interface], &level);
    if (range) {
        stint_impl_range_begin_at(&range->guard, site, ticks);
    }
}

/* ---- Ends. */

/* It is not the innermost scope, or is inside another call of its scope. */
static NOT_INLINE void range_end_rest(struct open_range *range) {
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

static NOT_INLINE int pop_rest(struct domain_ranges *of) {
    if (!level_of(of)) {
        range_finish_refused(&without_stack);
        return -1;
    }
    --of->unentered; /* it was counted when it began */
    return level_of(of);
}

int range_pop(uint32_t domain) {
    struct range_stack *stack = stack_here;
    struct domain_ranges *of = &stack->of[domain];
    struct open_range *range = of->innermost;
    if (STINT_IMPL_UNLIKELY(!range) || STINT_IMPL_UNLIKELY(of->unentered)) {
        return pop_rest(of);
    }
    /* A plain read, which the compiler does not repeat in the inline end. */
    if (STINT_IMPL_LIKELY(STINT_IMPL_SEEN(&stint_impl_thread_here->top->guard) ==
                          (uint64_t)(uintptr_t)&range->guard)) {
        stint_impl_end_open(&range->guard);
    } else {
        range_end_rest(range);
    }
    entry_give(stack, of, range);
    return (int)of->depth;
}

int range_depth(uint32_t domain) {
    return level_of(&stack_here->of[domain]);
}
