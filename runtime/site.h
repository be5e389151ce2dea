/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: what a scope is called and where it stands, numbered. A number is never reused, and the
 * same content gets the same number again, so that reloading a library does not grow the table.
 * Names made at run time are sites without a place.
 */
#ifndef STINT_SITE_H
#define STINT_SITE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "stint/impl_layout.h"

struct site_text {
    const char *bytes;
    size_t length;
};

/* A word for the site under the current gate, stored in it and returned. Takes the lock. */
uint64_t site_resolve(struct stint_impl_site *site);
/* The same for the place of a dynamic name: only on or off; the name has its own word. */
uint64_t site_resolve_place(struct stint_impl_site *site);
/* The word of a run-time name; the id is 0 when it cannot be kept (counted) or is switched off. */
uint64_t site_resolve_name(struct site_text name, const struct stint_impl_site *place);
/* In the child of a fork, under the lock. */
void site_forget_all(void);

static inline uint32_t site_gate_of(uint64_t word) {
    return (uint32_t)(word >> 32);
}

/* 64 bits over the bytes, eight at a time: a multiply and a fold a step. */
static inline uint64_t site_hash(const char *bytes, size_t length) {
    const uint64_t k = 0x9e3779b97f4a7c15u; /* golden ratio: odd, bits well mixed */
    uint64_t h = (uint64_t)length * k, piece;
    for (; length >= 8; length -= 8, bytes += 8) {
        memcpy(&piece, bytes, 8);
        h = (h ^ piece) * k;
        h ^= h >> 32;
    }
    piece = 0;
    memcpy(&piece, bytes, length);
    h = (h ^ piece) * k;
    return h ^ h >> 29;
}

#endif
