/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format of Protocol Buffers for messages of any length, in a growing text. (proto.h
 * writes small ones in the sink.)
 */
#ifndef STINT_VIEWERS_WIRE_H
#define STINT_VIEWERS_WIRE_H

#include <string.h>

#include "base/text.h"

/* Bytes of a length that is not known yet: a varint of that many bytes holds 2^28 - 1. */
#define WIRE_LENGTH 4u

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED = 1, WIRE_BYTES = 2 };

static inline void wire_put_varint(struct text *t, uint64_t n) {
    char bytes[10];
    size_t length = 0;
    while (n >= 0x80) {
        bytes[length++] = (char)(n | 0x80);
        n >>= 7;
    }
    bytes[length++] = (char)n;
    text_put(t, bytes, length);
}

static inline void wire_put_tag(struct text *t, unsigned field, enum wire_type type) {
    wire_put_varint(t, (uint64_t)field << 3 | type);
}

static inline void wire_put_number(struct text *t, unsigned field, uint64_t n) {
    wire_put_tag(t, field, WIRE_VARINT);
    wire_put_varint(t, n);
}

/* Encodes a number of the types sint32 and sint64. */
static inline uint64_t wire_zigzag(int64_t n) {
    return (uint64_t)n << 1 ^ (uint64_t)(n >> 63);
}

static inline void wire_put_eight(struct text *t, uint64_t bits) {
    char bytes[8];
    for (int i = 0; i < 8; ++i) { /* little-endian on every machine */
        bytes[i] = (char)(bits >> 8 * i);
    }
    text_put(t, bytes, sizeof bytes);
}

static inline void wire_put_fixed(struct text *t, unsigned field, uint64_t bits) {
    wire_put_tag(t, field, WIRE_FIXED);
    wire_put_eight(t, bits);
}

static inline uint64_t wire_double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline void wire_put_bytes(struct text *t, unsigned field, const char *bytes,
                                  size_t length) {
    wire_put_tag(t, field, WIRE_BYTES);
    wire_put_varint(t, length);
    text_put(t, bytes, length);
}

/* A message: returns where its content begins, for wire_end. */
static inline size_t wire_begin(struct text *t, unsigned field) {
    wire_put_tag(t, field, WIRE_BYTES);
    text_put(t, "\0\0\0\0", WIRE_LENGTH);
    return t->length;
}

static inline void wire_end(struct text *t, size_t from) {
    if (t->failed) {
        return;
    }
    size_t length = t->length - from;
    for (unsigned i = 0; i < WIRE_LENGTH; ++i) {
        unsigned more = i + 1 < WIRE_LENGTH ? 0x80u : 0u;
        t->data[from - WIRE_LENGTH + i] = (char)((length >> 7 * i & 0x7f) | more);
    }
}

#endif
