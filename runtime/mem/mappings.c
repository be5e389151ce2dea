/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges in an array that is searched from its start: mmap itself takes longer. The lock has the
 * process of its holder, so that the child of a fork, which may call these functions in any fork
 * handler, needs no handler of this library: a holder in another process does not exist here.
 */
#include "mappings.h"

#include <sched.h>
#include <unistd.h>

#define RANGES 4096u

struct range {
    uintptr_t from; /* from == to: none */
    uintptr_t to;
    uint32_t owner;
    uint32_t generation; /* of the process that mapped it */
};

/* All under the lock. */
static struct range ranges[RANGES];
static uint32_t range_count;      /* those after it are unused */
static int range_lock;            /* the process of its holder, 0 = free */
static uint32_t range_generation; /* relaxed: written in the child of a fork */

static void mappings_lock(void) {
    int me = (int)getpid(), holder = 0;
    while (!__atomic_compare_exchange_n(&range_lock, &holder, me, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
        if (holder == me) {
            sched_yield();
            holder = 0;
        } else if (__atomic_compare_exchange_n(&range_lock, &holder, me, 0, __ATOMIC_ACQUIRE,
                                               __ATOMIC_RELAXED)) {
            range_count = 0; /* a thread of the parent was changing them */
            return;
        }
    }
}

static void mappings_unlock(void) {
    __atomic_store_n(&range_lock, 0, __ATOMIC_RELEASE);
}

static int range_put(uintptr_t from, uintptr_t to, uint32_t owner, uint32_t generation) {
    uint32_t i = 0;
    while (i < range_count && ranges[i].from != ranges[i].to) {
        ++i;
    }
    if (i == RANGES) {
        return -1;
    }
    ranges[i] = (struct range){from, to, owner, generation};
    if (i == range_count) {
        ++range_count;
    }
    return 0;
}

int mappings_add(const void *address, size_t length, uint32_t owner) {
    uintptr_t from = (uintptr_t)address;
    mappings_lock();
    int failed =
        range_put(from, from + length, owner, __atomic_load_n(&range_generation, __ATOMIC_RELAXED));
    mappings_unlock();
    return failed;
}

/* Takes the addresses out of the first range from *next on that has some of them. 0: there is none. */
static int range_cut(uint32_t *next, uintptr_t from, uintptr_t to, struct mapping_part *out) {
    for (; *next < range_count; ++*next) {
        struct range *r = &ranges[*next];
        uintptr_t low = r->from > from ? r->from : from;
        uintptr_t high = r->to < to ? r->to : to;
        if (low >= high) {
            continue;
        }
        struct range rest = *r;
        uint32_t now = __atomic_load_n(&range_generation, __ATOMIC_RELAXED);
        *out = (struct mapping_part){high - low, r->owner, r->generation != now};
        r->to = low;
        if (rest.from == low) {
            r->from = high;
            r->to = rest.to;
        } else if (high < rest.to && range_put(high, rest.to, rest.owner, rest.generation)) {
            out->length = rest.to - low; /* no room for the end: it is taken for freed, too */
        }
        return 1;
    }
    return 0;
}

size_t mappings_remove(const void *address, size_t length,
                       void (*removed)(const struct mapping_part *part)) {
    uintptr_t from = (uintptr_t)address;
    struct mapping_part part;
    size_t bytes = 0;
    uint32_t next = 0;
    int found;
    do {
        mappings_lock();
        found = range_cut(&next, from, from + length, &part);
        mappings_unlock();
        if (found) {
            removed(&part);
            bytes += part.length;
        }
    } while (found);
    return bytes;
}

void mappings_inherit(void) {
    __atomic_fetch_add(&range_generation, 1, __ATOMIC_RELAXED);
}
