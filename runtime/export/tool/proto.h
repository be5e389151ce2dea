/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wire format of Protocol Buffers, for exports: each function appends at `p`, a piece of the
 * sink, and returns the end. A message is at most 16383 bytes long.
 */
#ifndef STINT_VIEWERS_PROTO_H
#define STINT_VIEWERS_PROTO_H

#include "base/leb128.h"
#include "export/export_names.h"

#define FIELD_VARINT(number) ((uint64_t)(number) << 3)
#define FIELD_DOUBLE(number) ((uint64_t)(number) << 3 | 1)
#define FIELD_BYTES(number) ((uint64_t)(number) << 3 | 2)

static inline char *proto_put_fixed(char *p, uint64_t bits) {
    for (int i = 0; i < 8; ++i) { /* little-endian, wherever we run */
        *p++ = (char)(bits >> 8 * i);
    }
    return p;
}

static inline char *proto_put_number(char *p, unsigned field, uint64_t n) {
    return leb128_put(leb128_put(p, FIELD_VARINT(field)), n);
}

/* A message whose length is not known yet: two bytes for it, filled in by proto_put_end. */
static inline char *proto_put_begin(char *p, unsigned field) {
    return leb128_put(p, FIELD_BYTES(field)) + 2;
}

static inline char *proto_put_end(char *body, char *end) {
    size_t length = (size_t)(end - body);
    body[-2] = (char)(length | 0x80);
    body[-1] = (char)(length >> 7);
    return end;
}

static inline char *proto_put_name(char *p, unsigned field, struct export_name name) {
    char *body = proto_put_begin(p, field);
    return proto_put_end(body, body + export_clean(body, name));
}

#endif
