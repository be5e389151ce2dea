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
 * - A stack is mapped, and by system calls: libstint-mem.so would count what is allocated, or
 *   mapped by mmap, for the program's scope.
 * - The paths of a nested range are inline as far as it is begun and ended on the inline paths of a
 *   scope; the functions _rest have the others, and are called last, so that registers are not
 *   saved for them.
 */
#include "range_near.h"

#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errno_keep.h"

/* The stack of a thread without one: no entry is open and none is free. */
static struct range_stack stack_none;

__thread struct range_stack *range_stack_here = &stack_none;
/* Pushed ranges of the thread that were lost because it had no stack, less their ends. */
static __thread uint32_t without_stack __attribute__((tls_model("initial-exec")));

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void stack_free(void *stack) {
    range_stack_here = &stack_none;
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
        range_stack_here = stack;
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

static RANGE_NOT_INLINE void stack_find_counts(struct range_stack *stack) {
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
    struct range_stack *stack = range_stack_here;
    if (stack == &stack_none) {
        stack = stack_make();
    }
    return stack;
}

void range_count(enum range_interface interface) {
    stack_count(stack_get(), interface);
}

/* ---- Entries. */

/* For any range that begins. NULL: counted as lost. */
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
    struct open_range *range = range_entry_take(stack, of);
    stack_count(stack, domain->interface);
    if (!range) {
        ++of->unentered;
        stint_impl_lose_range();
    }
    return range;
}

/* ---- Ranges with a name of the program. */

struct known_name range_known_names[RANGE_KNOWN_IDS];

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

static void known_name_write(struct known_name *known, const char *text) {
    uint64_t length = strlen(text), last = 0, rest = length % 8;
    memcpy(&last, text + (length - rest), rest);
    STINT_IMPL_STORE(&known->text, text);
    STINT_IMPL_STORE(&known->full_words, length / 8);
    STINT_IMPL_STORE(&known->last, last);
    STINT_IMPL_STORE(&known->mask, UINT64_MAX >> (56 - 8 * rest));
}

/* Notes the name of the range that was begun last, if it is the innermost scope. The place of a
 * fixed name is given to no other one: so a call that a signal handler interrupts between its reads
 * has the word of its name. */
static void name_learn(struct range_stack *stack, const char *name,
                       const struct open_range *range) {
    const char *text = NULL, *other = NULL;
    uint64_t word = stint_impl_range_name(&range->guard, &text), at = range_known_place(name);
    struct known_place *place = &stack->known[at];
    if (!word || !at || (uint32_t)word >= RANGE_KNOWN_IDS ||
        stack->base != stint_impl_thread_here->base || strcmp(text, name)) { /* cut */
        return;
    }
    known_name_write(&range_known_names[(uint32_t)word], text);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    STINT_IMPL_STORE(&place->word, word);
    if (name_is_fixed(name) && (__atomic_compare_exchange_n(&place->fixed, &other, name, 0,
                                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
                                other == name)) {
        STINT_IMPL_STORE(&place->fixed_word, word);
    }
}

int range_begin_name_rest(struct open_range *range, enum range_interface interface,
                          const char *name) {
    stint_impl_begin_dynamic(&range->guard, &places[interface], 0, name, UINT64_MAX, UINT64_MAX);
    name_learn(range_stack_here, name, range);
    return (int)range_stack_here->of[interface].depth - 1;
}

int range_push_name_rest(enum range_interface interface, const char *name) {
    int level;
    struct open_range *range = range_enter(&range_default[interface], &level);
    if (range) {
        range_begin_name_rest(range, interface, name);
    }
    return level;
}

int range_push_copied_name(enum range_interface interface, const char *name) {
    struct range_stack *stack = range_stack_here;
    struct stint_impl_thread *t = stint_impl_thread_here;
    uint64_t id = range_id_of(t, STINT_IMPL_LOAD(&stack->known[range_known_place(name)].word));
    if (id >= RANGE_KNOWN_IDS || strcmp(STINT_IMPL_LOAD(&range_known_names[id].text), name)) {
        return range_push_name_rest(interface, name);
    }
    return range_near_push_known(stack, t, interface, name, id);
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

void range_begin_site_rest(struct open_range *range, struct stint_impl_site *site, uint32_t set) {
    range->guard = stint_impl_begin(&range->guard, site, set);
}

void range_push_site_rest(const struct range_domain *domain, struct stint_impl_site *site,
                          uint32_t set) {
    int level;
    struct open_range *range = range_enter(domain, &level);
    if (range) {
        range_begin_site_rest(range, site, set);
    }
}

void range_push_site_in(const struct range_domain *domain, struct stint_impl_site *site,
                        uint32_t set) {
    range_near_push_site(domain->interface, domain, domain->number, site, set);
}

void range_push_site(enum range_interface interface, struct stint_impl_site *site) {
    range_near_push_site(interface, &range_default[interface], interface, site, 0);
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

static void range_end(struct open_range *range, uint64_t ticks) {
    uint64_t me = (uint64_t)(uintptr_t)&range->guard;
    const struct stint_impl_frame *top = stint_impl_thread_here->top;
    if (ticks) {
        stint_impl_end_slow(&range->guard, range->guard + ticks, NULL);
    } else if (!range->guard) {
        return; /* switched off, or counted as lost when it began */
    } else if ((STINT_IMPL_LOAD(&top->guard) | STINT_IMPL_TAGS) == (me | STINT_IMPL_TAGS)) {
        stint_impl_end_open(&range->guard);
    } else {
        stint_impl_end_crossing(&range->guard);
    }
}

int range_pop_rest(uint32_t domain, uint64_t ticks) {
    struct range_stack *stack = range_stack_here;
    struct domain_ranges *of = &stack->of[domain];
    struct open_range *range = of->innermost;
    if (!level_of(of)) {
        range_finish_refused(&without_stack);
        return -1;
    }
    if (of->unentered) {
        --of->unentered; /* it was counted when it began */
        return level_of(of);
    }
    range_end(range, ticks);
    range_entry_give(stack, of, range);
    return (int)of->depth;
}

int range_pop(uint32_t domain) {
    return range_near_pop(domain);
}

int range_depth(uint32_t domain) {
    return level_of(&range_stack_here->of[domain]);
}
