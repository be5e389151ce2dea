/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers are in the arena (record/allocations.h). A node's numbers are written by its own
 * thread alone, without locked instructions; what another thread frees is added to separate
 * numbers, so that a node's memory is the difference of two.
 *
 * The peak of a scope is that of the bytes of it and the scopes nested in it (held_with). They are
 * not added to all scopes around with each block: `passed` is the part of a scope's `held` that
 * they have. Of one tree at most two scopes are ahead of it: the one that the thread's last block
 * was counted for, and one whose blocks were freed by other scopes last. For the first, the limit
 * says up to where its `held` may grow and no peak is passed, its own or one around: until then
 * nothing has to be passed on. Beyond it all is passed on, the peaks are raised, and there is a new
 * limit. What is freed meanwhile, here or by other threads, only leaves more room than the limit
 * says, so peaks are exact at any time.
 *
 * Threads without a recorder (before their first scope, after their end, and all threads while the
 * library has no arena) share one struct, with atomic additions. Blocks of it have the owner 0.
 */
#include "mem_count.h"

#include "session/memory_calls.h"

__thread struct mem_thread mem_here __attribute__((tls_model("initial-exec")));
int mem_is_on = 1;

static struct memory_scope before_arena;
static struct memory_scope *outside = &before_arena; /* atomic */
static char *mem_base;                               /* the arena; NULL = none. Atomic */

#define ADD(place, number)                                                                         \
    __atomic_store_n((place), __atomic_load_n((place), __ATOMIC_RELAXED) + (number),               \
                     __ATOMIC_RELAXED)
#define READ(place) __atomic_load_n((place), __ATOMIC_RELAXED)
#define ADD_SHARED(place, number) __atomic_fetch_add((place), (number), __ATOMIC_RELAXED)

/* ---- Which scope. */

static struct memory_scope *scope_at(char *base, uint32_t unit) {
    return (struct memory_scope *)(void *)(base + (uint64_t)unit * STINT_IMPL_UNIT);
}

static uint32_t scope_unit(const char *base, const struct memory_scope *m) {
    return (uint32_t)((uint64_t)((const char *)m - base) / STINT_IMPL_UNIT);
}

/* NULL: the thread has no node, or there is no memory. */
static struct memory_scope *scope_find(char *base, uint32_t node) {
    const struct stint_impl_node *n =
        (const struct stint_impl_node *)(const void *)(base + (uint64_t)node * STINT_IMPL_UNIT);
    struct memory_scope *m =
        memory_scope_find(base, __atomic_load_n(&n->measures, __ATOMIC_ACQUIRE));
    if (m) {
        return m;
    }
    return stint_impl_memory_scope();
}

/* ---- Numbers. */

/* The scope around all, or the outermost that has numbers. */
static struct memory_scope *scope_top(char *base, struct memory_scope *m) {
    while (m->around) {
        m = scope_at(base, m->around);
    }
    return m;
}

/* Adds to a scope and those around it. */
static void scope_pass(char *base, struct memory_scope *m) {
    uint64_t ahead = m->held - m->passed;
    m->passed = m->held;
    while (ahead) {
        ADD(&m->held_with, ahead);
        if (!m->around) {
            break;
        }
        m = scope_at(base, m->around);
    }
}

/* Makes *place refer to this scope, which is ahead of what it passed on; that of before is not any
 * more. */
static void scope_set_ahead(char *base, uint32_t *place, struct memory_scope *m) {
    uint32_t unit = m ? scope_unit(base, m) : 0;
    if (*place && *place != unit) {
        scope_pass(base, scope_at(base, *place));
    }
    *place = unit;
}

/* How much more may be held before the peak is passed. The difference is below 0 for a moment where
 * another thread has counted a block as gone whose addition this one does not see yet. */
static int64_t raise_peak(uint64_t *peak, const uint64_t *held, const uint64_t *gone) {
    int64_t now = (int64_t)(READ(held) - READ(gone)), most = (int64_t)READ(peak);
    if (now > most) {
        __atomic_store_n(peak, (uint64_t)now, __ATOMIC_RELAXED);
        return 0;
    }
    return most - now;
}

void mem_raise_peaks(void) {
    char *base = mem_here.base;
    struct memory_scope *m = mem_here.scope, *at = m;
    scope_set_ahead(base, &scope_top(base, m)->ahead_freed, NULL);
    scope_pass(base, m);
    int64_t room = raise_peak(&m->peak_own, &m->held, &m->gone);
    for (;;) {
        int64_t more = raise_peak(&at->peak, &at->held_with, &at->gone_with);
        if (more < room) {
            room = more;
        }
        if (!at->around) {
            break;
        }
        at = scope_at(base, at->around);
    }
    mem_here.limit = (int64_t)m->held + room;
}

/* From now on the thread counts for this scope. The first block finds the limit. */
static void scope_choose(char *base, uint32_t node, struct memory_scope *m) {
    scope_set_ahead(base, &scope_top(base, m)->ahead, m);
    mem_here.base = base;
    mem_here.node = node;
    mem_here.scope = m;
    mem_here.generation = block_generation;
    mem_here.mark = block_mark(scope_unit(base, m));
    mem_here.limit = INT64_MIN;
}

/* NULL: count outside. */
static struct memory_scope *scope_here(char *base) {
    const struct stint_impl_thread *t = stint_impl_thread_here;
    struct memory_scope *m = mem_scope_again();
    if (m || !t->base || t->base != base) {
        return m;
    }
    const struct stint_impl_frame *f = t->top;
    while (STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
        --f; /* ended on another thread; frame 0 never is */
    }
    uint32_t node = mem_node(f);
    m = scope_find(base, node);
    if (m) {
        scope_choose(base, node, m);
    }
    return m;
}

static void scope_grow(struct memory_scope *m, uint64_t size) {
    ADD(&m->mallocs, 1);
    ADD(&m->malloc_bytes, size);
    ADD(&m->held, size);
    if ((int64_t)m->held > mem_here.limit) {
        mem_raise_peaks();
    }
}

static void scope_shrink(char *base, struct memory_scope *here, struct memory_scope *m,
                         uint64_t size) {
    if (m != here) {
        scope_set_ahead(base, &scope_top(base, m)->ahead_freed, m);
    }
    ADD(&m->held, 0 - size);
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
    scope_grow(m, size);
    return scope_unit(base, m);
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
        scope_shrink(base, here, m, b->size);
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

void mem_count_block_any(const void *block, size_t size) {
    block_add(block, size, count_new(size));
    mem_here.last_block = ~(uintptr_t)block;
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

void mem_count_free_any(const void *block) {
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
