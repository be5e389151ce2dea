/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers are in the arena (record/allocations.h). A node's numbers are written by its own
 * thread alone, without locked instructions; what another thread frees is added to separate
 * numbers, so that a node's memory is the difference of two. For the peak with nested scopes each
 * change is also added to all scopes around.
 *
 * Threads without a recorder (before their first scope, after their end, and all threads while the
 * library has no arena) share one struct, with atomic additions. Blocks of it have the owner 0.
 */
#include "mem_count.h"

#include "session/memory_calls.h"

__thread int mem_inside __attribute__((tls_model("initial-exec")));
__thread uintptr_t mem_last_block __attribute__((tls_model("initial-exec")));
int mem_is_on = 1;

static struct memory_scope before_arena;
static struct memory_scope *outside = &before_arena; /* atomic */
static char *mem_base;                               /* the arena; NULL = none. Atomic */

#define ADD(place, number)                                                                         \
    __atomic_store_n((place), __atomic_load_n((place), __ATOMIC_RELAXED) + (number),               \
                     __ATOMIC_RELAXED)
/* For functions that each allocation calls: all calls in them are inlined, which saves 2 ns. */
#define ONE_PIECE __attribute__((flatten))
#define READ(place) __atomic_load_n((place), __ATOMIC_RELAXED)
#define ADD_SHARED(place, number) __atomic_fetch_add((place), (number), __ATOMIC_RELAXED)

/* ---- Which scope. */

/* The node of the innermost open scope: a recursive call has the node of the outermost one.
 * Units. */
static uint32_t node_here(const struct stint_impl_thread *t) {
    const struct stint_impl_frame *f = t->top;
    while (STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
        --f; /* ended on another thread; frame 0 never is */
    }
    uint32_t recursive = STINT_IMPL_LOAD(&f->recursive);
    if (recursive) {
        return recursive;
    }
    return STINT_IMPL_LOAD(&f->node);
}

static struct memory_scope *scope_at(char *base, uint32_t unit) {
    return (struct memory_scope *)(void *)(base + (uint64_t)unit * STINT_IMPL_UNIT);
}

/* NULL: count outside. */
static struct memory_scope *scope_here(char *base) {
    const struct stint_impl_thread *t = stint_impl_thread_here;
    if (!t->base || t->base != base) {
        return NULL;
    }
    const struct stint_impl_node *n =
        (const struct stint_impl_node *)(const void *)(base +
                                                       (uint64_t)node_here(t) * STINT_IMPL_UNIT);
    struct memory_scope *m =
        memory_scope_find(base, __atomic_load_n(&n->measures, __ATOMIC_ACQUIRE));
    if (m) {
        return m;
    }
    return stint_impl_memory_scope();
}

/* ---- Numbers. */

/* The difference is below 0 for a moment where another thread has counted a block as gone whose
 * addition this one does not see yet. */
static void raise_peak(uint64_t *peak, const uint64_t *held, const uint64_t *gone) {
    int64_t now = (int64_t)(READ(held) - READ(gone));
    if (now > (int64_t)READ(peak)) {
        __atomic_store_n(peak, (uint64_t)now, __ATOMIC_RELAXED);
    }
}

static void scope_grow(char *base, struct memory_scope *m, uint64_t size) {
    ADD(&m->mallocs, 1);
    ADD(&m->malloc_bytes, size);
    ADD(&m->held, size);
    raise_peak(&m->peak_own, &m->held, &m->gone);
    for (;;) {
        ADD(&m->held_with, size);
        raise_peak(&m->peak, &m->held_with, &m->gone_with);
        if (!m->around) {
            break;
        }
        m = scope_at(base, m->around);
    }
}

static void scope_shrink(char *base, struct memory_scope *m, uint64_t size) {
    ADD(&m->held, 0 - size);
    for (;;) {
        ADD(&m->held_with, 0 - size);
        if (!m->around) {
            break;
        }
        m = scope_at(base, m->around);
    }
}

static void scope_shrink_shared(char *base, struct memory_scope *m, uint64_t size) {
    ADD_SHARED(&m->gone, size);
    for (;;) {
        ADD_SHARED(&m->gone_with, size);
        if (!m->around) {
            break;
        }
        m = scope_at(base, m->around);
    }
}

static void raise_shared(uint64_t *most, uint64_t number) {
    uint64_t was = READ(most);
    while (number > was && !__atomic_compare_exchange_n(most, &was, number, 0, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
}

static void outside_grow(uint64_t size) {
    struct memory_scope *m = __atomic_load_n(&outside, __ATOMIC_ACQUIRE);
    ADD_SHARED(&m->mallocs, 1);
    ADD_SHARED(&m->malloc_bytes, size);
    uint64_t now = ADD_SHARED(&m->held, size) + size;
    raise_shared(&m->peak_own, now);
    raise_shared(&m->peak, now);
}

/* The number of the scope that a new block belongs to. */
static uint32_t count_new(uint64_t size) {
    char *base = __atomic_load_n(&mem_base, __ATOMIC_ACQUIRE);
    struct memory_scope *m = scope_here(base);
    if (!m) {
        outside_grow(size);
        return 0;
    }
    scope_grow(base, m, size);
    return (uint32_t)((uint64_t)((char *)m - base) / STINT_IMPL_UNIT);
}

/* Subtracts a freed block from its owner. here: the scope that freed it, NULL: outside. */
static void count_loss(char *base, struct memory_scope *here, const struct block *b) {
    if (b->is_inherited) {
        return;
    }
    if (!b->owner || !base) {
        struct memory_scope *m = __atomic_load_n(&outside, __ATOMIC_ACQUIRE);
        ADD_SHARED(&m->held, 0 - b->size);
        if (here) {
            ADD_SHARED(&m->freed_elsewhere, b->size);
        }
        return;
    }
    struct memory_scope *m = scope_at(base, b->owner);
    if (m != here) {
        ADD_SHARED(&m->freed_elsewhere, b->size);
    }
    if (here && m->owner == here->owner) {
        scope_shrink(base, m, b->size);
    } else {
        scope_shrink_shared(base, m, b->size);
    }
}

/* b: NULL if the block is not in the table. */
static void count_end(const struct block *b) {
    char *base = __atomic_load_n(&mem_base, __ATOMIC_ACQUIRE);
    struct memory_scope *here = scope_here(base);
    uint64_t size = b ? b->size : 0;
    if (here) {
        ADD(&here->frees, 1);
        ADD(&here->freed_bytes, size);
    } else {
        struct memory_scope *m = __atomic_load_n(&outside, __ATOMIC_ACQUIRE);
        ADD_SHARED(&m->frees, 1);
        ADD_SHARED(&m->freed_bytes, size);
    }
    if (b) {
        count_loss(base, here, b);
    }
}

/* ---- Blocks. */

static void block_add(const void *block, uint64_t size, uint32_t owner) {
    struct block old;
    int had = block_put(block, size, owner, &old);
    if (had < 0) {
        stint_impl_memory_lose(1);
    } else if (had) {
        char *base = __atomic_load_n(&mem_base, __ATOMIC_ACQUIRE);
        count_loss(base, scope_here(base), &old); /* freed where this library did not see it */
    }
}

ONE_PIECE void mem_count_block(const void *block, size_t size) {
    block_add(block, size, count_new(size));
    mem_last_block = ~(uintptr_t)block;
}

void mem_take(const void *block, struct mem_taken *out) {
    out->is_known = block_take(block, &out->block);
}

void mem_count_taken(const struct mem_taken *taken) {
    count_end(taken->is_known ? &taken->block : NULL);
}

void mem_put_back(const void *block, const struct mem_taken *taken) {
    if (taken->is_known && !taken->block.is_inherited) {
        block_add(block, taken->block.size, taken->block.owner);
    }
}

ONE_PIECE void mem_count_free(const void *block) {
    struct mem_taken taken;
    mem_take(block, &taken);
    mem_count_taken(&taken);
}

uint32_t mem_count_map(size_t length) {
    return count_new(length);
}

void mem_count_unmap(size_t length, uint32_t owner, int is_inherited) {
    struct block b = {.size = length, .owner = owner, .is_inherited = is_inherited};
    count_end(&b);
}

/* ---- The library's life. */

static void move_number(uint64_t *to, uint64_t *from) {
    ADD_SHARED(to, __atomic_exchange_n(from, 0, __ATOMIC_RELAXED));
}

void mem_count_start(char *base, struct memory_scope *to) {
    if (to) {
        struct memory_scope *from = &before_arena;
        to->peak_own = from->peak_own;
        to->peak = from->peak;
        __atomic_store_n(&outside, to, __ATOMIC_RELEASE);
        move_number(&to->mallocs, &from->mallocs);
        move_number(&to->malloc_bytes, &from->malloc_bytes);
        move_number(&to->frees, &from->frees);
        move_number(&to->freed_bytes, &from->freed_bytes);
        move_number(&to->freed_elsewhere, &from->freed_elsewhere);
        move_number(&to->held, &from->held);
    }
    __atomic_store_n(&mem_base, base, __ATOMIC_RELEASE);
}

void mem_count_forget(void) {
    static const struct memory_scope nothing;
    __atomic_store_n(&mem_base, NULL, __ATOMIC_RELEASE);
    before_arena = nothing;
    __atomic_store_n(&outside, &before_arena, __ATOMIC_RELEASE);
}
