/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text to numbers and numbers with a fraction to text.
 *
 * Numbers with a fraction as text, and back, in the C locale whatever the program's locale is: the
 * point is '.', and there is no grouping. The only place of the runtime and the tool that formats
 * or parses a floating-point number; a test checks that. Nothing here reads or sets the locale.
 *
 *     text_add(out, "%s MiB", number_fixed(mib, 1).text);
 */
#ifndef STINT_NUMBER_H
#define STINT_NUMBER_H

#include <stdint.h>

#include "arithmetic.h"

#define NUMBER_BYTES 48 /* 128 bits have 39 digits */

/* By value, so that a call can be an argument: the text lives to the end of the full expression. */
struct number {
    char text[NUMBER_BYTES];
};

/* As "%.*f"; a number of more than 31 characters as number_short with 17 digits. */
struct number number_fixed(double value, int decimals);
/* As "%.*g", 1 to 17 digits. */
struct number number_short(double value, int digits);
/* 15 digits, or 17 where 15 do not read back as the same number. */
struct number number_exact(double value);

/* All digits of a sum. */
struct number number_whole(u128 n);
/* Exact: n / 10^digits, with so many digits after the point: at most 19. */
struct number number_decimal(u128 n, unsigned digits);

/* Digits alone: no sign, blank or base. Returns what follows, or NULL without a digit or where the
 * number is larger than `max`; *out then is unchanged. */
const char *number_parse_whole(const char *text, uint64_t max, uint64_t *out);
/* The same of a whole text, from min to max. 0, or -1. */
int number_read_whole(const char *text, uint64_t min, uint64_t max, uint64_t *out);

/* Digits with at most one point among them: no sign, exponent, blank, "inf" or "nan". Returns what
 * follows, or NULL without a digit; *out then is unchanged. */
const char *number_parse(const char *text, double *out);

#endif
