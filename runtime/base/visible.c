/* SPDX-License-Identifier: Apache-2.0 */
#include "visible.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utf8.h"

#define ESCAPE '\x1b'

/* As setlocale would find; a library must not call it, as it changes the whole program. */
int visible_in_utf8(void) {
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *value = getenv(names[i]);
        if (value && *value) {
            const char *charset = strchr(value, '.');
            return charset &&
                   (!strncasecmp(charset + 1, "utf-8", 5) || !strncasecmp(charset + 1, "utf8", 4));
        }
    }
    return 0;
}

/* Columns of a character: the blocks that are wide in East Asian terminals and emoji count two,
 * combining marks and joiners none. */
static size_t count_columns(uint32_t c) {
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) ||
        (c >= 0xfe00 && c <= 0xfe0f)) {
        return 0;
    }
    if ((c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
        (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
        (c >= 0xfe30 && c <= 0xfe4f) || (c >= 0xff00 && c <= 0xff60) ||
        (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd)) {
        return 2;
    }
    return 1;
}

/* Controls a terminal may act on: C1, line separators, and those that turn the writing direction,
 * which would make a line read as another one. */
static int is_control(uint32_t c) {
    return c < 0xa0 || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* Returns the length of `out`. */
static size_t escape_byte(unsigned char byte, char out[VISIBLE_PIECE]) {
    static const char hex[] = "0123456789abcdef";
    out[0] = '\\';
    switch (byte) {
    case '\n':
        out[1] = 'n';
        return 2;
    case '\t':
        out[1] = 't';
        return 2;
    case '\\':
        out[1] = '\\';
        return 2;
    default:
        out[1] = 'x';
        out[2] = hex[byte >> 4];
        out[3] = hex[byte & 15];
        return 4;
    }
}

static int is_plain(uint32_t c, size_t n, int utf8) {
    if (n == 1) {
        return c >= 0x20 && c != 0x7f && c != '\\';
    }
    return n > 1 && utf8 && !is_control(c);
}

size_t visible_character(const char *bytes, size_t left, int utf8, char out[VISIBLE_PIECE],
                         size_t *length, size_t *columns) {
    uint32_t c = 0;
    size_t n = utf8_next(bytes, left, &c);
    if (is_plain(c, n, utf8)) {
        memcpy(out, bytes, n);
        *length = n;
        *columns = n == 1 ? 1 : count_columns(c);
        return n;
    }
    *length = *columns = escape_byte((unsigned char)bytes[0], out);
    return 1;
}

size_t visible_next(const char *bytes, size_t left, size_t *columns) {
    size_t n = 1;
    uint32_t c = 0;
    if (*bytes == ESCAPE) {
        *columns = 0;
        while (n < left && bytes[n - 1] != 'm') {
            ++n;
        }
        return n;
    }
    n = utf8_next(bytes, left, &c);
    if (!n) {
        *columns = 1;
        return 1;
    }
    *columns = count_columns(c);
    return n;
}
