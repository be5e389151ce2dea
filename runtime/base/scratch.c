/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages from the kernel, and an arena of short-lived blocks on them, for the runtime and the tool.
 * errno is kept. Blocks are zeroed, also those that reuse the memory of released ones.
 */
#include "scratch.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arithmetic.h"
#include "errno_keep.h"

#define CHUNK_BYTES ((size_t)256 << 10) /* a snapshot of a few hundred rows is one mmap */

struct scratch_chunk {
    struct scratch_chunk *next;
    size_t bytes;
};

static void *pages_map(size_t bytes, int protection, int kind) {
    ERRNO_KEEP;
    void *p = mmap(NULL, bytes, protection, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void *pages_get(size_t bytes) {
    return pages_map(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE);
}

void *pages_get_shared(size_t bytes) {
    return pages_map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

void *pages_get_wiped(size_t bytes) {
    ERRNO_KEEP;
    void *p = pages_get(bytes);
    if (p) {
        (void)madvise(p, bytes, MADV_WIPEONFORK);
    }
    return p;
}

/* The kernel moves the pages: they are never there twice. */
void *pages_grow(void *pages, size_t bytes, size_t to) {
    ERRNO_KEEP;
    if (!pages) {
        return pages_get(to);
    }
    void *more = mremap(pages, bytes, to, MREMAP_MAYMOVE);
    return more == MAP_FAILED ? NULL : more;
}

void *pages_reserve(size_t bytes) {
    return pages_map(bytes, PROT_NONE, MAP_PRIVATE);
}

void pages_reserve_again(void *pages, size_t bytes) {
    ERRNO_KEEP;
    (void)mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
               0);
}

int pages_commit(void *pages, size_t bytes) {
    ERRNO_KEEP;
    return mprotect(pages, bytes, PROT_READ | PROT_WRITE);
}

/* Since Linux 5.14; the headers may be older. */
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void pages_fill(void *pages, size_t bytes) {
    ERRNO_KEEP;
    (void)madvise(pages, bytes, MADV_POPULATE_WRITE);
}

void pages_empty(void *from, size_t bytes) {
    ERRNO_KEEP;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)from + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)from + bytes) / page * page;
    if (start < end) {
        (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
}

void pages_put(void *pages, size_t bytes) {
    ERRNO_KEEP;
    if (pages) {
        munmap(pages, bytes);
    }
}

void pages_renew(void *pages, size_t bytes) {
    ERRNO_KEEP;
    (void)mmap(pages, bytes, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

/* Moves pages that were just mapped over others. */
static void pages_move(void *from, void *to, size_t bytes) {
    if (mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
        pages_put(from, bytes);
        pages_renew(to, bytes);
    }
}

int pages_replace(void *pages, size_t bytes) {
    ERRNO_KEEP;
    void *fresh = pages_get(bytes);
    if (!fresh) {
        return -1;
    }
    pages_move(fresh, pages, bytes);
    return 0;
}

void pages_copy(void *pages, size_t bytes, size_t used) {
    ERRNO_KEEP;
    void *copy = pages_get(bytes);
    if (!copy) {
        pages_renew(pages, bytes);
        return;
    }
    memcpy(copy, pages, u64_min(used, bytes));
    pages_move(copy, pages, bytes);
}

/* In pieces of a known size, without a call, where there is not much. */
static void clear_block(char *from, size_t bytes) {
    while (bytes >= 64 && bytes <= (size_t)1 << 20) {
        memset(from, 0, 64);
        from += 64;
        bytes -= 64;
    }
    memset(from, 0, bytes);
}

static int scratch_grow(struct scratch *s, size_t bytes) {
    size_t size = (bytes + 2 * sizeof(struct scratch_chunk) + 4095) & ~(size_t)4095;
    size = u64_max(size, CHUNK_BYTES);
    struct scratch_chunk *c = pages_get(size);
    if (!c) {
        s->failed = 1;
        return -1;
    }
    c->next = s->chunks;
    c->bytes = size;
    s->chunks = c;
    s->left = size - sizeof *c;
    return 0;
}

void *scratch_get(struct scratch *s, size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > s->left && scratch_grow(s, bytes)) {
        return NULL;
    }
    char *end = (char *)s->chunks + s->chunks->bytes;
    void *p = end - s->left;
    s->left -= bytes;
    return p;
}

void *scratch_array(struct scratch *s, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 2 / size) {
        s->failed = 1;
        return NULL;
    }
    return scratch_get(s, count * size + 1);
}

void scratch_free(struct scratch *s) {
    scratch_release(s, (struct scratch_mark){0});
}

struct scratch_mark scratch_mark(const struct scratch *s) {
    return (struct scratch_mark){s->chunks, s->left, s->failed};
}

void scratch_release(struct scratch *s, struct scratch_mark mark) {
    int is_first_chunk = s->chunks == mark.chunks;
    s->failed = mark.failed;
    while (s->chunks != mark.chunks) {
        struct scratch_chunk *next = s->chunks->next;
        pages_put(s->chunks, s->chunks->bytes);
        s->chunks = next;
    }
    if (!mark.chunks) {
        s->left = 0;
        return;
    }
    /* Blocks are zeroed: those that came later are in the last `mark.left` bytes of this chunk. */
    size_t used = mark.left;
    if (is_first_chunk) {
        used -= s->left;
    }
    clear_block((char *)mark.chunks + mark.chunks->bytes - mark.left, used);
    s->left = mark.left;
}
