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
/* The word of a run-time name; the id is 0 when it cannot be kept (counted) or was never
 * recorded and is switched off. */
uint64_t site_resolve_name(struct site_text name, const struct stint_impl_site *place);
/* In the child of a fork, under the lock. */
void site_forget_all(void);

static inline uint32_t site_gate_of(uint64_t word) {
    return (uint32_t)(word >> 32);
}

/* The last 1 to 7 bytes as a number, by loads that overlap instead of a loop or a call. */
static inline uint64_t site_tail(const char *bytes, size_t length) {
    uint32_t a = 0, b = 0;
    if (length >= 4) {
        memcpy(&a, bytes, 4);
        memcpy(&b, bytes + length - 4, 4);
    } else {
        a = (unsigned char)bytes[0] | (uint32_t)(unsigned char)bytes[length / 2] << 8;
        b = (unsigned char)bytes[length - 1];
    }
    return (uint64_t)b << 32 | a;
}

/* The secret of the process's name hashes: where a hash starts, and the multiplier of each step.
 * Names may come from outside the program (URLs, tenants); without the secret no two of them can be
 * chosen that share a place of the table. Written once, by site_seed, before the first name. */
struct site_key {
    uint64_t start;
    uint64_t factor; /* odd */
};
extern struct site_key site_key;

/* Under the lock, before the first name is hashed; 16 random bytes. */
void site_seed(const void *random);

/* The 128-bit product folded to 64 bits: every input bit reaches every output bit. */
static inline uint64_t site_mix(uint64_t v) {
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)v * site_key.factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 64 bits over the bytes, eight at a time. */
static inline uint64_t site_hash(const char *bytes, size_t length) {
    uint64_t h = site_key.start + length, piece;
    for (; length >= 8; length -= 8, bytes += 8) {
        memcpy(&piece, bytes, 8);
        h = site_mix(h ^ piece);
    }
    return length ? site_mix(h ^ site_tail(bytes, length)) : h;
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
    return !length || site_tail(a, length) == site_tail(b, length);
}

#endif
