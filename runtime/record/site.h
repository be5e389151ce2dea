/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: the name of a scope and its place in the sources, numbered. A number is never reused, and
 * the same content gets the same number again, so that reloading a library does not grow the table.
 * Names made at run time are sites without a place.
 */
#ifndef STINT_SITE_H
#define STINT_SITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "stint/detail/impl_layout.h"

struct site_text {
    const char *bytes;
    size_t length;
};

/* A word for the site under the current gate, stored in it and returned (STINT_IMPL_SITE_OFF in
 * impl_layout.h): without an id if there is no room for its name; each call of that one is counted
 * as lost, as all of them take the slow path. Takes the lock. */
uint64_t site_resolve(struct stint_impl_site *site);
/* The same for the place of a dynamic name: only on or off; the name has its own word. */
uint64_t site_resolve_place(struct stint_impl_site *site);
/* The word of a run-time name, likewise. Its id stays when it is switched off: what is open must
 * still be closed. */
uint64_t site_resolve_name(struct site_text name, const struct stint_impl_site *place);
/* In the child of a fork, under the lock. Not whole: as thread_forget_all. */
void site_forget_all(int whole);

/* Returns the word of a site. The thread that stored it wrote about the site in the arena before,
 * which can be read then. */
static inline uint64_t site_get_word(const struct stint_impl_site *site) {
    return __atomic_load_n(&site->word, __ATOMIC_ACQUIRE);
}

static inline uint32_t site_gate_of(uint64_t word) {
    return (uint32_t)(word >> 32);
}

static inline int site_is_off(uint64_t word) {
    return !(uint32_t)word || (word & STINT_IMPL_SITE_OFF);
}

/* 0 if it has none. */
static inline uint32_t site_id_of(uint64_t word) {
    return (uint32_t)word & STINT_IMPL_SITE_ID;
}

/* Not off, and yet nothing can be recorded for it. */
static inline int site_is_unnamed(uint64_t word) {
    return (uint32_t)word == STINT_IMPL_SITE_NO_ID;
}

/* Equal lengths given. Names are short: the loop beats a call of memcmp. */
static inline int site_same(const char *a, const char *b, size_t length) {
    uint64_t x, y;
    for (; length >= 8; length -= 8, a += 8, b += 8) {
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y) {
            return 0;
        }
    }
    return !length || hash_tail(a, length) == hash_tail(b, length);
}

#endif
