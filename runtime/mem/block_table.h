/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blocks of memory that the program has: address -> (size, owner). Nothing is stored in the
 * blocks themselves, so that any allocator may be below and any block may be freed.
 *
 * Two maps that are indexed by the address itself, without a hash and without a search. Leaves are
 * made as addresses come into use, and stay.
 * - Small blocks have 8 bytes for each 16 bytes of addresses: a leaf for each MiB. No two of them
 *   begin in the same 16 bytes, except in allocators that have blocks of 8 bytes: a block that does
 *   not begin at a multiple of 16 is not added.
 * - Large blocks, from BLOCK_LARGE on, have 16 bytes for each page: no two of them begin in the
 *   same page. A leaf is for 1 GiB. They would otherwise need a leaf of small blocks each.
 *
 * The pages of a leaf that no block needs are not touched: a heap of small blocks costs half its
 * size, a large block at most a page. Neighbouring blocks have neighbouring entries, so the table
 * is in the cache as far as the blocks are.
 *
 * A process knows the sizes of the blocks that it inherited over a fork, but their owners are in
 * the recording of its parent: entries have the generation of the process that made them.
 *
 * Threading: all functions are lock-free and may be called by any thread. As only one thread at a
 * time has an address that it allocates or frees, no two write the same entry.
 */
#ifndef STINT_BLOCK_TABLE_H
#define STINT_BLOCK_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct block {
    uint64_t size;
    uint32_t owner;   /* what was given to block_put; 0 also if it is of before a fork */
    int is_inherited; /* allocated by the parent of this process */
};

#define BLOCK_ADDRESS_BITS 48
#define BLOCK_ALIGNMENT 16
#define BLOCK_LARGE 4096u
#define BLOCK_OWNER_BITS 26
#define BLOCK_SIZE_BITS 13 /* of a small one, size + 1: an entry in use is not 0 */
#define BLOCK_GENERATION_BITS (64 - BLOCK_OWNER_BITS - BLOCK_SIZE_BITS)
#define BLOCK_LEAF_BITS 20 /* of addresses */
#define BLOCK_LEAF_ENTRIES (1u << (BLOCK_LEAF_BITS - 4))
#define BLOCK_MIDDLE_BITS 34
#define BLOCK_MIDDLE_LEAVES (1u << (BLOCK_MIDDLE_BITS - BLOCK_LEAF_BITS))

/* Entries: written by the thread that has the block. Pointers: any thread, by compare and exchange,
 * once. */
struct block_leaf {
    uint64_t entry[BLOCK_LEAF_ENTRIES];
};
struct block_middle {
    struct block_leaf *leaf[BLOCK_MIDDLE_LEAVES];
};
extern struct block_middle *block_small[1u << (BLOCK_ADDRESS_BITS - BLOCK_MIDDLE_BITS)];
extern uint32_t block_generation; /* written in the child of a fork alone */

/* The rest of the two functions below. */
uint64_t *block_make_small(uint64_t at); /* NULL: no room */
int block_put_large(uint64_t at, uint64_t size, uint32_t owner, struct block *old);
int block_take_large(uint64_t at, struct block *out);

/* The most address space that the table takes. What is in it stays. */
void block_table_limit(uint64_t bytes);
/* In the child of a fork: the owners of all blocks so far belong to the parent. */
void block_table_inherit(void);

static inline int block_is_possible(uint64_t at) {
    return !(at % BLOCK_ALIGNMENT) && !(at >> BLOCK_ADDRESS_BITS);
}

/* NULL: there is no leaf. */
static inline uint64_t *block_find_small(uint64_t at) {
    struct block_middle *m =
        __atomic_load_n(&block_small[at >> BLOCK_MIDDLE_BITS], __ATOMIC_ACQUIRE);
    if (!m) {
        return NULL;
    }
    struct block_leaf *leaf =
        __atomic_load_n(&m->leaf[(at >> BLOCK_LEAF_BITS) % BLOCK_MIDDLE_LEAVES], __ATOMIC_ACQUIRE);
    if (!leaf) {
        return NULL;
    }
    return &leaf->entry[at / BLOCK_ALIGNMENT % BLOCK_LEAF_ENTRIES];
}

static inline void block_read_small(struct block *out, uint64_t entry) {
    uint32_t generation = (uint32_t)(entry % (1u << BLOCK_GENERATION_BITS));
    out->is_inherited = generation != block_generation;
    out->size = (entry >> BLOCK_GENERATION_BITS) % (1u << BLOCK_SIZE_BITS) - 1;
    out->owner = (uint32_t)(entry >> (64 - BLOCK_OWNER_BITS));
    if (out->is_inherited) {
        out->owner = 0;
    }
}

/* Adds a block; `owner` has 26 bits. 1: it replaced a block at this address whose end was not seen,
 * which is *old. -1: there is no room for it, or it is larger than the table can say. */
static inline int block_put(const void *address, uint64_t size, uint32_t owner, struct block *old) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    int had = 0;
    if (!block_is_possible(at)) {
        return -1;
    }
    if (size >= BLOCK_LARGE) {
        return block_put_large(at, size, owner, old);
    }
    uint64_t *entry = block_find_small(at);
    if (!entry) {
        entry = block_make_small(at);
    }
    if (!entry) {
        return -1;
    }
    if (*entry) {
        block_read_small(old, *entry);
        had = 1;
    }
    *entry = (uint64_t)owner << (64 - BLOCK_OWNER_BITS) | (size + 1) << BLOCK_GENERATION_BITS |
             block_generation;
    return had;
}

/* Removes a block: 1; or 0, it is not in the table. */
static inline int block_take(const void *address, struct block *out) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!block_is_possible(at)) {
        return 0;
    }
    uint64_t *entry = block_find_small(at);
    if (!entry || !*entry) {
        return block_take_large(at, out);
    }
    block_read_small(out, *entry);
    *entry = 0;
    return 1;
}

#endif
