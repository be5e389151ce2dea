/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts allocations for the scopes that are open: each belongs to the innermost scope of the
 * thread that makes it.
 *
 * Threading: called by any thread, between mem_enter and mem_leave.
 */
#ifndef STINT_MEM_COUNT_H
#define STINT_MEM_COUNT_H

#include "block_table.h"
#include "session/memory_calls.h"

/* A thread keeps this between its calls. Initial-exec, or the first access could allocate. */
struct mem_thread {
    /* Whether it is in a call of this library: only the outermost one counts, neither what an
     * allocator below it does nor a signal handler that interrupted it. */
    int inside;
    /* The scope that its last block was counted for; NULL: none yet. Its node in units, its arena,
     * block_generation of that time, and the block_mark of its blocks. */
    uint32_t node;
    uint32_t generation;
    char *base;
    struct memory_scope *scope;
    uint64_t mark;
    /* Up to here the scope's `held` may grow, and no peak, its own or one around, is passed. */
    int64_t limit;
    /* The block that the thread has counted last, with all bits inverted: a search for leaks must
     * not find its address. In a call of operator new that has counted none yet: the address of its
     * frame, which is even as no inverted one is. An exception leaves it so until the next block,
     * which is at the latest the block of the exception. */
    uintptr_t last_block;
};
extern __thread struct mem_thread mem_here __attribute__((tls_model("initial-exec")));
extern MEM_INTERNAL int mem_is_on; /* written under the registry's lock; relaxed */

/* Whether the call is to be counted; then mem_leave follows. Constants are written, not a number
 * counted up and down, so that no call waits for the one before it. */
static inline int mem_enter(void) {
    if (__builtin_expect(mem_here.inside || !__atomic_load_n(&mem_is_on, __ATOMIC_RELAXED), 0)) {
        return 0;
    }
    mem_here.inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 1;
}

static inline void mem_leave(int entered) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (entered) {
        mem_here.inside = 0;
    }
}

#define MEM_NEW_STACK_BYTES ((uintptr_t)64 << 10)

/* Whether the function of that frame was called by an operator new that counts when it returns. */
static inline int mem_within_new(const void *frame) {
    uintptr_t last = mem_here.last_block;
    return !(last & 1) && last - (uintptr_t)frame < MEM_NEW_STACK_BYTES;
}

/* The node of the innermost open scope: a recursive call has the node of the outermost one.
 * Units. */
static inline uint32_t mem_node(const struct stint_impl_frame *f) {
    uint32_t recursive = STINT_IMPL_LOAD(&f->recursive);
    if (recursive) {
        return recursive;
    }
    return STINT_IMPL_LOAD(&f->node);
}

/* The scope that the thread's last block was counted for, if it is the innermost one; or NULL. */
static inline struct memory_scope *mem_scope_again(void) {
    const struct stint_impl_thread *t = stint_impl_thread_here;
    struct memory_scope *m = mem_here.scope;
    if (!m || t->base != mem_here.base || mem_here.generation != block_generation) {
        return NULL;
    }
    const struct stint_impl_frame *f = t->top;
    if (mem_node(f) != mem_here.node || STINT_IMPL_LOAD(&f->guard) == STINT_IMPL_MOVED) {
        return NULL;
    }
    return m;
}

/* The rest of the two functions below, which also have their results where these do nothing. */
void mem_count_block_any(const void *block, size_t size);
void mem_count_free_any(const void *block);
/* The scope's `held` is beyond the limit of the thread. */
void mem_raise_peaks(void);

/* A new block that the program was given. Inline for a small one, in the scope of the last one. */
static inline void mem_count_block(const void *block, size_t size) {
    struct memory_scope *m = mem_scope_again();
    if (__builtin_expect(!m || block_put_small(block, size, mem_here.mark), 0)) {
        mem_count_block_any(block, size);
        return;
    }
    int64_t held = (int64_t)(STINT_IMPL_OWN(&m->held) + size);
    stint_impl_owner_raise(&m->mallocs, 1);
    stint_impl_owner_raise(&m->malloc_bytes, size);
    STINT_IMPL_STORE(&m->held, (uint64_t)held);
    mem_here.last_block = ~(uintptr_t)block;
    if (__builtin_expect(held > mem_here.limit, 0)) {
        mem_raise_peaks();
    }
}

/* The same, and the end of the call: `counts` is what mem_enter returned. NULL: there is none. */
static inline void *mem_return(int counts, void *block, size_t size) {
    if (counts && block) {
        mem_count_block(block, size);
    }
    mem_leave(counts);
    return block;
}

/* A block is being freed; before others may get its address. Inline for a small one that was
 * counted for this scope. */
static inline void mem_count_free(const void *block) {
    struct memory_scope *m = mem_scope_again();
    uint64_t size = 0;
    if (__builtin_expect(!m || block_take_small(block, mem_here.mark, &size), 0)) {
        mem_count_free_any(block);
        return;
    }
    stint_impl_owner_raise(&m->frees, 1);
    stint_impl_owner_raise(&m->freed_bytes, size);
    stint_impl_owner_raise(&m->held, 0 - size);
}

/* realloc: what the table says of the old block, taken out before the call. */
struct mem_taken {
    struct block block;
    int is_known;
};
void mem_take(const void *block, struct mem_taken *out);
/* The call has freed it, or it has failed and left it. */
void mem_count_taken(const struct mem_taken *taken);
void mem_put_back(const void *block, const struct mem_taken *taken);

/* Memory that is not in the table of blocks: owner is what mem_count_map returned, in this process
 * or in its parent. */
uint32_t mem_count_map(size_t length);
void mem_count_unmap(size_t length, uint32_t owner, int is_inherited);

/* From now on numbers go to the arena; threads without a recorder add to `to`. */
void mem_count_start(char *base, struct memory_scope *to);
/* In the child of a fork: until there is another arena they do not. */
void mem_count_forget(void);

/* Whether the address is in the code of libstint.so, whose own memory is not counted; 1 while that
 * is not known. */
int mem_is_own_code(const void *address);

/* Finds the next function of each form that is loaded. From the constructor: later the lock of the
 * loader may be held by a thread that waits for the caller. */
void new_calls_find(void);

#endif
