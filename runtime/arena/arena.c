/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator of the arena: a bump pointer in one reserved range of addresses, which is memory or
 * a mapped file. Recording threads call it when they need a new node, name, histogram or trace;
 * nothing is freed. Without space a request is refused, and its caller counts the loss.
 */
#include "arena.h"

#include <string.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "base/scratch.h"
#include "run_file.h"
#include "system/read_beginning.h"

#define ARENA_MIN_BYTES ((size_t)1 << 20)
#define TEXT_CHUNK ((size_t)4096)
#define PAGE_BYTES_MAX ((size_t)64 << 10)
#define COMMIT_BYTES ((size_t)1 << 20) /* made readable and writable at once */
/* Events: of the open scopes of a thread, whose ends may take two. */
#define RING_MARGIN (2 * (uint64_t)STINT_IMPL_FRAMES)

struct arena arena;
static int is_file;

/* Bytes from the start that may be touched; atomic, grows. The rest is only reserved: after
 * mlockall(MCL_FUTURE) the kernel would fill it all with memory at once. */
static uint64_t committed;

/* Bytes from the start that have memory; atomic, grows. Without this, the first touch of a page
 * costs a page fault, and of one that is read first, as a histogram's is, two: the kernel maps the
 * page of zeros, replaces it at the first write and has all processors forget it. */
#define FILL_BYTES ((uint64_t)64 << 10) /* given memory at once */
static uint64_t filled;

/* The parent's arena in the child of a fork, until its next fork. */
static struct {
    char *base;
    size_t size;
} parents;

/* Losses before there is an arena, or without one; moved into it when it opens. */
static uint64_t early[STINT_STATUS_COUNT];

static struct arena_piece texts; /* guarded by the registry's lock */

/* Where address space is limited, the program and reports need some, too: a quarter of what can be
 * reserved is taken. */
static char *reserve_memory(size_t *bytes) {
    for (; *bytes >= ARENA_MIN_BYTES; *bytes /= 2) {
        size_t whole_pages = (*bytes + PAGE_BYTES_MAX - 1) / PAGE_BYTES_MAX * PAGE_BYTES_MAX;
        char *base = pages_reserve(whole_pages * 4);
        if (base) {
            pages_put(base + whole_pages, whole_pages * 3);
            return base;
        }
    }
    return NULL;
}

/* Any thread. 0, or -1 without memory. */
static int arena_commit(char *base, uint64_t size, uint64_t end) {
    uint64_t have = __atomic_load_n(&committed, __ATOMIC_ACQUIRE);
    uint64_t want = (end + COMMIT_BYTES - 1) / COMMIT_BYTES * COMMIT_BYTES;
    if (end <= have) {
        return 0;
    }
    want = u64_min(want, size);
    if (pages_commit(base + have, (size_t)(want - have))) {
        return -1;
    }
    while (have < want && !__atomic_compare_exchange_n(&committed, &have, want, 0, __ATOMIC_ACQ_REL,
                                                       __ATOMIC_ACQUIRE)) {
    }
    return 0;
}

/* Gives memory to what was just given out, up to `end`, and to what comes next. Not needed for
 * anything but speed: older kernels refuse it. Any thread. */
static void arena_fill(const struct arena_header *h, uint64_t from, uint64_t end) {
    uint64_t have = __atomic_load_n(&filled, __ATOMIC_RELAXED);
    if (is_file || end <= have) {
        return;
    }
    from = u64_max(from, have) / PAGE_BYTES_MAX * PAGE_BYTES_MAX;
    uint64_t to = u64_min(from + FILL_BYTES, __atomic_load_n(&committed, __ATOMIC_ACQUIRE));
    to = u64_min(to, h->size);
    if (to < end ||
        !__atomic_compare_exchange_n(&filled, &have, to, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return;
    }
    pages_fill((char *)(uintptr_t)h + from, (size_t)(to - from));
}

/* A file is mapped whole, so it needs as many addresses. */
static char *map_file_or_memory(const char *file, size_t *bytes) {
    char *base = reserve_memory(bytes);
    is_file = 0;
    if (!base || !file) {
        return base;
    }
    pages_put(base, *bytes);
    base = run_file_open(file, *bytes, sizeof(struct arena_header));
    is_file = base != NULL;
    if (!base) {
        base = reserve_memory(bytes);
    }
    return base;
}

int arena_open(size_t bytes, const char *file, const struct clock_stamp *start) {
    char *base = map_file_or_memory(file, &bytes);
    committed = filled = 0;
    if (!base || arena_commit(base, bytes, sizeof(struct arena_header))) {
        pages_put(base, bytes);
        return -1;
    }
    struct arena_header *h = (struct arena_header *)(void *)base;
    memcpy(h->magic, ARENA_MAGIC, sizeof h->magic);
    h->abi = ARENA_FORMAT;
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
    arena.trace = u64_min(bytes, arena.size / 2);
}

uint64_t arena_trace_share(void) {
    uint64_t used = __atomic_load_n(&arena.trace_used, __ATOMIC_RELAXED);
    uint64_t left = saturating_subtract(arena.trace, used);
    return left / (4u + __atomic_load_n(&arena.traces, __ATOMIC_RELAXED));
}

void arena_publish(void) {
    run_file_publish();
}

/* No allocation that began before the return lies at or after the end that is returned: each claims
 * its bytes only if none were claimed since it was given room in the file. */
static uint64_t arena_end_allocations(struct arena_header *h) {
    uint64_t used = __atomic_load_n(&h->used, __ATOMIC_RELAXED);
    while (used + STINT_IMPL_UNIT <= h->size &&
           !__atomic_compare_exchange_n(&h->used, &used, used + STINT_IMPL_UNIT, 1,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    return __atomic_load_n(&h->used, __ATOMIC_RELAXED);
}

/* Gives back the pages of a ring that have no event yet. A hole may not be written: on a full disk
 * that is SIGBUS. So its pages are memory of this process first, where events of threads that go on
 * are lost; a reader counts them by the ring's head. A child without fork handlers may write the
 * ends of the scopes that were open when it was made: they have room before the hole. */
static void arena_give_back_ring(uint32_t unit) {
    if (!unit) {
        return;
    }
    const struct stint_impl_ring *r = arena_at(unit);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), events = (uint64_t)unit * STINT_IMPL_UNIT;
    uint64_t size = r->mask + 1, head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
    events += sizeof *r;
    uint64_t from = events + (u64_min(head, size) + RING_MARGIN) * sizeof(struct stint_impl_event);
    uint64_t end = events + size * sizeof(struct stint_impl_event);
    from = (from + page - 1) / page * page;
    end = end / page * page;
    if (from < end && !pages_replace(arena.base + from, (size_t)(end - from))) {
        run_file_give_back(from, end);
    }
}

/* Gives back what the file has reserved and does not use. A child of vfork shares the mapping with
 * a parent that goes on. */
static void arena_give_back(struct arena_header *h) {
    if (!is_file || (uint32_t)getpid() != h->pid || run_file_cut_begin()) {
        return;
    }
    run_file_cut(arena_end_allocations(h));
    struct arena_thread *t;
    for (uint32_t unit = STINT_IMPL_SEEN(&h->first_thread); unit; unit = t->next) {
        t = arena_at(unit);
        arena_give_back_ring(STINT_IMPL_SEEN(&t->ring));
    }
    struct arena_lane *lane;
    for (uint32_t unit = STINT_IMPL_SEEN(&h->first_lane); unit; unit = lane->next) {
        lane = arena_at(unit);
        arena_give_back_ring(STINT_IMPL_SEEN(&lane->ring));
    }
}

void arena_close(const struct clock_stamp *end) {
    struct arena_header *h = arena_header();
    h->end.monotonic_ns = end->monotonic_ns;
    h->end.real_ns = end->real_ns;
    STINT_IMPL_PUBLISH(&h->end.ticks, end->ticks);
    if (run_file_at_exit()) {
        run_file_save(arena.base, __atomic_load_n(&h->used, __ATOMIC_ACQUIRE));
    }
    arena_give_back(h);
}

/* In the child of a fork: the part of the arena that was not committed, which is empty, is no
 * longer the file's. Returns the bytes of the other part. */
static size_t arena_leave_rest(void) {
    size_t bytes = (size_t)u64_min(committed, arena.size);
    if (is_file && bytes < arena.size) {
        pages_reserve_again(arena.base + bytes, arena.size - bytes);
    }
    return bytes;
}

void arena_part(void) {
    if (is_file && arena.base) {
        pages_copy(arena.base, arena_leave_rest(),
                   __atomic_load_n(&arena_header()->used, __ATOMIC_ACQUIRE));
    }
    is_file = 0;
    run_file_forget();
}

/* Its addresses stay mapped until the next fork, and empty but for these bytes: a signal handler
 * may have interrupted a scope of this thread that begins or ends there. */
static void arena_leave(void *keep, size_t bytes) {
    void *kept = NULL;
    if (keep) {
        kept = pages_get(bytes);
    }
    pages_put(parents.base, parents.size);
    parents.base = arena.base;
    parents.size = arena.size;
    if (kept) {
        memcpy(kept, keep, bytes);
    }
    /* Zeros in the rest, too, would count as memory of the child. */
    pages_renew(arena.base, arena_leave_rest());
    if (kept) {
        memcpy(keep, kept, bytes);
        pages_put(kept, bytes);
    }
}

void arena_drop(void *keep, size_t bytes) {
    run_file_forget();
    if (arena.base) {
        arena_leave(keep, bytes);
    }
    is_file = 0;
    arena.base = NULL;
    arena.size = 0;
    memset(early, 0, sizeof early);
}

static int is_over_limit(enum arena_class use, uint64_t used, uint64_t want, uint64_t size) {
    uint64_t limit = size - arena.trace;
    uint64_t traces = __atomic_load_n(&arena.trace_used, __ATOMIC_RELAXED);
    if (use == ARENA_HISTOGRAM) {
        limit -= limit / 4;
    }
    if (want > size || used > size - want) {
        return 1;
    }
    return use != ARENA_TRACE && used + want > limit + traces;
}

static uint32_t arena_get_units(uint64_t want, enum arena_class use) {
    struct arena_header *h = arena_header();
    uint64_t used = __atomic_load_n(&h->used, __ATOMIC_ACQUIRE);
    do {
        if (is_over_limit(use, used, want, h->size)) {
            return 0;
        }
        if (run_file_reserve(used + want)) {
            arena_lose(STINT_STATUS_FILE_FULL, 1);
            return 0;
        }
        if (arena_commit(arena.base, h->size, used + want)) {
            return 0;
        }
    } while (!__atomic_compare_exchange_n(&h->used, &used, used + want, 1, __ATOMIC_ACQUIRE,
                                          __ATOMIC_ACQUIRE));
    if (use != ARENA_TRACE) {
        arena_fill(h, used, used + want);
    }
    return (uint32_t)(used / STINT_IMPL_UNIT);
}

uint32_t arena_get(size_t bytes, enum arena_class use) {
    uint64_t want = ((uint64_t)bytes + STINT_IMPL_UNIT - 1) / STINT_IMPL_UNIT * STINT_IMPL_UNIT;
    if (!arena.base) {
        return 0;
    }
    if (use != ARENA_TRACE) {
        return arena_get_units(want, use);
    }
    uint64_t used = __atomic_fetch_add(&arena.trace_used, want, __ATOMIC_RELAXED);
    uint32_t unit = 0;
    if (used + want <= arena.trace) {
        unit = arena_get_units(want, use);
    }
    if (unit) {
        __atomic_fetch_add(&arena.traces, 1, __ATOMIC_RELAXED);
    } else {
        __atomic_fetch_sub(&arena.trace_used, want, __ATOMIC_RELAXED);
    }
    return unit;
}

uint32_t arena_text_put(const char *bytes, size_t length) {
    return arena_text_put_in(&texts, bytes, length);
}

uint32_t arena_text_put_in(struct arena_piece *piece, const char *bytes, size_t length) {
    size_t want = (sizeof(struct arena_text) + length + 1 + 7) / 8 * 8;
    if (want > piece->end - piece->next) {
        size_t size = u64_max(want, TEXT_CHUNK);
        uint32_t unit = arena_get(size, ARENA_RECORD);
        if (!unit && size > want) {
            unit = arena_get(size = want, ARENA_RECORD);
        }
        if (!unit) {
            return 0;
        }
        piece->next = (size_t)unit * STINT_IMPL_UNIT;
        piece->end = piece->next + size;
    }
    struct arena_text *t = (struct arena_text *)(void *)(arena.base + piece->next);
    t->length = (uint32_t)length;
    memcpy(t->bytes, bytes, length);
    uint32_t text = (uint32_t)(piece->next / 8);
    piece->next += want;
    return text;
}

void arena_lose(enum stint_status what, uint64_t n) {
    struct arena_header *h = arena_header();
    uint64_t *counter = &early[what];
    if (h) {
        counter = &h->lost[what];
    }
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}
