/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes and cuts UTF-8. The bytes may be anything: names come from programs and from files.
 */
#ifndef STINT_UTF8_H
#define STINT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The character at `s` into `out` and its length; 0 if there is none (too long a form, surrogate,
 * past U+10FFFF, cut off). left > 0. */
static inline size_t utf8_next(const char *s, size_t left, uint32_t *out) {
    static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned first = (unsigned char)s[0];
    if (first < 0x80) {
        *out = first;
        return 1;
    }
    size_t n = 2;
    if (first >= 0xf0) {
        n = 4;
    } else if (first >= 0xe0) {
        n = 3;
    }
    if (first < 0xc2 || first > 0xf4 || n > left) {
        return 0;
    }
    uint32_t c = first & (0x7fu >> n);
    for (size_t i = 1; i < n; ++i) {
        if (((unsigned char)s[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    }
    *out = c;
    if (c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        return 0;
    }
    return n;
}

/* The bytes of an escape: \xff. */
#define UTF8_ESCAPE_BYTES 4u

static inline int utf8_is_digit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* As utf8_next, but 0 for all bytes that exports write as an escape: bytes of no character, NUL,
 * and a backslash in front of what would make it one, so that no two names have the same text. */
static inline size_t utf8_next_kept(const char *s, size_t left, uint32_t *out) {
    size_t n = utf8_next(s, left, out);
    if (!*s) {
        return 0;
    }
    if (*s == '\\' && left >= UTF8_ESCAPE_BYTES && s[1] == 'x' && utf8_is_digit(s[2]) &&
        utf8_is_digit(s[3])) {
        return 0;
    }
    return n;
}

/* Writes UTF8_ESCAPE_BYTES and returns their end. */
static inline char *utf8_escape(char *out, char byte) {
    static const char digits[] = "0123456789abcdef";
    unsigned bits = (unsigned char)byte;
    *out++ = '\\';
    *out++ = 'x';
    *out++ = digits[bits >> 4];
    *out++ = digits[bits & 15];
    return out;
}

/* The length that is kept of a text: at most `limit` bytes, and no character cut in two. */
static inline size_t utf8_cut(const char *s, size_t length, size_t limit) {
    if (length <= limit) {
        return length;
    }
    while (limit && ((unsigned char)s[limit] & 0xc0) == 0x80) {
        --limit;
    }
    return limit;
}

#endif
