/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces scratch.c: every block is malloc's own, so that AddressSanitizer sees its bounds, which
 * it does not inside a run of pages. It also replaces write(2) of log.c and sink.c, whose text is
 * checked and dropped, and sched_yield(2) of snapshot.c.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/scratch.h"

#define MOST ((size_t)256 << 20) /* no input of some kilobytes is worth more */

/* AddressSanitizer maps and unmaps each block over 256 KiB, page by page. Blocks of the usual sizes
 * are kept for the next input instead, poisoned from their end on. */
#define KEPT_FROM ((size_t)32 << 10)
#define KEPT_TO ((size_t)1 << 20)
#define KEPT 24u

struct kept {
    char *block;
    size_t room;
    int used;
};

static struct kept kept[KEPT];

static struct kept *kept_for(size_t bytes) {
    struct kept *best = NULL;
    for (size_t i = 0; i < KEPT; ++i) {
        struct kept *k = &kept[i];
        if (!k->used && (!k->block || k->room >= bytes) &&
            (!best || !best->block || (k->block && k->room < best->room))) {
            best = k;
        }
    }
    if (best && !best->block) {
        size_t room = KEPT_FROM;
        while (room < bytes) {
            room *= 2;
        }
        if (posix_memalign((void **)(void *)&best->block, 4096, room)) {
            best->block = NULL;
            return NULL;
        }
        best->room = room;
    }
    return best;
}

static void *block_get(size_t bytes) {
    void *p = NULL;
    struct kept *k = bytes < KEPT_FROM || bytes > KEPT_TO ? NULL : kept_for(bytes);
    if (k) {
        k->used = 1;
        ASAN_POISON_MEMORY_REGION(k->block + bytes, k->room - bytes);
        ASAN_UNPOISON_MEMORY_REGION(k->block, bytes);
        return memset(k->block, 0, bytes);
    }
    return posix_memalign(&p, 4096, bytes ? bytes : 1) ? NULL : memset(p, 0, bytes);
}

static void block_put(void *p) {
    for (size_t i = 0; p && i < KEPT; ++i) {
        if (kept[i].block == p) {
            kept[i].used = 0;
            ASAN_POISON_MEMORY_REGION(kept[i].block, kept[i].room);
            return;
        }
    }
    free(p);
}

struct scratch_chunk {
    struct scratch_chunk *next;
    void *block;
};

void *pages_get(size_t bytes) {
    return bytes > MOST ? NULL : block_get(bytes);
}

void pages_put(void *pages, size_t bytes) {
    (void)bytes;
    block_put(pages);
}

/* Reserved pages have memory from the start here: the sizes are those of the inputs. */
void *pages_reserve(size_t bytes) {
    return pages_get(bytes);
}

/* The pages stay: a reader that looks at them finds what was there. */
void pages_empty(void *from, size_t bytes) {
    (void)from;
    (void)bytes;
}

int pages_commit(void *pages, size_t bytes) {
    (void)pages;
    (void)bytes;
    return 0;
}

void *pages_get_wiped(size_t bytes) {
    return pages_get(bytes);
}

void *pages_get_shared(size_t bytes) {
    return pages_get(bytes);
}

void *pages_grow(void *pages, size_t bytes, size_t to) {
    void *more = pages_get(to);
    if (more && pages) {
        memcpy(more, pages, bytes);
        pages_put(pages, bytes);
    }
    return more;
}

void *scratch_get(struct scratch *s, size_t bytes) {
    struct scratch_chunk *c = bytes > MOST ? NULL : malloc(sizeof *c);
    int ours = bytes >= KEPT_FROM && bytes <= KEPT_TO;
    void *p = !c ? NULL : ours ? block_get(bytes) : calloc(1, bytes);
    if (!p) {
        free(c);
        s->failed = 1;
        return NULL;
    }
    c->next = s->chunks;
    c->block = p;
    s->chunks = c;
    return p;
}

void *scratch_array(struct scratch *s, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 2 / size) {
        s->failed = 1;
        return NULL;
    }
    return scratch_get(s, count && size ? count * size : 1);
}

static void free_chunks(struct scratch *s, const struct scratch_chunk *end) {
    while (s->chunks != end) {
        struct scratch_chunk *next = s->chunks->next;
        block_put(s->chunks->block);
        free(s->chunks);
        s->chunks = next;
    }
}

void scratch_free(struct scratch *s) {
    free_chunks(s, NULL);
    s->failed = 0;
}

struct scratch_mark scratch_mark(const struct scratch *s) {
    return (struct scratch_mark){s->chunks, 0, s->failed};
}

void scratch_release(struct scratch *s, struct scratch_mark mark) {
    free_chunks(s, mark.chunks);
    s->failed = mark.failed;
}

char *fuzz_text(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    FUZZ_NEED(text);
    if (size) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    return text;
}

/* Replaces write in base/write_all.c. Text on stderr must be one line, whatever names it contains;
 * bytes for FUZZ_SINK are accepted and dropped; all other descriptors are files. */
ssize_t fuzz_write(int fd, const void *bytes, size_t length);
ssize_t fuzz_write(int fd, const void *bytes, size_t length) {
    const unsigned char *line = bytes;
    for (size_t i = 0; fd == 2 && i < length; ++i) {
        FUZZ_NEED((line[i] >= 0x20 && line[i] != 0x7f) || (line[i] == '\n' && i + 1 == length));
    }
    return fd == 2 || fd == FUZZ_SINK ? (ssize_t)length : write(fd, bytes, length);
}

int fuzz_yield(void);
int fuzz_yield(void) {
    return 0;
}
