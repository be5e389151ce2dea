/* SPDX-License-Identifier: Apache-2.0 */
#include "hash.h"

#include <sys/auxv.h>
#include <time.h>

/* Any odd factor of well mixed bits. */
struct hash_key hash_key = {0, 0x9e3779b97f4a7c15u};

/* The finaliser of splitmix64. */
static uint64_t spread_bits(uint64_t v) {
    v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9u;
    v = (v ^ v >> 27) * 0x94d049bb133111ebu;
    return v ^ v >> 31;
}

void hash_seed(const void *random) {
    uint64_t word[2];
    memcpy(word, random, sizeof word);
    hash_key.start = spread_bits(word[0]);
    hash_key.factor = spread_bits(word[1]) | 1;
}

/* The auxiliary vector has them: no system call, which a sandbox might forbid. */
void hash_seed_program(void) {
    const void *random = (const void *)getauxval(AT_RANDOM);
    struct timespec now = {0, 0};
    if (!random) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        hash_key.start = spread_bits((uint64_t)now.tv_nsec ^ (uint64_t)(uintptr_t)&now);
        return;
    }
    hash_seed(random);
}

uint64_t hash_bytes_shared(const char *bytes, size_t length) {
    uint64_t h = spread_bits(length + 1), piece;
    while (length) {
        size_t taken = length < sizeof piece ? length : sizeof piece;
        piece = 0;
        memcpy(&piece, bytes, taken);
        h = spread_bits(h ^ piece);
        bytes += taken;
        length -= taken;
    }
    return h;
}
