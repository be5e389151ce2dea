/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges in an array that is searched from its start: mmap itself takes longer. Called by
 * mem_calls.c for each mapping of the program.
 *
 * A thread that finds the lock taken waits in the kernel: if it spun, one with a real-time priority
 * would keep the holder from the processor. The lock has the process of its holder, so that the
 * child of a fork, which may call these functions in any fork handler, needs no handler of this
 * library: a holder in another process does not exist here.
 */
#include "mappings.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/errno_keep.h"

#define RANGES 4096u

struct range {
    uintptr_t from; /* from == to: none */
    uintptr_t to;
    uint32_t owner;
    uint32_t generation; /* of the process that mapped it */
    const void *call;    /* that has taken it; NULL = none, it is mapped */
};

#define LOCK_WAITED (1u << 31) /* above the number of a process */

/* All under the lock. */
static struct range ranges[RANGES];
static uint32_t range_count;      /* those after it are unused */
static uint32_t range_lock;       /* the process of its holder, LOCK_WAITED; 0 = free. Atomic */
static uint32_t range_generation; /* relaxed: written in the child of a fork */

/* ---- The lock. */

static int lock_swap(uint32_t *was, uint32_t now) {
    return __atomic_compare_exchange_n(&range_lock, was, now, 0, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void lock_wait(uint32_t me) {
    ERRNO_KEEP;
    uint32_t was = me;
    if (lock_swap(&was, me | LOCK_WAITED) || was == (me | LOCK_WAITED)) {
        syscall(SYS_futex, &range_lock, FUTEX_WAIT_PRIVATE, me | LOCK_WAITED, NULL, NULL, 0);
    }
}

/* Who holds a lock of this word. LOCK_INHERITED: a thread of the parent held it at the fork. */
enum lock_holder { LOCK_FREE, LOCK_HELD, LOCK_INHERITED };

static enum lock_holder lock_holder_of(uint32_t word, uint32_t me) {
    if (!word) {
        return LOCK_FREE;
    }
    if ((word & ~LOCK_WAITED) == me) {
        return LOCK_HELD;
    }
    return LOCK_INHERITED;
}

/* was: the word as it was seen last, at first as if it were free. */
static void mappings_lock(void) {
    uint32_t me = (uint32_t)getpid(), was = 0, mine = me;
    for (;;) {
        enum lock_holder holder = lock_holder_of(was, me);
        if (holder == LOCK_HELD) {
            lock_wait(me);
            mine = me | LOCK_WAITED; /* others may wait, too */
            was = 0;
        } else if (lock_swap(&was, mine)) {
            if (holder == LOCK_INHERITED) {
                range_count = 0; /* the parent's thread was changing them */
            }
            return;
        }
    }
}

static void mappings_unlock(void) {
    if (__atomic_exchange_n(&range_lock, 0, __ATOMIC_RELEASE) & LOCK_WAITED) {
        ERRNO_KEEP;
        syscall(SYS_futex, &range_lock, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

/* ---- Ranges. */

static int range_put(struct range range) {
    uint32_t i = 0;
    while (i < range_count && ranges[i].from != ranges[i].to) {
        ++i;
    }
    if (i == RANGES) {
        return -1;
    }
    ranges[i] = range;
    if (i == range_count) {
        ++range_count;
    }
    return 0;
}

int mappings_add(const void *address, size_t length, uint32_t owner) {
    uintptr_t from = (uintptr_t)address;
    struct range range = {.from = from, .to = from + length, .owner = owner};
    mappings_lock();
    range.generation = __atomic_load_n(&range_generation, __ATOMIC_RELAXED);
    int failed = range_put(range);
    mappings_unlock();
    return failed;
}

/* Takes [from, to) of a range that has some of it; what is left on each side is a range of its
 * own. */
static size_t range_take(struct range *r, uintptr_t from, uintptr_t to, const void *call,
                         uint64_t *lost) {
    struct range below = *r, above = *r;
    if (r->from < from) {
        below.to = from;
        if (range_put(below)) {
            ++*lost;
        } else {
            r->from = from;
        }
    }
    if (r->to > to) {
        above.from = to;
        if (range_put(above)) {
            ++*lost;
        } else {
            r->to = to;
        }
    }
    r->call = call;
    return r->to - r->from;
}

size_t mappings_take(const void *address, size_t length, const void *call, uint64_t *lost) {
    uintptr_t from = (uintptr_t)address, to = from + length;
    size_t bytes = 0;
    mappings_lock();
    for (uint32_t i = 0; i < range_count; ++i) {
        struct range *r = &ranges[i];
        if (!r->call && r->from < to && r->to > from) {
            bytes += range_take(r, from, to, call, lost);
        }
    }
    mappings_unlock();
    return bytes;
}

/* The next range from *next on that the call has taken; 0: there is none. */
static int range_find_taken(uint32_t *next, const void *call, struct range *out) {
    int found = 0;
    mappings_lock();
    for (; !found && *next < range_count; ++*next) {
        struct range *r = &ranges[*next];
        if (r->call == call && r->from != r->to) {
            *out = *r;
            found = 1;
        }
    }
    mappings_unlock();
    return found;
}

void mappings_put_back(const void *call, int (*is_left)(uintptr_t from, uintptr_t to)) {
    struct range range;
    uint32_t next = 0;
    while (range_find_taken(&next, call, &range)) {
        if (is_left && !is_left(range.from, range.to)) {
            continue;
        }
        mappings_lock();
        ranges[next - 1].call = NULL;
        mappings_unlock();
    }
}

void mappings_drop(const void *call, void (*removed)(const struct mapping_part *part)) {
    struct range range;
    uint32_t next = 0;
    while (range_find_taken(&next, call, &range)) {
        uint32_t now = __atomic_load_n(&range_generation, __ATOMIC_RELAXED);
        struct mapping_part part = {range.to - range.from, range.owner, range.generation != now};
        mappings_lock();
        ranges[next - 1] = (struct range){0};
        mappings_unlock();
        removed(&part);
    }
}

void mappings_inherit(void) {
    __atomic_fetch_add(&range_generation, 1, __ATOMIC_RELAXED);
}
