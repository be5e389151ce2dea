/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlapped tasks, regions and frames of ITT: intervals that any thread may end, found again by
 * their domain and a number of the program.
 */
/* Signatures are those of the interfaces. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "itt.h"

#include <stddef.h>

#include "base/hash.h"
#include "range_stack.h"
#include "range_tables.h"

#define OPEN_IDS 4096
#define OPEN_TRIES 32
#define OPEN_TAKEN 1 /* a key that is being written */

static struct {
    uint64_t key; /* 0: free. Atomic */
    uint64_t range;
} open_ids[OPEN_IDS];

static uint64_t open_key(const struct itt_domain *domain, const struct itt_id *id) {
    uint64_t h = hash_number((uint64_t)(uintptr_t)domain);
    if (id) {
        h = hash_add(hash_add(h, id->number), id->address);
    }
    return h | 2; /* neither free nor taken */
}

static void open_begin(const struct itt_domain *domain, const struct itt_id *id,
                       struct range_name name) {
    const struct range_domain *d = itt_domain_of(domain);
    uint64_t key = open_key(domain, id);
    for (uint32_t i = 0; d && i < OPEN_TRIES; ++i) {
        uint64_t free_key = 0, *at = &open_ids[(key + i) % OPEN_IDS].key;
        if (__atomic_compare_exchange_n(at, &free_key, OPEN_TAKEN, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            open_ids[(key + i) % OPEN_IDS].range = range_start(d, name, d->set);
            __atomic_store_n(at, key, __ATOMIC_RELEASE);
            return;
        }
    }
    if (d) {
        stint_impl_lose_range();
    }
}

static void open_end(const struct itt_domain *domain, const struct itt_id *id) {
    uint64_t key = open_key(domain, id);
    for (uint32_t i = 0; i < OPEN_TRIES; ++i) {
        uint64_t is = key, *at = &open_ids[(key + i) % OPEN_IDS].key;
        if (__atomic_compare_exchange_n(at, &is, OPEN_TAKEN, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
            range_finish(open_ids[(key + i) % OPEN_IDS].range);
            __atomic_store_n(at, 0, __ATOMIC_RELEASE);
            return;
        }
    }
    stint_impl_lose_end();
}

void itt_overlapped_begin(const struct itt_domain *domain, struct itt_id id, struct itt_id parent,
                          const struct itt_string *name) {
    open_begin(domain, &id, itt_name_of(name, "task"));
}

void itt_overlapped_end(const struct itt_domain *domain, struct itt_id id) {
    open_end(domain, &id);
}

void itt_frame_begin(const struct itt_domain *domain, const struct itt_id *id) {
    static const struct range_name name = {"frame", 5};
    open_begin(domain, id, name);
}

void itt_frame_end(const struct itt_domain *domain, const struct itt_id *id) {
    open_end(domain, id);
}
