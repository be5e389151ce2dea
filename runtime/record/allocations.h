/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that scopes allocate. The library libstint-mem.so, which need not be there, sees the calls
 * and writes the numbers; here are the places it writes to.
 */
#ifndef STINT_MEMORY_H
#define STINT_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "arena/measures.h"
#include "stint/detail/impl_layout.h"

#define MEMORY_FIRST MEASURE_MALLOCS
#define MEMORY_MEASURES MEASURES_OF_MEMORY

/* The block of the group memory in the arena (struct arena_measures), and after its numbers what
 * only the writer needs. Of a node: written by the thread that owns the node, relaxed, but for
 * what says "any thread". Of the threads that have no recorder: everything by any thread. */
struct memory_scope {
    uint32_t next;
    struct measure_range range;
    uint64_t mallocs;
    uint64_t malloc_bytes;
    uint64_t frees;
    uint64_t freed_bytes;
    uint64_t freed_elsewhere; /* any thread, atomic */
    uint64_t held;            /* of its blocks, those that its own thread has not freed */
    uint64_t gone;            /* of those, what other threads freed. Any thread, atomic */
    uint64_t peak_own;
    uint64_t peak;
    /* As held and gone, with the scopes nested in this one. */
    uint64_t held_with;
    uint64_t gone_with; /* any thread, atomic */
    uint64_t passed; /* the part of `held` that is in the held_with of this one and those around */
    uint32_t around; /* the parent's, units; 0 = none. Set before this one is published */
    uint32_t owner;  /* units of the thread's record */
    /* In the outermost one: those of which `held` is not `passed`, units; 0 = none. The scope that
     * the thread's last block was counted for, and the one whose blocks other scopes freed last. */
    uint32_t ahead;
    uint32_t ahead_freed;
};

_Static_assert(offsetof(struct memory_scope, mallocs) == offsetof(struct arena_measures, value),
               "the numbers are those of the group");
_Static_assert(offsetof(struct memory_scope, held_with) - offsetof(struct memory_scope, mallocs) ==
                   MEMORY_MEASURES * sizeof(uint64_t),
               "all of them");

/* Functions of libstint-mem.so. */
struct memory_ops {
    /* The arena is there. outside: for threads that have no recorder; NULL without memory.
     * table_bytes: the most address space for the table of blocks. Under the registry's lock. */
    void (*start)(char *base, struct memory_scope *outside, uint64_t table_bytes);
    /* Nothing is counted in this process. */
    void (*stop)(void);
    /* In the child of a fork: the arena is not there any more. */
    void (*forget)(void);
    /* The file whose malloc the program uses instead of the library's; "" = none. */
    const char *rival;
};

/* Defined by libstint-mem.so: whether it is loaded. */
#define stint_impl_memory_library STINT_IMPL_ABI_NAME(stint_impl_memory_library)
extern const char stint_impl_memory_library __attribute__((weak, visibility("default")));

/* From its constructor. */
void memory_connect(const struct memory_ops *ops);
/* Under the registry's lock: the arena was opened; the process is the child of a fork. */
void memory_start(void);
void memory_forget(void);

/* The memory_scope of the innermost open scope, or of the root, made if need be; NULL: the thread
 * has no recorder, is inside the library, or there is no memory (counted). Never waits. */
struct memory_scope *memory_scope_get(void);
/* The same of a node of the calling thread that has one already; NULL: it has none. */
static inline struct memory_scope *memory_scope_find(char *base, uint32_t first) {
    while (first) {
        struct memory_scope *m =
            (struct memory_scope *)(void *)(base + (uint64_t)first * STINT_IMPL_UNIT);
        if (m->range.first == MEMORY_FIRST) {
            return m;
        }
        first = m->next;
    }
    return NULL;
}

#endif
