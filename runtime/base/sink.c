/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A buffered file for exports, by one thread, without malloc and stdio. The formats of numbers and
 * JSON are here because they are most of an export's time. An error is kept and reported once, by
 * sink_close.
 */
#include "sink.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "text.h"
#include "utf8.h"
#include "write_all.h"

void sink_start(struct sink *s, int fd) {
    s->fd = fd;
    s->text = NULL;
    s->error = 0;
    s->terminal = isatty(fd);
    s->length = 0;
    s->written = 0;
}

void sink_start_text(struct sink *s, struct text *text) {
    sink_start(s, -1);
    s->text = text;
}

/* After an error nothing is written any more, so that callers need not check each call. */
static void write_bytes(struct sink *s, const char *bytes, size_t length) {
    if (s->text) {
        text_put(s->text, bytes, length);
        s->error = s->text->failed ? ENOMEM : 0;
    } else if (!s->error && write_all(s->fd, bytes, length, WRITE_WAIT_FOR_EVER) < length) {
        s->error = errno;
    }
    s->written += length;
}

void sink_flush(struct sink *s) {
    write_bytes(s, s->data, s->length);
    s->length = 0;
}

void sink_put_slow(struct sink *s, const char *bytes, size_t length) {
    sink_flush(s);
    if (length > SINK_BYTES) {
        write_bytes(s, bytes, length);
        return;
    }
    memcpy(s->data, bytes, length);
    s->length = length;
}

/* Two digits a division. */
static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

/* Right-aligned before `end`; the first digit. */
static char *put_digits(char *end, uint64_t n) {
    while (n >= 100) {
        end -= 2;
        memcpy(end, pairs + n % 100 * 2, 2);
        n /= 100;
    }
    if (n >= 10) {
        end -= 2;
        memcpy(end, pairs + n * 2, 2);
        return end;
    }
    *--end = (char)('0' + n);
    return end;
}

void sink_u64(struct sink *s, uint64_t n) {
    char text[20];
    char *from = put_digits(text + sizeof text, n);
    sink_put(s, from, (size_t)(text + sizeof text - from));
}

#define WORD_TENS UINT64_C(10000000000000000000) /* the largest power of ten in 64 bits */
#define WORD_DIGITS 19

void sink_u128(struct sink *s, u128 n) {
    char text[2 * 20];
    char *end = text + sizeof text;
    char *from = end;
    for (; n > UINT64_MAX; n /= WORD_TENS) {
        char *low = put_digits(from, (uint64_t)(n % WORD_TENS));
        from -= WORD_DIGITS;
        memset(from, '0', (size_t)(low - from));
    }
    from = put_digits(from, (uint64_t)n);
    sink_put(s, from, (size_t)(end - from));
}

void sink_member(struct sink *s, const char *key) {
    sink_put(s, ",\"", 2);
    sink_text(s, key);
    sink_put(s, "\":", 2);
}

void sink_member_u64(struct sink *s, const char *key, uint64_t n) {
    sink_member(s, key);
    sink_u64(s, n);
}

void sink_member_u128(struct sink *s, const char *key, u128 n) {
    sink_member(s, key);
    sink_u128(s, n);
}

char *sink_us_at(char *p, uint64_t ns) {
    char text[2 * SINK_US_BYTES]; /* the number, and what is copied with it */
    char *end = text + SINK_US_BYTES;
    unsigned rest = (unsigned)(ns % 1000);
    end[-1] = (char)('0' + rest % 10);
    memcpy(end - 3, pairs + rest / 10 * 2, 2);
    end[-4] = '.';
    char *from = put_digits(end - 4, ns / 1000);
    memcpy(p, from, SINK_US_BYTES);
    return p + (end - from);
}

void sink_us(struct sink *s, uint64_t ns) {
    char *p = sink_room(s, SINK_US_BYTES);
    s->length += (size_t)(sink_us_at(p, ns) - p);
}

/* Whether a JSON string may have the character as it is. JSON forbids some; others would end a
 * script element, or a line in JavaScript. */
static int is_json_plain(uint32_t c) {
    return c >= 0x20 && c != '"' && c != '\\' && c != '<' && (c < 0x7f || c >= 0xa0) &&
           c != 0x2028 && c != 0x2029;
}

static void json_escape(struct sink *s, uint32_t c) {
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', 'u', hex[c >> 12 & 15], hex[c >> 8 & 15], hex[c >> 4 & 15], hex[c & 15]};
    switch (c) {
    case '\n':
        sink_put(s, "\\n", 2);
        break;
    case '\t':
        sink_put(s, "\\t", 2);
        break;
    case '"':
        sink_put(s, "\\\"", 2);
        break;
    case '\\':
        sink_put(s, "\\\\", 2);
        break;
    default:
        sink_put(s, text, sizeof text);
    }
}

/* The bytes at the start that need no escape: most names consist of these. */
static size_t plain_ascii(const char *bytes, size_t length) {
    size_t i = 0;
    while (i < length) {
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x7f || !is_json_plain(c)) {
            break;
        }
        ++i;
    }
    return i;
}

typedef size_t utf8_reader(const char *s, size_t left, uint32_t *out);

static void json_put(struct sink *s, const char *bytes, size_t length, utf8_reader *next) {
    size_t from = 0;
    sink_put(s, "\"", 1);
    for (size_t i = plain_ascii(bytes, length); i < length;) {
        uint32_t c = 0;
        size_t n = next(bytes + i, length - i, &c);
        if (n && is_json_plain(c)) {
            i += n;
            continue;
        }
        sink_put(s, bytes + from, i - from);
        if (n) {
            json_escape(s, c);
            i += n;
        } else {
            char escape[UTF8_ESCAPE_BYTES];
            utf8_escape(escape, bytes[i]);
            sink_put(s, "\\", 1);
            sink_put(s, escape, sizeof escape);
            ++i;
        }
        from = i;
    }
    sink_put(s, bytes + from, length - from);
    sink_put(s, "\"", 1);
}

void sink_json(struct sink *s, const char *bytes, size_t length) {
    json_put(s, bytes, length, utf8_next_kept);
}

void sink_json_clean(struct sink *s, const char *text) {
    json_put(s, text, strlen(text), utf8_next);
}

int sink_close(struct sink *s) {
    sink_flush(s);
    if (!s->error) {
        return 0;
    }
    errno = s->error;
    return -1;
}
