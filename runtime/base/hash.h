/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keyed hashes of bytes and numbers for tables in memory. Names come from outside the program
 * (URLs, tenants), and so do all numbers of a run file: without the key no two of them can be
 * chosen that share a place of a table, and a look-up costs what it costs on average. The key is a
 * secret of the process, so a hash is not the same in another one and never written to a
 * file. */
#ifndef STINT_HASH_H
#define STINT_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arithmetic.h"

/* Where a hash starts, and the multiplier of each step. Written once, by hash_seed, before the
 * first table is made; fixed values until then. */
struct hash_key {
    uint64_t start;
    uint64_t factor; /* odd */
};
extern struct hash_key hash_key;

/* Sets the key from 16 random bytes. hash_seed_program: from the bytes that the kernel gives each
 * program. */
void hash_seed(const void *random);
void hash_seed_program(void);

/* The last 1 to 7 bytes as a number, by loads that overlap instead of a loop or a call. */
static inline uint64_t hash_tail(const char *bytes, size_t length) {
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

/* The 128-bit product folded to 64 bits: every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t v) {
    u128 product = (u128)v * hash_key.factor;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 64 bits over the bytes, eight at a time. */
static inline uint64_t hash_bytes(const char *bytes, size_t length) {
    uint64_t h = hash_key.start + length, piece;
    for (; length >= 8; length -= 8, bytes += 8) {
        memcpy(&piece, bytes, 8);
        h = hash_mix(h ^ piece);
    }
    if (!length) {
        return h;
    }
    return hash_mix(h ^ hash_tail(bytes, length));
}

/* 64 bits over the bytes, the same in every process: for names that processes compare. Names that
 * collide can be chosen, so the caller compares them, too. */
uint64_t hash_bytes_shared(const char *bytes, size_t length);

static inline uint64_t hash_number(uint64_t v) {
    return hash_mix(v ^ hash_key.start);
}

/* A hash and one number more. */
static inline uint64_t hash_add(uint64_t h, uint64_t v) {
    return hash_mix(h ^ hash_number(v));
}

#endif
