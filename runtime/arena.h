/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything recorded, in one relocatable block: names, sites, sets, threads, open scopes, nodes
 * and histograms, linked by offsets. The layout is the same whether the block is anonymous memory
 * or a file; STINT_ABI is its version. References count units of 64 bytes from the start (texts:
 * units of 8), 0 = none.
 *
 * Threading: arena_get, arena_text, arena_lose and the readers are safe from any thread; open and
 * drop only under the registry's lock.
 */
#ifndef STINT_ARENA_H
#define STINT_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "status.h"
#include "stint/impl_layout.h"

#define ARENA_MAGIC "STINTRUN"
#define ARENA_SITES_PER_CHUNK 256u
#define ARENA_SITE_CHUNKS 4096u
#define ARENA_SITES                                                                                \
    (ARENA_SITES_PER_CHUNK *                                                                       \
     ARENA_SITE_CHUNKS) /* 2^20: four key bits stay free                   \
                                                 */
#define ARENA_SETS (1u << STINT_IMPL_SET_BITS)
#define ARENA_SETS_PER_CHUNK 256u
#define ARENA_NAME_BYTES 1000u /* longer names are cut */

/* Layout is format: a size that changes by accident would change every run file. */
_Static_assert(sizeof(struct stint_impl_node) == 3 * STINT_IMPL_UNIT, "a node is three lines");
_Static_assert(offsetof(struct stint_impl_node, kind) == STINT_IMPL_UNIT, "a sample is one line");
_Static_assert(sizeof(struct stint_impl_frame) == 32, "two frames a line");
_Static_assert(sizeof(struct stint_impl_histogram) % STINT_IMPL_UNIT == 0, "whole lines");

/* What memory is for decides how far it may fill the arena: nodes and names come last. */
enum arena_class { ARENA_RECORD, ARENA_HISTOGRAM, ARENA_TRACE };

struct arena_text {
    uint32_t length;
    char bytes[]; /* and a NUL */
};

struct arena_site {
    uint32_t name; /* texts */
    uint32_t file;
    uint32_t function;
    uint32_t line;
    uint8_t level;
    uint8_t role;
    uint8_t dynamic;
    uint8_t reserved[5];
};

struct arena_set {
    uint32_t name;
};

struct arena_thread {
    uint32_t next; /* the thread registered before this one */
    uint32_t tid;  /* of the last owner */
    uint32_t ordinal;
    uint32_t alive;
    uint32_t uses; /* threads that recorded here, one after the other */
    uint32_t root; /* node */
    uint32_t frames;
    uint32_t reserved;
    uint64_t start_ticks; /* of the last owner */
    uint64_t end_ticks;
    char name[16];
    uint64_t lost[STINT_STATUS_COUNT]; /* written by the owner, relaxed */
};

struct arena_header {
    char magic[8];
    uint32_t abi;
    uint32_t header_bytes;
    uint64_t size;
    uint64_t used; /* bytes, atomic */
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t clock_kind;
    uint32_t first_thread; /* newest; release */
    uint32_t thread_count;
    uint32_t site_count; /* ids 1 … site_count are valid; release */
    uint32_t set_count;  /* ids 0 … set_count - 1; release */
    uint32_t reserved;
    struct clock_stamp start;
    char boot_id[40];
    uint64_t lost[STINT_STATUS_COUNT]; /* what no thread's own ledger could take; atomic adds */
    uint32_t set_chunk[ARENA_SETS / ARENA_SETS_PER_CHUNK];
    uint32_t site_chunk[ARENA_SITE_CHUNKS];
};

/* The process's arena; base is NULL before the first use and after a fork. */
struct arena {
    char *base;
    size_t size;
};
extern struct arena arena;

/* Maps `bytes`, or a half, a quarter … down to 1 MiB. 0, or -1 without memory. */
int arena_open(size_t bytes, const struct clock_stamp *start);
/* Forgets and unmaps it: in the child of a fork. */
void arena_drop(void);
static inline struct arena_header *arena_header(void) {
    return (struct arena_header *)(void *)arena.base;
}
/* Zeroed memory in units, or 0 when the class's share is used up. */
uint32_t arena_get(size_t bytes, enum arena_class use);
static inline void *arena_at(uint32_t unit) {
    return arena.base + (size_t)unit * STINT_IMPL_UNIT;
}
/* The record of a number that was given out. */
static inline struct arena_site *arena_site_at(uint32_t id) {
    uint32_t chunk = arena_header()->site_chunk[(id - 1) / ARENA_SITES_PER_CHUNK];
    return (struct arena_site *)arena_at(chunk) + (id - 1) % ARENA_SITES_PER_CHUNK;
}
/* A copy of the text; 0 without memory. Under the registry's lock. */
uint32_t arena_text_put(const char *bytes, size_t length);
static inline const struct arena_text *arena_text_at(uint32_t text) {
    return (const struct arena_text *)(const void *)(arena.base + (size_t)text * 8);
}
/* Counts a loss that belongs to no thread. Works without an arena too. */
void arena_lose(enum stint_status what, uint64_t n);

#endif
