/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: a growing buffer, names made safe to print, widths in terminal columns, numbers
 * with units. ASCII unless the environment's locale is UTF-8.
 */
#ifndef STINT_TEXT_H
#define STINT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "arithmetic.h"
#include "unit.h"

struct text {
    char *data;
    size_t length;
    size_t size;
    int utf8;
    int failed; /* out of memory: what is there is not all */
    /* Takes the text in pieces; nonzero: it cannot, and takes no more. NULL: all of it is kept. */
    int (*drain)(const char *bytes, size_t length);
    int not_drained; /* it could not */
};

void text_start(struct text *t);
void text_free(struct text *t);
void text_put(struct text *t, const char *bytes, size_t length);
__attribute__((format(printf, 2, 3))) void text_add(struct text *t, const char *format, ...);
void text_spaces(struct text *t, size_t n);
/* The end of a line of a long text: what is there may go out, if it is enough for a piece. */
void text_end_line(struct text *t);

/* Returns the ending of an English noun after the number n. */
static inline const char *text_plural(u128 n) {
    return n == 1 ? "" : "s";
}

/* The text as it is shown; "?" for one that a run file leaves empty. */
static inline const char *text_or_unknown(const char *text) {
    return *text ? text : "?";
}

/* A name with control bytes, quotes of the terminal and broken UTF-8 escaped (\n, \x1b); cut to
 * `columns` with a mark (0 = never). Returns the columns used. */
size_t text_name(struct text *t, const char *bytes, size_t length, size_t columns);
/* The columns of a number with its marks. */
size_t text_columns(const char *number);

#define TEXT_NUMBER 48
/* unit: enum config_unit, from unit.h. Four digits in auto. */
void text_time(char out[TEXT_NUMBER], u128 ns, int unit);
/* A time, which may be a lower bound: then with a mark before it that `t` can show. */
void text_time_or_more(const struct text *t, char out[TEXT_NUMBER], u128 ns, int or_more, int unit);
const char *text_unit_name(int unit);
void text_share(char out[TEXT_NUMBER], uint64_t ppm);
/* Four digits, units of 1000: "1.500 MB". */
void text_bytes(char out[TEXT_NUMBER], u128 bytes);
/* Units of 10^9 a second, without the unit: four digits, "<0.001" for less. */
void text_rate(char out[TEXT_NUMBER], uint64_t per_s);
/* Milliseconds as PaddlePaddle's Stat.h prints them, six digits, but never in e-notation. */
void text_legacy_ms(char out[TEXT_NUMBER], double ns);

#endif
