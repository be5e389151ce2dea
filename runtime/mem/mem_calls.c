/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of libstint-mem.so that the program calls instead of the C library's. Each calls
 * the next function of its name and counts (mem_count.h). strdup, getline and the like are counted
 * by the malloc that they call; operator new is in new_calls.c; malloc_usable_size is left as it
 * is.
 *
 * - A block leaves the table before it is freed: from then on another thread may get its address.
 * - Before the next functions are known, memory comes from a small static piece
 *   (next_calls.h), is not counted, and free ignores it.
 * - errno is what the next function left.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "base/errno_keep.h"
#include "mappings.h"
#include "mem_count.h"
#include "next_calls.h"
#include "session/memory_calls.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- malloc and its like. */

EXPORT void *malloc(size_t size) {
    if (!next_calls_known()) {
        return next_calls_early(0, size);
    }
    int counts = mem_enter();
    return mem_return(counts, next_calls.malloc(size), size);
}

EXPORT void *calloc(size_t count, size_t size) {
    if (!next_calls_known()) {
        if (size && count > SIZE_MAX / size) {
            return NULL;
        }
        return next_calls_early(0, count * size); /* zeroed */
    }
    int counts = mem_enter();
    return mem_return(counts, next_calls.calloc(count, size), count * size);
}

EXPORT void free(void *block) {
    if (!block || next_calls_is_early(block) || !next_calls_known()) {
        return;
    }
    int counts = mem_enter();
    if (counts) {
        mem_count_free(block);
    }
    next_calls.free(block);
    mem_leave(counts);
}

static void *early_move(const void *old, size_t size) {
    size_t most = next_calls_is_early(old);
    void *block = malloc(size);
    if (block) {
        memcpy(block, old, u64_min(size, most));
    }
    return block;
}

EXPORT void *realloc(void *old, size_t size) {
    struct mem_taken taken = {.is_known = 0};
    if (!old || !next_calls_known()) {
        return malloc(size);
    }
    if (next_calls_is_early(old)) {
        return early_move(old, size);
    }
    int counts = mem_enter();
    if (counts) {
        mem_take(old, &taken);
    }
    void *block = next_calls.realloc(old, size);
    if (counts && !block && size) {
        mem_put_back(old, &taken);
    } else if (counts) { /* of size 0: freed, with or without a new block */
        mem_count_taken(&taken);
        if (block) {
            mem_count_block(block, size);
        }
    }
    mem_leave(counts);
    return block;
}

EXPORT void *reallocarray(void *old, size_t count, size_t size) {
    if (size && count > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, count * size);
}

/* ---- Aligned blocks. */

EXPORT int posix_memalign(void **out, size_t alignment, size_t size) {
    if (!next_calls_known()) {
        *out = next_calls_early(alignment, size);
        if (!*out) {
            return ENOMEM;
        }
        return 0;
    }
    int counts = mem_enter();
    int result = next_calls.posix_memalign(out, alignment, size);
    if (counts && !result && *out) {
        mem_count_block(*out, size);
    }
    mem_leave(counts);
    return result;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    if (!next_calls_known()) {
        return next_calls_early(alignment, size);
    }
    int counts = mem_enter();
    return mem_return(counts, next_calls.aligned_alloc(alignment, size), size);
}

EXPORT void *memalign(size_t alignment, size_t size) {
    if (!next_calls_known()) {
        return next_calls_early(alignment, size);
    }
    int counts = mem_enter();
    return mem_return(counts, next_calls.memalign(alignment, size), size);
}

EXPORT void *valloc(size_t size) {
    return memalign((size_t)sysconf(_SC_PAGESIZE), size);
}

EXPORT void *pvalloc(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page, (size + page - 1) / page * page);
}

/* ---- Mapped memory: anonymous and accessible, of MAPPINGS_MIN bytes or more, and not mapped by
 * libstint.so or an allocator. */

static void part_removed(const struct mapping_part *part) {
    mem_count_unmap(part->length, part->owner, part->is_inherited);
}

/* As the kernel rounds lengths. 0: there are no such addresses. */
static size_t whole_pages(size_t length) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (length + page - 1) / page * page;
}

/* Before a call that unmaps. How many bytes are taken. */
static size_t mapping_take(const void *at, size_t length, const void *call) {
    uint64_t lost = 0;
    size_t bytes = mappings_take(at, whole_pages(length), call, &lost);
    if (lost) {
        stint_impl_memory_lose(lost);
    }
    return bytes;
}

/* After it. */
static void mapping_settle(const void *call, int failed,
                           int (*is_left)(uintptr_t from, uintptr_t to)) {
    if (failed) {
        mappings_put_back(call, is_left);
    }
    mappings_drop(call, part_removed);
}

/* The kernel may unmap what is at a fixed address before it fails to map something there. */
static int is_mapped(uintptr_t from, uintptr_t to) {
    ERRNO_KEEP;
    from -= from % (uintptr_t)sysconf(_SC_PAGESIZE);
    return !syscall(SYS_msync, from, to - from, MS_ASYNC);
}

static void mapping_add(const void *at, size_t length) {
    if (mappings_add(at, length, mem_count_map(length))) {
        stint_impl_memory_lose(1);
    }
}

static int mapping_counts(size_t length, int protection, int flags) {
    return length >= MAPPINGS_MIN && (flags & MAP_ANONYMOUS) && protection != PROT_NONE;
}

static void *map_now(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    if (!next_calls_known() || !next_calls.mmap) {
        return (void *)syscall(SYS_mmap, at, length, protection, flags, fd, offset);
    }
    return next_calls.mmap(at, length, protection, flags, fd, offset);
}

static void *map_and_count(const void *caller, void *at, size_t length, int protection, int flags,
                           int fd, off_t offset) {
    if (mem_is_own_code(caller)) {
        return map_now(at, length, protection, flags, fd, offset);
    }
    int counts = !mem_within_new(__builtin_frame_address(0)) && mem_enter();
    int replaces = counts && (flags & MAP_FIXED) && mapping_take(at, length, &counts);
    void *got = map_now(at, length, protection, flags, fd, offset);
    if (replaces) {
        mapping_settle(&counts, got == MAP_FAILED, is_mapped);
    }
    if (counts && got != MAP_FAILED && mapping_counts(length, protection, flags)) {
        mapping_add(got, length);
    }
    mem_leave(counts);
    return got;
}

EXPORT void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset) {
    return map_and_count(__builtin_return_address(0), at, length, protection, flags, fd, offset);
}

/* The same function where off_t has 64 bits, as on all machines that the library is for; with musl
 * 1.2.3 a macro for the one above. */
#ifndef mmap64
EXPORT void *mmap64(void *at, size_t length, int protection, int flags, int fd, off64_t offset) {
    return map_and_count(__builtin_return_address(0), at, length, protection, flags, fd, offset);
}
#endif

EXPORT int munmap(void *at, size_t length) {
    if (!next_calls_known() || !next_calls.munmap) {
        return (int)syscall(SYS_munmap, at, length);
    }
    if (mem_is_own_code(__builtin_return_address(0))) {
        return next_calls.munmap(at, length);
    }
    int counts = mem_enter();
    int is_known = counts && mapping_take(at, length, &counts);
    int result = next_calls.munmap(at, length);
    if (is_known) {
        mapping_settle(&counts, result, NULL);
    }
    mem_leave(counts);
    return result;
}

#ifndef MREMAP_DONTUNMAP /* glibc before 2.32 */
#define MREMAP_DONTUNMAP 4
#endif

/* A mapping that is moved or changes its size is counted as freed and mapped anew, as by realloc.
 * With MREMAP_DONTUNMAP the old one stays. */
EXPORT void *mremap(void *at, size_t length, size_t to, int flags, ...) {
    void *where = NULL;
    if (flags & MREMAP_FIXED) {
        va_list more;
        va_start(more, flags);
        where = va_arg(more, void *);
        va_end(more);
    }
    if (!next_calls_known() || !next_calls.mremap) {
        return (void *)syscall(SYS_mremap, at, length, to, flags, where);
    }
    int counts = mem_enter();
    size_t moved = 0, replaced = 0;
    if (counts) {
        moved = mapping_take(at, length, &moved);
        if (where) {
            replaced = mapping_take(where, to, &replaced);
        }
    }
    void *got = next_calls.mremap(at, length, to, flags, where);
    int failed = got == MAP_FAILED;
    if (moved) {
        mapping_settle(&moved, failed || (flags & MREMAP_DONTUNMAP), NULL);
    }
    if (replaced) {
        mapping_settle(&replaced, failed, is_mapped);
    }
    if (moved && !failed) {
        mapping_add(got, to);
    }
    mem_leave(counts);
    return got;
}
