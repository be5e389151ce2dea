/* SPDX-License-Identifier: Apache-2.0 */
#include "next_calls.h"

#include <dlfcn.h>

struct next_calls next_calls;

char next_calls_early_memory[NEXT_CALLS_EARLY_BYTES] __attribute__((aligned(16)));
static size_t early_used; /* atomic */

static __thread int finding __attribute__((tls_model("initial-exec")));

/* POSIX has dlsym give functions as objects. */
static void find_next(void *place, const char *name) {
    *(void **)place = dlsym(RTLD_NEXT, name);
}

int next_calls_find(void) {
    struct next_calls found = {0};
    if (finding) {
        return 0;
    }
    finding = 1;
    find_next(&found.calloc, "calloc");
    find_next(&found.realloc, "realloc");
    find_next(&found.free, "free");
    find_next(&found.posix_memalign, "posix_memalign");
    find_next(&found.aligned_alloc, "aligned_alloc");
    find_next(&found.memalign, "memalign");
    find_next(&found.mmap, "mmap");
    find_next(&found.munmap, "munmap");
    find_next(&found.mremap, "mremap");
    next_calls = found; /* several threads may do so: all find the same */
    find_next(&found.malloc, "malloc");
    finding = 0;
    __atomic_store_n(&next_calls.malloc, found.malloc, __ATOMIC_RELEASE);
    return found.malloc != NULL;
}

void *next_calls_early(size_t alignment, size_t size) {
    size_t at, end;
    if (alignment < 16) {
        alignment = 16;
    }
    if (!size) {
        size = 1; /* an address of its own */
    }
    if (size > NEXT_CALLS_EARLY_BYTES || alignment > NEXT_CALLS_EARLY_BYTES) {
        return NULL;
    }
    size_t used = __atomic_load_n(&early_used, __ATOMIC_RELAXED);
    do {
        at = used + (size_t)(-((uintptr_t)next_calls_early_memory + used) & (alignment - 1));
        end = at + size;
        if (end > NEXT_CALLS_EARLY_BYTES) {
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&early_used, &used, end, 0, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return next_calls_early_memory + at;
}
