/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 of bytes that need not be any: names come from programs and from files.
 */
#ifndef STINT_UTF8_H
#define STINT_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_REPLACEMENT "\xef\xbf\xbd" /* U+FFFD, for each byte that belongs to no character */
#define UTF8_REPLACEMENT_BYTES 3u

/* The character at `s` into `out` and its length; 0 if there is none (too long a form, surrogate,
 * past U+10FFFF, cut off). left > 0. */
static inline size_t utf8_next(const char *s, size_t left, uint32_t *out) {
    unsigned first = (unsigned char)s[0];
    size_t n = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    static const uint32_t lowest[5] = {0, 0, 0x80, 0x800, 0x10000};
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || n > left) {
        return 0;
    }
    uint32_t c = n == 1 ? first : first & (0x7fu >> n);
    for (size_t i = 1; i < n; ++i) {
        if (((unsigned char)s[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | ((unsigned char)s[i] & 0x3f);
    }
    *out = c;
    return c < lowest[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

#endif
