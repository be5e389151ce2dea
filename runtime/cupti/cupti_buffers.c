/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_buffers.h"

#include <sys/mman.h>

#define POOL 8u
#define POOL_BYTES ((size_t)1 << 20) /* some 5000 kernels */
#define SMALL_BYTES ((size_t)1 << 16)
#define SMALL_MOST 64 /* 4 MiB */

static uint8_t *pool;
static uint32_t pool_free; /* a bit each; any thread, acquire and release */
static uint32_t small_out; /* any thread, relaxed */

static void *map(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Stays: CUPTI may hold on to a buffer for as long as it likes. Pages come as they are written. */
int cupti_buffers_open(void) {
    if (!pool) {
        pool = map(POOL * POOL_BYTES);
        __atomic_store_n(&pool_free, pool ? (1u << POOL) - 1 : 0, __ATOMIC_RELEASE);
    }
    return pool ? 0 : -1;
}

static uint8_t *take_from_pool(void) {
    uint32_t have = __atomic_load_n(&pool_free, __ATOMIC_RELAXED);
    while (have) {
        unsigned i = (unsigned)__builtin_ctz(have);
        if (__atomic_compare_exchange_n(&pool_free, &have, have & ~(1u << i), 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return pool + i * POOL_BYTES;
        }
    }
    return NULL;
}

static uint8_t *take_small(int must) {
    uint8_t *buffer = NULL;
    uint32_t out = __atomic_fetch_add(&small_out, 1, __ATOMIC_RELAXED);
    if (out < SMALL_MOST || must) {
        buffer = map(SMALL_BYTES);
    }
    if (!buffer) {
        __atomic_fetch_sub(&small_out, 1, __ATOMIC_RELAXED);
    }
    return buffer;
}

uint8_t *cupti_buffer_take(size_t *size, int must) {
    uint8_t *buffer = take_from_pool();
    *size = POOL_BYTES;
    if (!buffer) {
        buffer = take_small(must);
        *size = buffer ? SMALL_BYTES : 0;
    }
    return buffer;
}

void cupti_buffer_give(uint8_t *buffer, size_t size) {
    if (pool && buffer >= pool && buffer < pool + POOL * POOL_BYTES) {
        size_t i = (size_t)(buffer - pool) / POOL_BYTES;
        __atomic_fetch_or(&pool_free, 1u << i, __ATOMIC_RELEASE);
    } else if (buffer && size == SMALL_BYTES) {
        munmap(buffer, size);
        __atomic_fetch_sub(&small_out, 1, __ATOMIC_RELAXED);
    }
}
