/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of blocks, but for the most frequent calls, which are inline in the header; there is
 * also how the table is made. Leaves are never removed, so that no reader meets one that is gone.
 */
#include "block_table.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errno_keep.h"

#define GENERATIONS (1u << BLOCK_GENERATION_BITS)
#define LARGE_SIZE_BITS (64 - BLOCK_OWNER_BITS)
/* A large entry's first word: the address / 16, and above it the low bits of the generation. */
#define LARGE_AT_BITS (BLOCK_ADDRESS_BITS - 4)
#define LARGE_GENERATIONS (1u << (64 - LARGE_AT_BITS))
#define PAGE_BITS 12
#define LARGE_LEAF_BITS 30
#define LARGE_ENTRIES (1u << (LARGE_LEAF_BITS - PAGE_BITS))

struct large_entry {
    uint64_t at; /* 0 = none */
    uint64_t what;
};
struct large_leaf {
    struct large_entry entry[LARGE_ENTRIES];
};

struct block_middle *block_small[1u << (BLOCK_ADDRESS_BITS - BLOCK_MIDDLE_BITS)];
uint32_t block_generation;

static struct large_leaf *large_blocks[1u << (BLOCK_ADDRESS_BITS - LARGE_LEAF_BITS)];
static uint64_t table_limit = (uint64_t)1 << 30; /* bytes; relaxed */
static uint64_t table_bytes;                     /* in use; atomic */

/* ---- Leaves. By system calls: mmap itself is counted, by the caller of this. */

static void *leaf_map(size_t bytes) {
    ERRNO_KEEP;
    long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    if (at == -1) {
        return NULL;
    }
    syscall(SYS_madvise, at, bytes, MADV_NOHUGEPAGE); /* few of its pages are touched */
    return (void *)at;
}

static void leaf_unmap(void *leaf, size_t bytes) {
    ERRNO_KEEP;
    syscall(SYS_munmap, leaf, bytes);
}

/* The leaf at that place, made if need be; NULL: no room. */
static void *leaf_get(void *place, size_t bytes) {
    void **at = place;
    void *other = __atomic_load_n(at, __ATOMIC_ACQUIRE);
    if (other) {
        return other;
    }
    void *leaf = NULL;
    if (__atomic_add_fetch(&table_bytes, bytes, __ATOMIC_RELAXED) <=
        __atomic_load_n(&table_limit, __ATOMIC_RELAXED)) {
        leaf = leaf_map(bytes);
    }
    if (leaf &&
        __atomic_compare_exchange_n(at, &other, leaf, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        return leaf;
    }
    if (leaf) {
        leaf_unmap(leaf, bytes);
    }
    __atomic_fetch_sub(&table_bytes, bytes, __ATOMIC_RELAXED);
    return other;
}

/* ---- Small blocks. */

/* NULL: no room. */
static uint64_t *small_make(uint64_t at) {
    struct block_middle *m = leaf_get(&block_small[at >> BLOCK_MIDDLE_BITS], sizeof *m);
    struct block_leaf *leaf = NULL;
    if (m) {
        leaf = leaf_get(&m->leaf[(at >> BLOCK_LEAF_BITS) % BLOCK_MIDDLE_LEAVES], sizeof *leaf);
    }
    if (!leaf) {
        return NULL;
    }
    return &leaf->entry[at / BLOCK_ALIGNMENT % BLOCK_LEAF_ENTRIES];
}

static void small_read(struct block *out, uint64_t entry) {
    out->is_inherited = entry % GENERATIONS != block_generation;
    out->size = block_entry_size(entry);
    out->owner = (uint32_t)(entry >> (64 - BLOCK_OWNER_BITS));
    if (out->is_inherited) {
        out->owner = 0;
    }
}

/* ---- Large blocks. */

static struct large_leaf **large_place(uint64_t at) {
    return &large_blocks[at >> LARGE_LEAF_BITS];
}

static struct large_entry *large_entry(struct large_leaf *leaf, uint64_t at) {
    return &leaf->entry[(at >> PAGE_BITS) % LARGE_ENTRIES];
}

static uint64_t large_generation(void) {
    return block_generation % LARGE_GENERATIONS;
}

static void large_read(struct block *out, const struct large_entry *e) {
    out->is_inherited = e->at >> LARGE_AT_BITS != large_generation();
    out->size = e->what % ((uint64_t)1 << LARGE_SIZE_BITS);
    out->owner = (uint32_t)(e->what >> LARGE_SIZE_BITS);
    if (out->is_inherited) {
        out->owner = 0;
    }
}

static int large_put(uint64_t at, uint64_t size, uint32_t owner, struct block *old) {
    struct large_leaf *leaf;
    int had = 0;
    if (size >> LARGE_SIZE_BITS || !(leaf = leaf_get(large_place(at), sizeof *leaf))) {
        return -1;
    }
    struct large_entry *e = large_entry(leaf, at);
    uint64_t *small = block_find_small(at);
    if (small && *small) { /* it would be found first */
        small_read(old, *small);
        *small = 0;
        had = 1;
    } else if (e->at) {
        large_read(old, e);
        had = 1;
    }
    e->what = (uint64_t)owner << LARGE_SIZE_BITS | size;
    e->at = at / BLOCK_ALIGNMENT | large_generation() << LARGE_AT_BITS;
    return had;
}

static int large_take(uint64_t at, struct block *out) {
    struct large_leaf *leaf = __atomic_load_n(large_place(at), __ATOMIC_ACQUIRE);
    if (!leaf) {
        return 0;
    }
    struct large_entry *e = large_entry(leaf, at);
    if (e->at % ((uint64_t)1 << LARGE_AT_BITS) != at / BLOCK_ALIGNMENT) {
        return 0;
    }
    large_read(out, e);
    e->at = 0;
    return 1;
}

/* ---- All. */

int block_put(const void *address, uint64_t size, uint32_t owner, struct block *old) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    int had = 0;
    if (!block_is_possible(at)) {
        return -1;
    }
    if (size >= BLOCK_LARGE) {
        return large_put(at, size, owner, old);
    }
    uint64_t *entry = block_find_small(at);
    if (!entry) {
        entry = small_make(at);
    }
    if (!entry) {
        return -1;
    }
    if (*entry) {
        small_read(old, *entry);
        had = 1;
    }
    *entry = block_entry(block_mark(owner), size);
    return had;
}

int block_take(const void *address, struct block *out) {
    uint64_t at = (uint64_t)(uintptr_t)address;
    if (!block_is_possible(at)) {
        return 0;
    }
    uint64_t *entry = block_find_small(at);
    if (!entry || !*entry) {
        return large_take(at, out);
    }
    small_read(out, *entry);
    *entry = 0;
    return 1;
}

/* ---- Settings. */

void block_table_limit(uint64_t bytes) {
    __atomic_store_n(&table_limit, bytes, __ATOMIC_RELAXED);
}

void block_table_inherit(void) {
    ++block_generation;
    block_generation %= GENERATIONS;
}
