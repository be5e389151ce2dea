/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of printf without the C library's, which allocates memory and reads the locale. Called for
 * every line of the log, also in signal handlers and under locks, so that it only writes to memory
 * of the caller. Formats are constants of the program; a conversion that is not known ends the
 * text.
 */
#include "print.h"

#include <stdint.h>
#include <string.h>

#include "arithmetic.h"

#define DIGITS 20 /* of the largest 64-bit number */

struct conversion {
    int zero;
    int width;
    int precision; /* -1 = none */
    int size;      /* 0 int, 1 long, 2 long long, 3 size_t */
    char kind;
};

struct writer {
    char *out;
    size_t size;
    size_t length;
};

static void print_bytes(struct writer *w, const char *bytes, size_t length) {
    length = u64_min(length, w->size - w->length - 1);
    memcpy(w->out + w->length, bytes, length);
    w->length += length;
}

static void print_number(struct writer *w, const struct conversion *c, uint64_t n, int negative) {
    static const char digits[] = "0123456789abcdef";
    unsigned base = 10;
    const char *fill = " ";
    char text[DIGITS];
    int at = DIGITS;
    if (c->kind == 'x') {
        base = 16;
    }
    if (c->zero) {
        fill = "0";
    }
    do {
        text[--at] = digits[n % base];
        n /= base;
    } while (n);
    int shown = DIGITS - at + negative;
    if (negative && c->zero) {
        print_bytes(w, "-", 1);
    }
    for (int i = shown; i < c->width; ++i) {
        print_bytes(w, fill, 1);
    }
    if (negative && !c->zero) {
        print_bytes(w, "-", 1);
    }
    print_bytes(w, text + at, (size_t)(DIGITS - at));
}

static const char *parse_digits(const char *format, int *out) {
    int n = 0;
    while (*format >= '0' && *format <= '9' && n < 100000) {
        n = n * 10 + (*format++ - '0');
    }
    *out = n;
    return format;
}

/* From after the % to after the conversion; star: the value of a *. */
static const char *parse_conversion(const char *format, struct conversion *c, int star) {
    memset(c, 0, sizeof *c);
    c->precision = -1;
    c->zero = *format == '0';
    format = parse_digits(format, &c->width);
    if (*format == '.' && format[1] == '*') {
        c->precision = star;
        format += 2;
    } else if (*format == '.') {
        format = parse_digits(format + 1, &c->precision);
    }
    if (*format == 'z') {
        c->size = 3;
        ++format;
    }
    for (; *format == 'l'; ++format) {
        ++c->size;
    }
    c->kind = *format;
    if (*format) {
        ++format;
    }
    return format;
}

static int takes_precision(const char *format) {
    format += strspn(format, "0123456789");
    return format[0] == '.' && format[1] == '*';
}

static void print_string(struct writer *w, const struct conversion *c, const char *text) {
    if (!text) {
        text = "(null)";
    }
    if (c->precision < 0) {
        print_bytes(w, text, strlen(text));
    } else {
        print_bytes(w, text, strnlen(text, (size_t)c->precision));
    }
}

static void print_signed(struct writer *w, const struct conversion *c, long long n) {
    if (n < 0) {
        print_number(w, c, 0 - (uint64_t)n, 1);
    } else {
        print_number(w, c, (uint64_t)n, 0);
    }
}

size_t print_list(char *out, size_t size, const char *format, va_list args) {
    struct writer w = {out, size, 0};
    while (*format) {
        size_t plain = strcspn(format, "%");
        print_bytes(&w, format, plain);
        format += plain;
        if (!*format) {
            break;
        }
        struct conversion c;
        int star = 0;
        if (takes_precision(format + 1)) {
            star = va_arg(args, int);
        }
        format = parse_conversion(format + 1, &c, star);
        if (c.kind == '%') {
            print_bytes(&w, "%", 1);
        } else if (c.kind == 'c') {
            char one = (char)va_arg(args, int);
            print_bytes(&w, &one, 1);
        } else if (c.kind == 's') {
            print_string(&w, &c, va_arg(args, const char *));
        } else if ((c.kind == 'd' || c.kind == 'i') && c.size) {
            print_signed(&w, &c, va_arg(args, long long));
        } else if (c.kind == 'd' || c.kind == 'i') {
            print_signed(&w, &c, va_arg(args, int));
        } else if ((c.kind == 'u' || c.kind == 'x') && c.size) {
            print_number(&w, &c, va_arg(args, unsigned long long), 0);
        } else if (c.kind == 'u' || c.kind == 'x') {
            print_number(&w, &c, va_arg(args, unsigned), 0);
        } else {
            break; /* the type of what follows is not known */
        }
    }
    w.out[w.length] = '\0';
    return w.length;
}

size_t print_text(char *out, size_t size, const char *format, ...) {
    va_list args;
    va_start(args, format);
    size_t length = print_list(out, size, format, args);
    va_end(args);
    return length;
}
