/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers for CUPTI. The pool is one mapping, with a bit for each free buffer; small buffers are
 * mapped one by one.
 */
#include "cupti_private.h"

#include <sys/mman.h>

#define POOL 8u
#define SMALL_BYTES ((size_t)1 << 16)
/* 256 MiB. CUPTI may keep a buffer for each thread. */
#define SMALL_MAX 4096

static uint8_t *buffer_pool;
static uint32_t pool_free; /* a bit each; any thread, acquire and release */
static uint32_t small_out; /* any thread, relaxed */

static void *buffer_map(size_t bytes) {
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        return NULL;
    }
    return at;
}

/* Never unmapped: CUPTI may keep a buffer for any time. Pages become memory when they are
 * written. */
int cupti_open_buffers(void) {
    if (!buffer_pool) {
        buffer_pool = buffer_map(POOL * CUPTI_BUFFER_BYTES);
        if (!buffer_pool) {
            return -1;
        }
        __atomic_store_n(&pool_free, (1u << POOL) - 1, __ATOMIC_RELEASE);
    }
    return 0;
}

static uint8_t *buffer_take_from_pool(void) {
    uint32_t have = __atomic_load_n(&pool_free, __ATOMIC_RELAXED);
    while (have) {
        unsigned i = (unsigned)__builtin_ctz(have);
        if (__atomic_compare_exchange_n(&pool_free, &have, have & ~(1u << i), 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            return buffer_pool + i * CUPTI_BUFFER_BYTES;
        }
    }
    return NULL;
}

static uint8_t *buffer_take_small(int must) {
    uint8_t *buffer = NULL;
    uint32_t out = __atomic_fetch_add(&small_out, 1, __ATOMIC_RELAXED);
    if (out < SMALL_MAX || must) {
        buffer = buffer_map(SMALL_BYTES);
    }
    if (!buffer) {
        __atomic_fetch_sub(&small_out, 1, __ATOMIC_RELAXED);
    }
    return buffer;
}

uint8_t *cupti_get_buffer(size_t *size, int must) {
    uint8_t *buffer = buffer_take_from_pool();
    if (buffer) {
        *size = CUPTI_BUFFER_BYTES;
        return buffer;
    }
    buffer = buffer_take_small(must);
    *size = buffer ? SMALL_BYTES : 0;
    return buffer;
}

void cupti_put_buffer(uint8_t *buffer, size_t size) {
    if (buffer_pool && buffer >= buffer_pool && buffer < buffer_pool + POOL * CUPTI_BUFFER_BYTES) {
        size_t i = (size_t)(buffer - buffer_pool) / CUPTI_BUFFER_BYTES;
        __atomic_fetch_or(&pool_free, 1u << i, __ATOMIC_RELEASE);
    } else if (buffer && size == SMALL_BYTES) {
        munmap(buffer, size);
        __atomic_fetch_sub(&small_out, 1, __ATOMIC_RELAXED);
    }
}
