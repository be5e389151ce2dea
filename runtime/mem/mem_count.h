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
#include "record/allocations.h"

/* Whether the thread is in a call of this library: only the outermost one counts, neither what an
 * allocator below it does nor a signal handler that interrupted it. Initial-exec, or the first
 * access could allocate. */
extern __thread int mem_inside __attribute__((tls_model("initial-exec")));
/* The block that the thread has counted last, with all bits inverted: a search for leaks must not
 * find its address. In a call of operator new that has counted none yet: the address of its frame,
 * which is even as no inverted one is. An exception leaves it so until the next block, which is at
 * the latest the block of the exception. */
extern __thread uintptr_t mem_last_block __attribute__((tls_model("initial-exec")));
extern int mem_is_on; /* written under the registry's lock; relaxed */

/* Whether the call is to be counted; then mem_leave follows. Constants are written, not a number
 * counted up and down, so that no call waits for the one before it. */
static inline int mem_enter(void) {
    if (__builtin_expect(mem_inside, 0) || !__atomic_load_n(&mem_is_on, __ATOMIC_RELAXED)) {
        return 0;
    }
    mem_inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 1;
}

static inline void mem_leave(int entered) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (entered) {
        mem_inside = 0;
    }
}

#define MEM_NEW_STACK_BYTES ((uintptr_t)64 << 10)

/* Whether the function of that frame was called by an operator new that counts when it returns. */
static inline int mem_within_new(const void *frame) {
    return !(mem_last_block & 1) && mem_last_block - (uintptr_t)frame < MEM_NEW_STACK_BYTES;
}

/* A new block that the program was given. */
void mem_count_block(const void *block, size_t size);

/* The same, and the end of the call: `counts` is what mem_enter returned. NULL: there is none. */
static inline void *mem_return(int counts, void *block, size_t size) {
    if (counts && block) {
        mem_count_block(block, size);
    }
    mem_leave(counts);
    return block;
}

/* A block is being freed; before others may get its address. */
void mem_count_free(const void *block);

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
