/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/scratch.h"
#include "run_file.h"

#define ARENA_LEAST ((size_t)1 << 20)
#define TEXT_CHUNK ((size_t)4096)
#define LARGEST_PAGE ((size_t)64 << 10)
#define COMMIT_BYTES ((size_t)1 << 20) /* made readable and writable at once */

struct arena arena;
static int is_file;

/* Bytes from the start that may be touched; atomic, grows. The rest is only reserved: after
 * mlockall(MCL_FUTURE) the kernel would fill it all with memory at once. */
static uint64_t committed;

/* What the child of a fork left behind. */
static struct {
    char *base;
    size_t size;
} parents;

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

/* Where address space is limited, the program wants some too, and so do reports: what is taken is a
 * quarter of what could be had. */
static char *map_memory(size_t *bytes) {
    for (; *bytes >= ARENA_LEAST; *bytes /= 2) {
        size_t whole_pages = (*bytes + LARGEST_PAGE - 1) / LARGEST_PAGE * LARGEST_PAGE;
        char *base = pages_reserve(whole_pages * 4);
        if (base) {
            pages_put(base + whole_pages, whole_pages * 3);
            return base;
        }
    }
    return NULL;
}

/* Any thread. 0, or -1 without memory. */
static int commit(char *base, uint64_t size, uint64_t end) {
    uint64_t have = __atomic_load_n(&committed, __ATOMIC_ACQUIRE);
    uint64_t want = (end + COMMIT_BYTES - 1) / COMMIT_BYTES * COMMIT_BYTES;
    if (end <= have) {
        return 0;
    }
    want = want < size ? want : size;
    if (pages_commit(base + have, (size_t)(want - have))) {
        return -1;
    }
    while (have < want && !__atomic_compare_exchange_n(&committed, &have, want, 0, __ATOMIC_ACQ_REL,
                                                       __ATOMIC_ACQUIRE)) {
    }
    return 0;
}

int arena_open(size_t bytes, const char *file, const struct clock_stamp *start) {
    char *base = file ? run_file_open(file, bytes, sizeof(struct arena_header)) : NULL;
    is_file = base != NULL;
    base = base ? base : map_memory(&bytes);
    committed = 0;
    if (!base || commit(base, bytes, sizeof(struct arena_header))) {
        pages_put(base, bytes);
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
    h->ticks_per_us = clock_ticks_per_us();
    h->start = *start;
    read_boot_id(h->boot_id, sizeof h->boot_id);
    arena.base = base;
    arena.size = bytes;
    arena.trace = arena.trace_used = arena.traces = 0;
    texts.next = texts.end = 0;
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        arena_lose((enum stint_status)i, __atomic_exchange_n(&early[i], 0, __ATOMIC_RELAXED));
    }
    return 0;
}

void arena_give_trace(uint64_t bytes) {
    arena.trace = bytes < arena.size / 2 ? bytes : arena.size / 2;
}

uint64_t arena_trace_share(void) {
    uint64_t used = __atomic_load_n(&arena.trace_used, __ATOMIC_RELAXED);
    uint64_t left = used < arena.trace ? arena.trace - used : 0;
    return left / (4u + __atomic_load_n(&arena.traces, __ATOMIC_RELAXED));
}

void arena_publish(void) {
    run_file_publish();
}

void arena_close(const struct clock_stamp *end) {
    struct arena_header *h = arena_header();
    h->end.monotonic_ns = end->monotonic_ns;
    h->end.real_ns = end->real_ns;
    STINT_IMPL_PUBLISH(&h->end.ticks, end->ticks);
    if (run_file_at_exit()) {
        run_file_save(arena.base, __atomic_load_n(&h->used, __ATOMIC_ACQUIRE));
    }
}

void arena_part(void) {
    if (is_file && arena.base) {
        pages_copy(arena.base, arena.size,
                   __atomic_load_n(&arena_header()->used, __ATOMIC_ACQUIRE));
    }
    is_file = 0;
    run_file_forget();
}

/* Its place stays mapped until the next fork, and empty but for these bytes: a signal handler may
 * have interrupted a scope of this thread that begins or ends there. */
static void leave(void *keep, size_t bytes) {
    void *kept = keep ? pages_get(bytes) : NULL;
    pages_put(parents.base, parents.size);
    parents.base = arena.base;
    parents.size = arena.size;
    if (kept) {
        memcpy(kept, keep, bytes);
    }
    pages_renew(arena.base, arena.size);
    if (kept) {
        memcpy(keep, kept, bytes);
        pages_put(kept, bytes);
    }
}

void arena_drop(void *keep, size_t bytes) {
    run_file_forget();
    if (arena.base) {
        leave(keep, bytes);
    }
    is_file = 0;
    arena.base = NULL;
    arena.size = 0;
    memset(early, 0, sizeof early);
}

static int is_over(enum arena_class use, uint64_t used, uint64_t want, uint64_t size) {
    uint64_t memory = size - arena.trace;
    uint64_t traces = __atomic_load_n(&arena.trace_used, __ATOMIC_RELAXED);
    uint64_t limit = use == ARENA_HISTOGRAM ? memory - memory / 4 : memory;
    if (want > size || used > size - want) {
        return 1;
    }
    return use != ARENA_TRACE && used + want > limit + traces;
}

static uint32_t get(uint64_t want, enum arena_class use) {
    struct arena_header *h = arena_header();
    uint64_t used = __atomic_load_n(&h->used, __ATOMIC_RELAXED);
    do {
        if (is_over(use, used, want, h->size)) {
            return 0;
        }
        if (run_file_reserve(used + want)) {
            arena_lose(STINT_STATUS_FILE_FULL, 1);
            return 0;
        }
        if (commit(arena.base, h->size, used + want)) {
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&h->used, &used, used + want, 1, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return (uint32_t)(used / STINT_IMPL_UNIT);
}

uint32_t arena_get(size_t bytes, enum arena_class use) {
    uint64_t want = ((uint64_t)bytes + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT * STINT_IMPL_UNIT;
    if (!arena.base) {
        return 0;
    }
    if (use != ARENA_TRACE) {
        return get(want, use);
    }
    uint64_t used = __atomic_fetch_add(&arena.trace_used, want, __ATOMIC_RELAXED);
    uint32_t unit = used + want <= arena.trace ? get(want, use) : 0;
    if (unit) {
        __atomic_fetch_add(&arena.traces, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_sub(&arena.trace_used, want, __ATOMIC_RELAXED);
    }
    return unit;
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
    struct arena_header *h = arena_header();
    uint64_t *counter = h ? &h->lost[what] : &early[what];
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}
