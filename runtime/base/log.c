/* SPDX-License-Identifier: Apache-2.0 */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calm.h"
#include "config/config.h"
#include "terminal.h"
#include "write_all.h"

#define LINE_BYTES 1024

/* Names and values come from anywhere: a line stays one line, and does nothing to a terminal. */
static size_t escape_line(char *out, size_t size, const char *line, size_t length) {
    int utf8 = terminal_is_utf8();
    size_t n = 0;
    for (size_t i = 0; i < length && n + TERMINAL_PIECE < size;) {
        size_t piece, columns;
        i += terminal_show(line + i, length - i, utf8, out + n, &piece, &columns);
        n += piece;
    }
    return n;
}

static void write_line(const char *line, size_t size, int length) {
    char shown[2 * LINE_BYTES];
    size_t cut = length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
    size_t bytes = escape_line(shown, sizeof shown, line, cut);
    shown[bytes++] = '\n';
    struct calm calm;
    calm_start(&calm);
    write_all(STDERR_FILENO, shown, bytes, WRITE_NO_WAIT); /* the caller may hold a lock */
    calm_end(&calm);
}

void log_line(const char *format, ...) {
    int saved = errno;
    char line[LINE_BYTES] = "stint: ";
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + 7, sizeof line - 7, format, args);
    va_end(args);
    write_line(line, sizeof line, n < 0 ? n : n + 7);
    errno = saved;
}

size_t log_prefix(char *out, size_t size) {
    struct timespec now;
    struct tm day;
    out[0] = '\0';
    if (config.log_prefix != 1 || clock_gettime(CLOCK_REALTIME, &now) ||
        !localtime_r(&now.tv_sec, &day)) {
        return 0;
    }
    int n = snprintf(out, size, "I%02d%02d %02d:%02d:%02d.%06ld %5ld stint] ", day.tm_mon + 1,
                     day.tm_mday, day.tm_hour, day.tm_min, day.tm_sec, now.tv_nsec / 1000,
                     (long)syscall(SYS_gettid));
    return n < 0 || (size_t)n >= size ? 0 : (size_t)n;
}

void log_legacy(const char *format, ...) {
    int saved = errno;
    char line[LINE_BYTES];
    size_t prefix = log_prefix(line, sizeof line);
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line + prefix, sizeof line - prefix, format, args);
    va_end(args);
    write_line(line, sizeof line, n < 0 ? n : n + (int)prefix);
    errno = saved;
}
