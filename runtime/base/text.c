/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text in growing pages, and numbers with units. Reports and screens of the tool are written into
 * one text from start to end by one thread. Without memory what comes later is left out, which the
 * caller sees in `failed` at the end.
 */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "number.h"
#include "scratch.h"
#include "visible.h"

#define FIRST_BYTES 16384
#define PIECE_BYTES 65536
#define TEXT_LINE 2048 /* no text_add is longer: names go through text_name */

void text_start(struct text *t) {
    memset(t, 0, sizeof *t);
    t->utf8 = visible_in_utf8();
}

void text_free(struct text *t) {
    pages_put(t->data, t->size);
    memset(t, 0, sizeof *t);
}

static int text_room(struct text *t, size_t more) {
    if (more < t->size - t->length) {
        return 0;
    }
    size_t size = u64_max(t->size, FIRST_BYTES);
    while (size - t->length <= more) {
        size *= 2;
    }
    char *data = pages_grow(t->data, t->size, size);
    if (!data) {
        t->failed = 1;
        return -1;
    }
    t->data = data;
    t->size = size;
    return 0;
}

void text_put(struct text *t, const char *bytes, size_t length) {
    if (length && !text_room(t, length)) { /* nothing may be at NULL */
        memcpy(t->data + t->length, bytes, length);
        t->length += length;
    }
}

void text_add(struct text *t, const char *format, ...) {
    va_list args;
    if (text_room(t, TEXT_LINE)) {
        return;
    }
    va_start(args, format);
    int n = vsnprintf(t->data + t->length, TEXT_LINE, format, args);
    va_end(args);
    if (n > 0) {
        t->length += u64_min((size_t)n, TEXT_LINE - 1);
    }
}

void text_spaces(struct text *t, size_t n) {
    static const char spaces[] = "                                ";
    while (n) {
        size_t piece = u64_min(n, sizeof spaces - 1);
        text_put(t, spaces, piece);
        n -= piece;
    }
}

void text_end_line(struct text *t) {
    text_put(t, "\n", 1);
    if (!t->drain || t->length < PIECE_BYTES) {
        return;
    }
    if (!t->not_drained) {
        t->not_drained = t->drain(t->data, t->length) != 0;
    }
    t->length = 0;
}

size_t text_name(struct text *t, const char *bytes, size_t length, size_t columns) {
    const char *mark = "...";
    size_t mark_columns = 3;
    if (t->utf8) {
        mark = "\xe2\x80\xa6";
        mark_columns = 1;
    }
    size_t used = 0, fits = 0, fits_length = t->length;
    char piece[VISIBLE_PIECE];
    for (size_t i = 0; i < length;) {
        size_t piece_length, piece_columns;
        i +=
            visible_character(bytes + i, length - i, t->utf8, piece, &piece_length, &piece_columns);
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

static void put_four_digits(char out[TEXT_NUMBER], double value, const char *unit) {
    int decimals = 0;
    if (value < 9.9995) {
        decimals = 3;
    } else if (value < 99.995) {
        decimals = 2;
    } else if (value < 999.95) {
        decimals = 1;
    }
    snprintf(out, TEXT_NUMBER, "%.40s%s", number_fixed(value, decimals).text, unit);
}

struct text_unit {
    const char *name;
    uint64_t ns; /* nanoseconds in it; 0: each time in the unit that suits it */
    int decimals;
};

#include "unit_table.inc"

const char *text_unit_name(int unit) {
    return text_units[unit].name;
}

/* In the unit that suits it, from ns to s. */
static void text_time_scaled(char out[TEXT_NUMBER], u128 ns) {
    double v = (double)ns;
    if (ns < 1000) {
        snprintf(out, TEXT_NUMBER, "%u ns", (unsigned)ns);
    } else if (v < 999950) {
        put_four_digits(out, v / 1e3, " us");
    } else if (v < 999950000) {
        put_four_digits(out, v / 1e6, " ms");
    } else {
        put_four_digits(out, v / 1e9, " s");
    }
}

void text_time(char out[TEXT_NUMBER], u128 ns, int unit) {
    const struct text_unit *u = &text_units[unit];
    if (!u->ns) {
        text_time_scaled(out, ns);
    } else if (u->ns == 1) { /* exact also beyond 2^53 */
        snprintf(out, TEXT_NUMBER, "%s", number_whole(ns).text);
    } else {
        snprintf(out, TEXT_NUMBER, "%s",
                 number_fixed((double)ns / (double)u->ns, u->decimals).text);
    }
}

void text_bytes(char out[TEXT_NUMBER], u128 bytes) {
    static const char *const units[] = {" B", " kB", " MB", " GB", " TB", " PB", " EB"};
    double v = (double)bytes;
    unsigned unit = 0;
    for (; v >= 999.95 && unit < 6; ++unit) {
        v /= 1000;
    }
    if (unit) {
        put_four_digits(out, v, units[unit]);
    } else {
        snprintf(out, TEXT_NUMBER, "%u B", (unsigned)bytes);
    }
}

void text_share(char out[TEXT_NUMBER], uint64_t ppm) {
    snprintf(out, TEXT_NUMBER, "%s", number_fixed((double)ppm / 1e4, 1).text);
}

void text_rate(char out[TEXT_NUMBER], uint64_t per_s) {
    if (per_s && per_s < 500000) {
        snprintf(out, TEXT_NUMBER, "<0.001");
    } else {
        put_four_digits(out, (double)per_s / 1e9, "");
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

void text_time_or_more(const struct text *t, char out[TEXT_NUMBER], u128 ns, int or_more,
                       int unit) {
    char time[TEXT_NUMBER];
    const char *mark = "";
    if (or_more) {
        mark = t->utf8 ? "\u2265" : ">=";
    }
    text_time(time, ns, unit);
    snprintf(out, TEXT_NUMBER, "%s%.*s", mark, TEXT_NUMBER - 4, time);
}

size_t text_columns(const char *number) {
    size_t columns = 0;
    for (; *number; ++number) {
        columns += (*number & 0xc0) != 0x80;
    }
    return columns;
}
