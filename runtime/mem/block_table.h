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

/* For data of the library in a header: without it, each use finds its address by a table. */
#define MEM_INTERNAL __attribute__((visibility("hidden")))

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
extern MEM_INTERNAL struct block_middle
    *block_small[1u << (BLOCK_ADDRESS_BITS - BLOCK_MIDDLE_BITS)];
extern MEM_INTERNAL uint32_t block_generation; /* written in the child of a fork alone */

/* Adds a block; `owner` has 26 bits. 1: it replaced a block at this address whose end was not seen,
 * which is *old. -1: there is no room for it, or it is larger than the table can say. */
int block_put(const void *address, uint64_t size, uint32_t owner, struct block *old);
/* Removes a block: 1; or 0, it is not in the table. */
int block_take(const void *address, struct block *out);

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

/* The entry of a small block without its size: its owner, and the generation of this process. */
static inline uint64_t block_mark(uint32_t owner) {
    return (uint64_t)owner << (64 - BLOCK_OWNER_BITS) | block_generation;
}

#define BLOCK_SIZES ((((uint64_t)1 << BLOCK_SIZE_BITS) - 1) << BLOCK_GENERATION_BITS)
static inline uint64_t block_entry(uint64_t mark, uint64_t size) {
    return mark | (size + 1) << BLOCK_GENERATION_BITS;
}
static inline uint64_t block_entry_size(uint64_t entry) {
    return (entry & BLOCK_SIZES) / (1u << BLOCK_GENERATION_BITS) - 1;
}

/* block_put and block_take for what is most frequent, a small block that has a leaf: in the first,
 * it replaces none; in the second, it has that mark, which has an owner. -1: nothing was done. */
static inline int block_put_small(const void *address, uint64_t size, uint64_t mark) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!block_is_possible(at) || size >= BLOCK_LARGE) {
        return -1;
    }
    uint64_t *entry = block_find_small(at);
    if (!entry || *entry) {
        return -1;
    }
    *entry = block_entry(mark, size);
    return 0;
}
static inline int block_take_small(const void *address, uint64_t mark, uint64_t *size) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!block_is_possible(at)) {
        return -1;
    }
    uint64_t *entry = block_find_small(at);
    if (!entry || (*entry & ~BLOCK_SIZES) != mark) {
        return -1;
    }
    *size = block_entry_size(*entry);
    *entry = 0;
    return 0;
}

#endif
