/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "config/config.h"
#include "number.h"
#include "scratch.h"

/* What setlocale would find; a library has no business calling it. */
static int locale_is_utf8(void) {
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

void text_start(struct text *t) {
    memset(t, 0, sizeof *t);
    t->utf8 = locale_is_utf8();
}

void text_free(struct text *t) {
    pages_put(t->data, t->size);
    memset(t, 0, sizeof *t);
}

static int text_room(struct text *t, size_t more) {
    if (more < t->size - t->length) {
        return 0;
    }
    size_t size = t->size ? t->size : 16384;
    while (size - t->length <= more) {
        size *= 2;
    }
    char *data = pages_get(size);
    if (!data) {
        t->failed = 1;
        return -1;
    }
    if (t->data) {
        memcpy(data, t->data, t->length);
        pages_put(t->data, t->size);
    }
    t->data = data;
    t->size = size;
    return 0;
}

void text_put(struct text *t, const char *bytes, size_t length) {
    if (!text_room(t, length)) {
        memcpy(t->data + t->length, bytes, length);
        t->length += length;
    }
}

void text_add(struct text *t, const char *format, ...) {
    char line[2048]; /* no call here is longer: names go through text_name */
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (n > 0) {
        text_put(t, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    }
}

void text_spaces(struct text *t, size_t n) {
    static const char spaces[] = "                                ";
    while (n) {
        size_t piece = n < sizeof spaces - 1 ? n : sizeof spaces - 1;
        text_put(t, spaces, piece);
        n -= piece;
    }
}

/* Decodes one character; 0 for anything that is not valid UTF-8. */
static size_t decode(const unsigned char *s, size_t left, uint32_t *out) {
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] >= 0x80 && (s[0] < 0xc2 || s[0] > 0xf4)) {
        return 0;
    }
    if (n > left) {
        return 0;
    }
    uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; ++i) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff ||
        (c >= 0xd800 && c <= 0xdfff)) {
        return 0;
    }
    *out = c;
    return n;
}

/* Columns of a character: the blocks that are wide in East Asian terminals and emoji count two,
 * combining marks and joiners none. */
static size_t columns_of(uint32_t c) {
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) ||
        (c >= 0xfe00 && c <= 0xfe0f)) {
        return 0;
    }
    int wide = (c >= 0x1100 && c <= 0x115f) || (c >= 0x2e80 && c <= 0xa4cf) ||
               (c >= 0xac00 && c <= 0xd7a3) || (c >= 0xf900 && c <= 0xfaff) ||
               (c >= 0xfe30 && c <= 0xfe4f) || (c >= 0xff00 && c <= 0xff60) ||
               (c >= 0x1f300 && c <= 0x1faff) || (c >= 0x20000 && c <= 0x3fffd);
    return wide ? 2 : 1;
}

/* Controls a terminal may act on: C1, line separators, and those that turn the writing direction,
 * which would make a line read as another one. */
static int invisible_control(uint32_t c) {
    return c < 0xa0 || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/* One character as it will be printed; bytes eaten. */
static size_t show(const struct text *t, const unsigned char *s, size_t left, char out[8],
                   size_t *out_length, size_t *columns) {
    uint32_t c = 0;
    size_t n = decode(s, left, &c);
    int plain =
        n == 1 ? c >= 0x20 && c != 0x7f && c != '\\' : n > 1 && t->utf8 && !invisible_control(c);
    if (plain) {
        memcpy(out, s, n);
        *out_length = n;
        *columns = n == 1 ? 1 : columns_of(c);
        return n;
    }
    int w = s[0] == '\n'   ? snprintf(out, 8, "\\n")
            : s[0] == '\t' ? snprintf(out, 8, "\\t")
            : s[0] == '\\' ? snprintf(out, 8, "\\\\")
                           : snprintf(out, 8, "\\x%02x", s[0]);
    *out_length = *columns = (size_t)w;
    return 1;
}

size_t text_name(struct text *t, const char *bytes, size_t length, size_t columns) {
    const unsigned char *s = (const unsigned char *)bytes;
    const char *mark = t->utf8 ? "\xe2\x80\xa6" : "...";
    size_t mark_columns = t->utf8 ? 1 : 3;
    size_t used = 0, fits = 0, fits_length = t->length;
    char piece[8];
    for (size_t i = 0; i < length;) {
        size_t piece_length, piece_columns;
        i += show(t, s + i, length - i, piece, &piece_length, &piece_columns);
        if (columns && used + piece_columns > columns) {
            t->length = fits_length;
            text_put(t, mark, strlen(mark));
            return fits + mark_columns;
        }
        text_put(t, piece, piece_length);
        used += piece_columns;
        if (used + mark_columns <= columns) {
            fits = used;
            fits_length = t->length;
        }
    }
    return used;
}

static void four_digits(char out[TEXT_NUMBER], double value, const char *unit) {
    int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : value < 999.95 ? 1 : 0;
    snprintf(out, TEXT_NUMBER, "%.24s%s", number_fixed(value, decimals).text, unit);
}

void text_time(char out[TEXT_NUMBER], uint64_t ns, int unit) {
    double v = (double)ns;
    if (unit == CONFIG_UNIT_MS) {
        snprintf(out, TEXT_NUMBER, "%s", number_fixed(v / 1e6, 3).text);
    } else if (unit == CONFIG_UNIT_US) {
        snprintf(out, TEXT_NUMBER, "%s", number_fixed(v / 1e3, 3).text);
    } else if (unit == CONFIG_UNIT_NS || ns < 1000) {
        snprintf(out, TEXT_NUMBER, "%llu%s", (unsigned long long)ns,
                 unit == CONFIG_UNIT_NS ? "" : " ns");
    } else if (v < 999950) {
        four_digits(out, v / 1e3, " us");
    } else if (v < 999950000) {
        four_digits(out, v / 1e6, " ms");
    } else {
        four_digits(out, v / 1e9, " s");
    }
}

void text_bytes(char out[TEXT_NUMBER], uint64_t bytes) {
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
    double v = (double)bytes;
    unsigned unit = 0;
    for (; v >= 999.95 && unit < 6; ++unit) {
        v /= 1000;
    }
    if (unit) {
        four_digits(out, v, units[unit]);
    } else {
        snprintf(out, TEXT_NUMBER, "%llu B", (unsigned long long)bytes);
    }
}

void text_share(char out[TEXT_NUMBER], uint64_t ppm) {
    snprintf(out, TEXT_NUMBER, "%s", number_fixed((double)ppm / 1e4, 1).text);
}

void text_rate(char out[TEXT_NUMBER], uint64_t per_s) {
    if (per_s && per_s < 500000) {
        snprintf(out, TEXT_NUMBER, "<0.001");
    } else {
        four_digits(out, (double)per_s / 1e9, "");
    }
}

void text_legacy_ms(char out[TEXT_NUMBER], double ns) {
    double ms = ns / 1e6;
    if (ms >= 999999.5) {
        snprintf(out, TEXT_NUMBER, "%s", number_fixed(ms, 0).text);
        return;
    }
    snprintf(out, TEXT_NUMBER, "%s", number_short(ms, 6).text);
    if (strchr(out, 'e')) { /* below 0.1 us */
        snprintf(out, TEXT_NUMBER, "%s", number_fixed(ms, 6).text);
        char *end = out + strlen(out);
        while (end[-1] == '0') {
            *--end = '\0';
        }
        if (end[-1] == '.') {
            end[-1] = '\0';
        }
    }
}
