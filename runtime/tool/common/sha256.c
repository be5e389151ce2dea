/* SPDX-License-Identifier: Apache-2.0 */
#include "sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64u /* bytes that are mixed at once */
#define ROUNDS 64u
#define WORDS 8u /* of the state */

/* FIPS 180-4, 5.3.3: the fractions of the square roots of the first eight primes. */
static const uint32_t first_state[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                            0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* 4.2.2: the fractions of the cube roots of the first 64 primes. */
static const uint32_t round_constant[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate_right(uint32_t word, unsigned bits) {
    return word >> bits | word << (32 - bits);
}

/* 6.2.2, step 1: the words of the block, and those that are made of them. */
static void block_expand(uint32_t w[ROUNDS], const unsigned char block[BLOCK]) {
    for (unsigned i = 0; i < BLOCK / 4; ++i) {
        const unsigned char *at = &block[4 * i];
        w[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (unsigned i = BLOCK / 4; i < ROUNDS; ++i) {
        uint32_t old = w[i - 15], recent = w[i - 2];
        uint32_t first = rotate_right(old, 7) ^ rotate_right(old, 18) ^ old >> 3;
        uint32_t second = rotate_right(recent, 17) ^ rotate_right(recent, 19) ^ recent >> 10;
        w[i] = w[i - 16] + first + w[i - 7] + second;
    }
}

/* 6.2.2, steps 2 to 4. */
static void block_mix(uint32_t state[WORDS], const unsigned char block[BLOCK]) {
    uint32_t w[ROUNDS], s[WORDS];
    block_expand(w, block);
    memcpy(s, state, sizeof s);
    for (unsigned i = 0; i < ROUNDS; ++i) {
        uint32_t a = s[0], e = s[4];
        uint32_t choice = (e & s[5]) ^ (~e & s[6]);
        uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        uint32_t high = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        uint32_t low = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        uint32_t added = s[7] + high + choice + round_constant[i] + w[i];
        memmove(&s[1], &s[0], (WORDS - 1) * sizeof *s);
        s[4] += added;
        s[0] = added + low + majority;
    }
    for (unsigned i = 0; i < WORDS; ++i) {
        state[i] += s[i];
    }
}

/* 5.1.1: the rest of the data, a set bit, zeros, and the length in bits. */
static void state_end(uint32_t state[WORDS], const unsigned char *rest, size_t length,
                      uint64_t all) {
    unsigned char end[2 * BLOCK] = {0};
    const size_t used = length + 1 + sizeof all <= BLOCK ? BLOCK : 2 * BLOCK;
    memcpy(end, rest, length);
    end[length] = 0x80;
    for (unsigned i = 0; i < sizeof all; ++i) {
        end[used - 1 - i] = (unsigned char)(all * 8 >> 8 * i);
    }
    for (size_t at = 0; at < used; at += BLOCK) {
        block_mix(state, &end[at]);
    }
}

void sha256_text(char out[SHA256_TEXT], const void *data, size_t length) {
    const unsigned char *bytes = data;
    uint32_t state[WORDS];
    size_t at = 0;
    memcpy(state, first_state, sizeof state);
    for (; length - at >= BLOCK; at += BLOCK) {
        block_mix(state, bytes + at);
    }
    state_end(state, bytes + at, length - at, length);
    for (unsigned i = 0; i < WORDS; ++i) {
        snprintf(out + (size_t)8 * i, 9, "%08x", state[i]);
    }
}
