/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory by its address: which block was allocated on which device, so that the size is known when
 * it is freed.
 */
#include "activity_private.h"

#include "arena/arena.h"
#include "base/hash.h"
#include "base/scratch.h"

#define PLACES 65536u /* three quarters of them are used: blocks known at once */
#define NO_GPU UINT32_MAX

struct block {
    uint64_t address; /* 0 = free */
    uint64_t bytes;
    uint32_t gpu; /* index, or NO_GPU */
    uint32_t memory;
};

static struct memory_tables {
    struct block blocks[PLACES];
    uint64_t now[ACTIVITY_DEVICES]; /* bytes */
    uint32_t count;
} * memory_tables;

int activity_memory_open(void) {
    memory_tables = pages_get(sizeof *memory_tables);
    if (!memory_tables) {
        return -1;
    }
    return 0;
}

void activity_memory_forget(void) {
    pages_put(memory_tables, sizeof *memory_tables);
    memory_tables = NULL;
}

/* ---- Blocks by their address, in a hash table with open addressing; base/hash_map.h has no
 * removal. */

static uint32_t activity_block_get_home(uint64_t address) {
    return (uint32_t)hash_number(address) % PLACES;
}

static struct block *activity_block_find(uint64_t address) {
    uint32_t at = activity_block_get_home(address);
    while (memory_tables->blocks[at].address && memory_tables->blocks[at].address != address) {
        at = (at + 1) % PLACES;
    }
    return &memory_tables->blocks[at];
}

/* Later blocks of the same run move up, so that no search ends at the free place. */
static void activity_block_drop(struct block *b) {
    uint32_t hole = (uint32_t)(b - memory_tables->blocks), at = hole;
    for (;;) {
        at = (at + 1) % PLACES;
        const struct block *next = &memory_tables->blocks[at];
        if (!next->address) {
            break;
        }
        if ((at - activity_block_get_home(next->address)) % PLACES >= (at - hole) % PLACES) {
            memory_tables->blocks[hole] = *next;
            hole = at;
        }
    }
    memory_tables->blocks[hole].address = 0;
    --memory_tables->count;
}

/* ---- Rows. */

/* Memory of the device, or that may be moved to it. */
static int activity_memory_is_on_device(uint32_t memory) {
    return memory != ACTIVITY_MEMORY_PAGEABLE && memory != ACTIVITY_MEMORY_PINNED;
}

static void activity_memory_change(uint32_t gpu, uint32_t memory, uint64_t more, uint64_t less,
                                   const struct activity_record *r) {
    if (gpu == NO_GPU || !activity_memory_is_on_device(memory)) {
        return;
    }
    struct activity_key k = {.kind = ACTIVITY_MEMORY, .device = activity_device_at(gpu)->unit};
    uint32_t row = activity_rows_get(&k);
    memory_tables->now[gpu] += more - less;
    if (row) {
        activity_rows_level(row, memory_tables->now[gpu], r->start);
        activity_lane_set_memory(activity_device_at(gpu), row, memory_tables->now[gpu],
                                 r->start + (uint64_t)r->shift);
    }
}

static void activity_memory_count(uint32_t kind, uint32_t gpu, uint32_t memory, uint32_t node,
                                  uint64_t bytes, uint64_t at) {
    struct activity_key k = {.kind = kind, .detail = memory, .node = node};
    if (gpu != NO_GPU) {
        k.device = activity_device_at(gpu)->unit;
    }
    struct activity_sample s = {.start = at, .bytes = bytes};
    activity_rows_add(activity_rows_get(&k), &s);
}

void activity_memory_give(const struct activity_record *r, const struct activity_gpu *gpu,
                          uint32_t node) {
    uint32_t index = gpu ? gpu->index : NO_GPU;
    activity_memory_count(ACTIVITY_ALLOC, index, r->detail, node, r->bytes, r->start);
    if (!r->address) {
        return;
    }
    struct block *b = activity_block_find(r->address);
    if (b->address) { /* there was no record of its end */
        activity_memory_change(b->gpu, b->memory, 0, b->bytes, r);
    } else if (memory_tables->count == PLACES / 4 * 3) {
        arena_lose(STINT_STATUS_ACTIVITY_FULL, 1);
        return;
    } else {
        ++memory_tables->count;
    }
    *b =
        (struct block){.address = r->address, .bytes = r->bytes, .gpu = index, .memory = r->detail};
    activity_memory_change(index, r->detail, r->bytes, 0, r);
}

void activity_memory_take(const struct activity_record *r, uint32_t node) {
    if (!r->address) {
        return;
    }
    struct block *b = activity_block_find(r->address);
    if (b->address) {
        activity_memory_count(ACTIVITY_FREE, b->gpu, b->memory, node, b->bytes, r->start);
        activity_memory_change(b->gpu, b->memory, 0, b->bytes, r);
        activity_block_drop(b);
    }
}
