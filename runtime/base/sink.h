/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an export goes: a buffer in front of a file descriptor. sink_close reports the first error.
 */
#ifndef STINT_SINK_H
#define STINT_SINK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arithmetic.h"

#define SINK_BYTES 65536
#define SINK_PIECE 4608

struct text;

struct sink {
    int fd;
    struct text *text; /* what takes the bytes in place of fd, or NULL */
    int error;         /* errno of the first write that failed */
    int terminal;      /* it is one: a name must not be a command to it */
    size_t length;
    uint64_t written; /* bytes before the buffer */
    char data[SINK_BYTES];
    char apart[SINK_PIECE]; /* for the writer of a piece, until its next one */
};

void sink_start(struct sink *s, int fd);
/* Into the memory of a text, which no limit of file sizes is for. */
void sink_start_text(struct sink *s, struct text *text);
void sink_put_slow(struct sink *s, const char *bytes, size_t length); /* the buffer is full */
/* Inline: a span is a dozen small pieces, most of them of a constant length. */
static inline void sink_put(struct sink *s, const char *bytes, size_t length) {
    if (length > SINK_BYTES || length > SINK_BYTES - s->length) {
        sink_put_slow(s, bytes, length);
        return;
    }
    memcpy(s->data + s->length, bytes, length);
    s->length += length;
}
static inline void sink_text(struct sink *s, const char *text) { /* up to its NUL */
    sink_put(s, text, strlen(text));
}
void sink_u64(struct sink *s, uint64_t n);
void sink_u128(struct sink *s, u128 n);
/* Microseconds with three decimals, from nanoseconds. */
void sink_us(struct sink *s, uint64_t ns);
/* The same at `p`, where there is room for so many bytes; returns the end. */
#define SINK_US_BYTES 24
char *sink_us_at(char *p, uint64_t ns);
/* A JSON string with its quotes, '<' escaped: valid UTF-8 that no other bytes become (utf8.h). */
/* `,"KEY":` and a number after it: a member of a JSON object that is not the first. */
void sink_member(struct sink *s, const char *key);
void sink_member_u64(struct sink *s, const char *key, uint64_t n);
void sink_member_u128(struct sink *s, const char *key, u128 n);
void sink_json(struct sink *s, const char *bytes, size_t length);
void sink_json_clean(struct sink *s, const char *text); /* as export_clean wrote it */
void sink_flush(struct sink *s);
/* Room for `n` bytes (at most SINK_PIECE) at the end of the buffer, for writers of many small
 * pieces; they add to `length` what they used. */
static inline char *sink_room(struct sink *s, size_t n) {
    if (s->length > SINK_BYTES - n) {
        sink_flush(s);
    }
    return s->data + s->length;
}
/* Flushes; 0, or -1 with errno. Does not close the descriptor. */
int sink_close(struct sink *s);

#endif
