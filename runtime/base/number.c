/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C library prints the point of the program's locale, which may be several bytes; of all it
 * prints for "%f" and "%g" the point alone is none of these. Locales differ in nothing else without
 * the flags ' and I. */
static int is_number_byte(char c) {
    return (c >= '0' && c <= '9') || c == '+' || c == '-' || (c >= 'a' && c <= 'z');
}

static void put_c_point(char *text) {
    char *out = text;
    int in_point = 0;
    for (const char *in = text; *in; ++in) {
        if (is_number_byte(*in)) {
            *out++ = *in;
            in_point = 0;
        } else if (!in_point) {
            *out++ = '.';
            in_point = 1;
        }
    }
    *out = '\0';
}

struct number number_short(double value, int digits) {
    struct number n;
    snprintf(n.text, sizeof n.text, "%.*g", digits, value);
    put_c_point(n.text);
    return n;
}

#define FIXED_BYTES 32 /* a longer number has an exponent */

struct number number_fixed(double value, int decimals) {
    struct number n;
    int length = snprintf(n.text, FIXED_BYTES, "%.*f", decimals, value);
    if (length < 0 || length >= FIXED_BYTES) {
        return number_short(value, 17);
    }
    put_c_point(n.text);
    return n;
}

struct number number_exact(double value) {
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%.15g", value);
    double back = strtod(text, NULL); /* the same locale as the line above */
    int is_same = back >= value && back <= value;
    if (is_same || isnan(value)) {
        return number_short(value, 15);
    }
    return number_short(value, 17);
}

struct number number_whole(u128 n) {
    struct number out = {""};
    char text[NUMBER_BYTES], *end = text + sizeof text, *at = end;
    do {
        *--at = (char)('0' + (unsigned)(n % 10));
        n /= 10;
    } while (n);
    memcpy(out.text, at, (size_t)(end - at));
    return out;
}

struct number number_decimal(u128 n, unsigned digits) {
    struct number out = {""};
    char text[NUMBER_BYTES], *end = text + sizeof text, *at = end;
    for (unsigned i = 0; i < digits; ++i, n /= 10) {
        *--at = (char)('0' + (unsigned)(n % 10));
    }
    *--at = '.';
    struct number whole = number_whole(n);
    size_t length = strlen(whole.text);
    memcpy(out.text, whole.text, length);
    memcpy(out.text + length, at, (size_t)(end - at));
    return out;
}

const char *number_parse_whole(const char *text, uint64_t max, uint64_t *out) {
    const char *p = text;
    uint64_t n = 0;
    for (; *p >= '0' && *p <= '9'; ++p) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (n > max / 10 || digit > max - n * 10) {
            return NULL;
        }
        n = n * 10 + digit;
    }
    if (p == text) {
        return NULL;
    }
    *out = n;
    return p;
}

int number_read_whole(const char *text, uint64_t min, uint64_t max, uint64_t *out) {
    uint64_t n;
    const char *end = number_parse_whole(text, max, &n);
    if (!end || *end || n < min) {
        return -1;
    }
    *out = n;
    return 0;
}

/* A mantissa below 2^53 and a power of ten up to 10^22 are exact, and so one division rounds once:
 * the result is the double nearest to the text. Digits after the 19th change it by a rounding at
 * most. */
const char *number_parse(const char *text, double *out) {
    uint64_t mantissa = 0;
    int digits = 0, in_fraction = 0;
    double power = 1;
    for (;; ++text) {
        if (*text == '.' && !in_fraction) {
            in_fraction = 1;
            continue;
        }
        if (*text < '0' || *text > '9') {
            break;
        }
        digits = 1;
        int is_kept = mantissa < UINT64_MAX / 10 - 1;
        if (is_kept) {
            mantissa = mantissa * 10 + (uint64_t)(*text - '0');
        }
        if (is_kept && in_fraction) {
            power *= 10;
        }
        if (!is_kept && !in_fraction) {
            power /= 10;
        }
    }
    if (!digits) {
        return NULL;
    }
    *out = (double)mantissa / power;
    return text;
}
