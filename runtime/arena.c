/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"

#define ARENA_LEAST ((size_t)1 << 20)
#define TEXT_CHUNK ((size_t)4096)

struct arena arena;

/* Losses before there is an arena, or without one; moved into it when it opens. */
static uint64_t early[STINT_STATUS_COUNT];

/* The page-size piece texts are cut from; guarded by the registry's lock. */
static struct { size_t next, end; /* bytes from the arena's start */ } texts;

static void read_boot_id(char *out, size_t size) {
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, out, size - 1);
    if (fd >= 0) {
        close(fd);
    }
    out[got > 0 ? got : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

int arena_open(size_t bytes, const struct clock_stamp *start) {
    char *base = NULL;
    for (; !base && bytes >= ARENA_LEAST; bytes /= base ? 1 : 2) {
        base = pages_get(bytes);
        if (base) {
            break;
        }
    }
    if (!base) {
        return -1;
    }
    struct arena_header *h = (struct arena_header *)(void *)base;
    memcpy(h->magic, ARENA_MAGIC, sizeof h->magic);
    h->abi = STINT_ABI;
    h->header_bytes = sizeof *h;
    h->size = bytes;
    h->used = (sizeof *h + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT * STINT_IMPL_UNIT;
    h->pid = (uint32_t)getpid();
    h->parent_pid = (uint32_t)getppid();
    h->clock_kind = (uint32_t)clock_kind();
    h->start = *start;
    read_boot_id(h->boot_id, sizeof h->boot_id);
    arena.base = base;
    arena.size = bytes;
    texts.next = texts.end = 0;
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        arena_lose((enum stint_status)i, __atomic_exchange_n(&early[i], 0, __ATOMIC_RELAXED));
    }
    return 0;
}

void arena_drop(void) {
    pages_put(arena.base, arena.size);
    arena.base = NULL;
    arena.size = 0;
    memset(early, 0, sizeof early);
}

static uint64_t share_of(enum arena_class use, uint64_t size) {
    switch (use) {
    case ARENA_HISTOGRAM:
        return size - size / 4;
    case ARENA_TRACE:
        return size / 2;
    default:
        return size;
    }
}

uint32_t arena_get(size_t bytes, enum arena_class use) {
    if (!arena.base) {
        return 0;
    }
    struct arena_header *h = arena_header();
    uint64_t want = (bytes + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT * STINT_IMPL_UNIT;
    uint64_t limit = share_of(use, h->size);
    uint64_t used = __atomic_load_n(&h->used, __ATOMIC_RELAXED);
    do {
        if (want > limit || used > limit - want) {
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&h->used, &used, used + want, 1, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return (uint32_t)(used / STINT_IMPL_UNIT);
}

uint32_t arena_text_put(const char *bytes, size_t length) {
    size_t want = (sizeof(struct arena_text) + length + 1 + 7) / 8 * 8;
    if (want > texts.end - texts.next) {
        size_t piece = want > TEXT_CHUNK ? want : TEXT_CHUNK;
        uint32_t unit = arena_get(piece, ARENA_RECORD);
        if (!unit && piece > want) {
            unit = arena_get(piece = want, ARENA_RECORD);
        }
        if (!unit) {
            return 0;
        }
        texts.next = (size_t)unit * STINT_IMPL_UNIT;
        texts.end = texts.next + piece;
    }
    struct arena_text *t = (struct arena_text *)(void *)(arena.base + texts.next);
    t->length = (uint32_t)length;
    memcpy(t->bytes, bytes, length);
    uint32_t text = (uint32_t)(texts.next / 8);
    texts.next += want;
    return text;
}

void arena_lose(enum stint_status what, uint64_t n) {
    uint64_t *counter = arena.base ? &arena_header()->lost[what] : &early[what];
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}
