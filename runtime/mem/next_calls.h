/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that libstint-mem.so calls in its own of the same name. They are in the C library,
 * or in another allocator that is loaded after it.
 */
#ifndef STINT_NEXT_CALLS_H
#define STINT_NEXT_CALLS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All are found together; malloc is the last to be set. */
struct next_calls {
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *old, size_t size);
    void (*free)(void *block);
    int (*posix_memalign)(void **out, size_t alignment, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
    void *(*memalign)(size_t alignment, size_t size);
    void *(*mmap)(void *at, size_t length, int protection, int flags, int fd, off_t offset);
    int (*munmap)(void *at, size_t length);
    void *(*mremap)(void *at, size_t length, size_t to, int flags, ...);
};
extern __attribute__((visibility("hidden"))) struct next_calls next_calls;

/* Whether they can be called. Finds them on the first call; 0 while the calling thread is
 * finding them: dlsym may allocate. */
int next_calls_find(void);
static inline int next_calls_known(void) {
    return __builtin_expect(__atomic_load_n(&next_calls.malloc, __ATOMIC_ACQUIRE) != NULL, 1) ||
           next_calls_find();
}

/* Memory for what is allocated while they are being found: zeroed, 16-aligned, never reused. NULL:
 * none left. glibc's dlsym asks for less than 1 KiB, if for anything. */
#define NEXT_CALLS_EARLY_BYTES (64 << 10)
extern __attribute__((visibility("hidden"))) char next_calls_early_memory[NEXT_CALLS_EARLY_BYTES];
void *next_calls_early(size_t alignment, size_t size);
/* Whether it is of that memory, and how many bytes of it follow at least. */
static inline size_t next_calls_is_early(const void *block) {
    uintptr_t at = (uintptr_t)block - (uintptr_t)next_calls_early_memory;
    if (at >= NEXT_CALLS_EARLY_BYTES) {
        return 0;
    }
    return NEXT_CALLS_EARLY_BYTES - at;
}

#endif
