/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - A guard is an entry of the stack, so an entry never moves: a range that ends below others is
 *   marked as ended, and its place is free when those above it are.
 * - A signal handler may push and pop between any two instructions, balanced.
 * - A stack is mapped, not allocated: libstint-mem.so would count it for the program's scope.
 */
#include "range_stack.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>

#include "base/errno_keep.h"
#include "session/range_calls.h"

struct open_range {
    stint_impl_opened guard;           /* first: at the guard's address */
    const struct range_domain *domain; /* NULL: ended */
};

struct range_stack {
    uint32_t depth; /* may be more than RANGE_STACK_MOST: those have no entry */
    struct open_range open[RANGE_STACK_MOST];
};

/* A pointer, and initial-exec: with the stack itself in thread-local storage a range costs 0.3 of a
 * dynamic scope more, as a library that is loaded at run time finds that by a call. */
static __thread struct range_stack *stack_here __attribute__((tls_model("initial-exec")));

static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int has_key;

static void stack_free(void *stack) {
    stack_here = NULL;
    munmap(stack, sizeof(struct range_stack));
}

/* Zeroed, or NULL. */
static struct range_stack *stack_map(void) {
    void *pages = mmap(NULL, sizeof(struct range_stack), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        return NULL;
    }
    return pages;
}

static void key_make(void) {
    has_key = !pthread_key_create(&key, stack_free);
}

/* The thread's first one; NULL without memory, counted. */
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
    if (!stack) {
        stint_impl_lose_range();
    }
    stack_here = stack;
    return stack;
}

/* The place of all ranges in the source. */
static struct stint_impl_site place = {"", "NVTX", "", 0, 0, 0, 0, 0};

static int count_open(const struct range_stack *stack, const struct range_domain *domain,
                      uint32_t below) {
    int count = 0;
    for (uint32_t i = 0; i < below; ++i) {
        count += stack->open[i].domain == domain;
    }
    return count;
}

int range_push(const struct range_domain *domain, const struct range_name *name,
               const stint_set *set) {
    struct range_stack *stack = stack_here;
    if (!stack) {
        stack = stack_make();
    }
    if (!stack) {
        return 0;
    }
    uint32_t at = stack->depth;
    stack->depth = at + 1;
    if (at >= RANGE_STACK_MOST) {
        stint_impl_lose_range();
        return RANGE_STACK_MOST;
    }
    struct open_range *range = &stack->open[at];
    range->domain = domain;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    stint_impl_begin_dynamic(&range->guard, &place, stint_impl_set_id(set), name->bytes,
                             name->length, UINT64_MAX);
    return count_open(stack, domain, at);
}

/* The inline path if it is the innermost scope, as it nearly always is. */
static void range_end(struct open_range *range) {
    uint64_t me = (uint64_t)(uintptr_t)&range->guard;
    const struct stint_impl_frame *top = stint_impl_thread_here->top;
    range->domain = NULL;
    if (!range->guard) {
        return; /* switched off */
    }
    if ((STINT_IMPL_LOAD(&top->guard) | STINT_IMPL_TAG) == (me | STINT_IMPL_TAG)) {
        stint_impl_end_open(&range->guard);
    } else {
        stint_impl_end_crossing(&range->guard);
    }
}

int range_pop(const struct range_domain *domain) {
    struct range_stack *stack = stack_here;
    if (stack && stack->depth > RANGE_STACK_MOST) {
        --stack->depth; /* it was counted when it began */
        return RANGE_STACK_MOST;
    }
    uint32_t at = 0;
    if (stack) {
        at = stack->depth;
    }
    while (at && stack->open[at - 1].domain != domain) {
        --at;
    }
    if (!at) {
        stint_impl_lose_end();
        return -1;
    }
    range_end(&stack->open[at - 1]);
    while (stack->depth && !stack->open[stack->depth - 1].domain) {
        --stack->depth;
    }
    return count_open(stack, domain, stack->depth);
}
