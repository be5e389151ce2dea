/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on stderr.
 *
 * Implementation notes
 * - A write may wait for a reader of the pipe. A thread that holds a lock of the library puts its
 *   line into a list, which is written by the first thread that has released its last lock: the
 *   caller, or one that does so before it. Lines of a parent process are written by the parent.
 * - The list is a stack of atomic pointers: signal handlers write lines, too.
 */
#include "log.h"

#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "calm.h"
#include "config.h"
#include "errno_keep.h"
#include "local_time.h"
#include "lock.h"
#include "print.h"
#include "scratch.h"
#include "terminal.h"
#include "write_all.h"

#define LINE_BYTES 1024

/* Not on the stack, which may be a signal handler's. */
struct line {
    char text[LINE_BYTES];
    char shown[2 * LINE_BYTES];
};

/* Without memory one thread at a time has a line. */
static struct line last_line;
static int last_line_taken; /* atomic */

static struct line *log_line_get(void) {
    struct line *l = pages_get(sizeof *l);
    if (!l && !__atomic_exchange_n(&last_line_taken, 1, __ATOMIC_ACQUIRE)) {
        l = &last_line;
    }
    return l;
}

static void log_line_put(struct line *l) {
    if (l == &last_line) {
        __atomic_store_n(&last_line_taken, 0, __ATOMIC_RELEASE);
    } else {
        pages_put(l, sizeof *l);
    }
}

/* Names and values are untrusted: a line stays one line, without control sequences. */
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

static void write_now(const char *shown, size_t bytes) {
    struct calm calm;
    calm_start(&calm);
    write_all(STDERR_FILENO, shown, bytes, WRITE_NO_WAIT); /* it may be a signal handler */
    calm_end(&calm);
}

/* ---- Lines that wait until no lock is held. */

struct waiting_line {
    struct waiting_line *next; /* the line before this one */
    pid_t pid;
    size_t length;
    char text[];
};

static struct waiting_line *newest_line; /* any thread; atomic */

static struct waiting_line *reverse_lines(struct waiting_line *from) {
    struct waiting_line *first = NULL;
    while (from) {
        struct waiting_line *next = from->next;
        from->next = first;
        first = from;
        from = next;
    }
    return first;
}

static void write_waiting(void) {
    ERRNO_KEEP;
    struct waiting_line *l =
        reverse_lines(__atomic_exchange_n(&newest_line, NULL, __ATOMIC_ACQ_REL));
    while (l) {
        struct waiting_line *next = l->next;
        if (l->pid == getpid()) {
            write_now(l->text, l->length);
        }
        pages_put(l, sizeof *l + l->length);
        l = next;
    }
}

/* Without memory the line is lost. */
static void write_later(const char *shown, size_t bytes) {
    struct waiting_line *l = pages_get(sizeof *l + bytes);
    if (!l) {
        return;
    }
    l->pid = getpid();
    l->length = bytes;
    memcpy(l->text, shown, bytes);
    l->next = __atomic_load_n(&newest_line, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&newest_line, &l->next, l, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    lock_when_free(write_waiting);
}

/* `prefix` writes what comes before the line, and returns its length. */
__attribute__((format(printf, 2, 0))) static void
write_line(size_t (*prefix)(char *out, size_t size), const char *format, va_list args) {
    ERRNO_KEEP;
    struct line *l = log_line_get();
    if (l) {
        size_t before = prefix(l->text, sizeof l->text);
        size_t length =
            before + print_list(l->text + before, sizeof l->text - before, format, args);
        size_t bytes = escape_line(l->shown, sizeof l->shown, l->text, length);
        l->shown[bytes++] = '\n';
        if (lock_any_held()) {
            write_later(l->shown, bytes);
        } else {
            write_now(l->shown, bytes);
        }
        log_line_put(l);
    }
}

static size_t name_prefix(char *out, size_t size) {
    return print_text(out, size, "stint: ");
}

void log_line(const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line(name_prefix, format, args);
    va_end(args);
}

size_t log_prefix(char *out, size_t size) {
    struct timespec now;
    struct local_time at;
    out[0] = '\0';
    if (config.log_prefix != 1 || clock_gettime(CLOCK_REALTIME, &now)) {
        return 0;
    }
    local_time_at(now.tv_sec, &at);
    return print_text(out, size, "I%02d%02d %02d:%02d:%02d.%06ld %5ld stint] ", at.month, at.day,
                      at.hour, at.minute, at.second, now.tv_nsec / 1000, (long)syscall(SYS_gettid));
}

void log_legacy(const char *format, ...) {
    va_list args;
    va_start(args, format);
    write_line(log_prefix, format, args);
    va_end(args);
}
