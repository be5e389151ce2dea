/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's memory, from mmap and never from malloc: the program's malloc may be instrumented
 * itself, it may be what is broken, and it is not async-signal-safe.
 */
#ifndef STINT_SCRATCH_H
#define STINT_SCRATCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zeroed pages, or NULL. errno is kept. */
void *pages_get(size_t bytes);
/* The same. From Linux 4.14 on they are zeroed again in each child process. */
void *pages_get_wiped(size_t bytes);
/* The same, shared with each child process. */
void *pages_get_shared(size_t bytes);
void pages_put(void *pages, size_t bytes);
/* More pages with the same first `bytes`, in place of these (NULL: there are none yet). NULL
 * without memory, and these stay. */
void *pages_grow(void *pages, size_t bytes, size_t to);

/* Addresses without memory: nothing may be read or written there, and mlockall does not fill them.
 * Freed as pages are. */
void *pages_reserve(size_t bytes);
/* Replaces pages, whatever is mapped there, by such addresses. errno is kept. */
void pages_reserve_again(void *pages, size_t bytes);
/* Makes reserved pages readable and writable, from the start of a page on. 0, or -1 without memory.
 * errno is kept. */
int pages_commit(void *pages, size_t bytes);
/* Gives pages memory before they are touched, if the kernel can. errno is kept. */
void pages_fill(void *pages, size_t bytes);
/* Gives the memory of the whole pages in this range back: they are zeros from then on, where the
 * kernel can. errno is kept. */
void pages_empty(void *from, size_t bytes);
/* Replaces pages, whatever is mapped there, at the same address: by zeroed ones, or by a copy of
 * the first `used` bytes (without memory for it: by zeroed ones). */
void pages_renew(void *pages, size_t bytes);
void pages_copy(void *pages, size_t bytes, size_t used);
/* Replaces pages by zeroed ones while other threads write them. -1 without memory, and these
 * stay. */
int pages_replace(void *pages, size_t bytes);

/* An arena of short-lived blocks that are freed all at once; zero-initialise it. Not
 * thread-safe. */
struct scratch_chunk;
struct scratch {
    struct scratch_chunk *chunks;
    size_t left;
    int failed; /* see scratch_failed */
};

/* Zeroed, 16-aligned; NULL when there is no memory. */
void *scratch_get(struct scratch *s, size_t bytes);
void *scratch_array(struct scratch *s, size_t count, size_t size);

/* Whether an allocation has failed. The rule for callers: allocate everything that a step needs,
 * then test scratch_failed once, before any of it is used, and not each pointer.
 * An arena that failed stays failed until scratch_free, or until scratch_release undoes the
 * failure together with the blocks. A block that can be done without is the exception: its pointer
 * is tested, between a mark and the release to it. */
static inline int scratch_failed(const struct scratch *s) {
    return s->failed;
}

/* A copy of the text with a NUL at its end; NULL when there is no memory. */
static inline char *scratch_text(struct scratch *s, const char *bytes, size_t length) {
    char *copy = scratch_get(s, length + 1);
    if (copy) {
        memcpy(copy, bytes, length);
    }
    return copy;
}
void scratch_free(struct scratch *s);

/* The array of `count` items with room for one more: itself, or a copy of twice its room. NULL
 * without memory. Inline, because only the tool grows arrays so. */
static inline void *scratch_array_grow(struct scratch *s, void *array, uint32_t count,
                                       uint32_t *room, size_t size) {
    if (count < *room) {
        return array;
    }
    uint32_t more = *room ? 2 * *room : 16;
    void *grown = scratch_array(s, more, size);
    if (grown && count) {
        memcpy(grown, array, count * size);
    }
    *room = more;
    return grown;
}

/* A moment of the arena: the blocks that came later can be freed together, and their failures
 * forgotten. */
struct scratch_mark {
    struct scratch_chunk *chunks;
    size_t left;
    int failed;
};
struct scratch_mark scratch_mark(const struct scratch *s);
void scratch_release(struct scratch *s, struct scratch_mark mark);

#endif
