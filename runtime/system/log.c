/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on stderr, or for the program's callback.
 *
 * Implementation notes
 * - A write may wait for a reader of the pipe, and a callback may call the library. A thread that
 *   holds a lock of the library therefore puts its line into a queue, which is emptied by the first
 *   thread that has released its last lock: the caller, or one that does so before it.
 * - Signal handlers write lines, too, and the callback must not run in one. A thread is assumed to
 *   be in a handler if it blocks a signal (system/calm.h). Its lines for the callback stay in the
 *   queue until the end of a function that handlers must not call, or another thread's line.
 * - The queue has any number of writers, which never wait, and one reader at a time (`delivering`).
 *   A writer takes a slot by advancing `tail`, then fills it. One that a signal handler interrupts
 *   in between delays the lines after it, no more.
 * - Whatever a callback's calls write comes after it: the reader's loop, not the callback,
 *   delivers.
 */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/api.h"
#include "base/hash.h"
#include "base/print.h"
#include "base/scratch.h"
#include "base/visible.h"
#include "base/write_all.h"
#include "calm.h"
#include "config.h"
#include "local_time.h"
#include "lock.h"

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
    int utf8 = visible_in_utf8();
    size_t n = 0;
    for (size_t i = 0; i < length && n + VISIBLE_PIECE < size;) {
        size_t piece, columns;
        i += visible_character(line + i, length - i, utf8, out + n, &piece, &columns);
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

/* ---- The callback. */

static struct {
    stint_log_fn fn; /* NULL: stderr */
    void *data;
} target;              /* under LOCK_LOG */
static int has_target; /* target.fn is set; atomic */

void log_set_callback(stint_log_fn fn, void *data) {
    lock_take(LOCK_LOG);
    target.fn = fn;
    target.data = data;
    __atomic_store_n(&has_target, fn != NULL, __ATOMIC_RELEASE);
    lock_release(LOCK_LOG);
}

/* ---- Lines that wait. */

struct waiting_line {
    int level;
    uint32_t prefix; /* bytes before the text, for stderr only */
    size_t length;   /* of both; there is room for a newline after them */
    char text[];
};

#define QUEUE_LINES 64u /* a power of two */

static struct {
    struct {
        uint32_t turn; /* tail of its next writer, or that + 1: filled; atomic */
        struct waiting_line *line;
    } slot[QUEUE_LINES];
    uint32_t tail;    /* writers; atomic */
    uint32_t head;    /* reader; atomic */
    uint32_t dropped; /* lines for which there was no room, or no memory; atomic */
} queue;
static int delivering; /* a thread empties the queue; atomic */

/* Slot i serves the turns i, i + 64, …: as stored, a turn is that less i, so that zeros are
 * empty. */
static uint32_t *turn_of(uint32_t turn) {
    return &queue.slot[turn % QUEUE_LINES].turn;
}

/* 0, or -1 without room. */
static int queue_push(struct waiting_line *l) {
    uint32_t at = __atomic_load_n(&queue.tail, __ATOMIC_RELAXED);
    for (;;) {
        uint32_t turn = __atomic_load_n(turn_of(at), __ATOMIC_ACQUIRE) + at % QUEUE_LINES;
        if ((int32_t)(turn - at) < 0) {
            return -1; /* its line of 64 turns ago is still there */
        }
        if (turn != at) {
            at = __atomic_load_n(&queue.tail, __ATOMIC_RELAXED);
        } else if (__atomic_compare_exchange_n(&queue.tail, &at, at + 1, 0, __ATOMIC_RELAXED,
                                               __ATOMIC_RELAXED)) {
            break;
        }
    }
    queue.slot[at % QUEUE_LINES].line = l;
    __atomic_store_n(turn_of(at), at + 1 - at % QUEUE_LINES, __ATOMIC_RELEASE);
    return 0;
}

/* NULL: empty, or the next line is not filled in yet. */
static struct waiting_line *queue_pop(void) {
    uint32_t at = queue.head;
    uint32_t turn = __atomic_load_n(turn_of(at), __ATOMIC_ACQUIRE) + at % QUEUE_LINES;
    if (turn != at + 1) {
        return NULL;
    }
    struct waiting_line *l = queue.slot[at % QUEUE_LINES].line;
    __atomic_store_n(turn_of(at), at + QUEUE_LINES - at % QUEUE_LINES, __ATOMIC_RELEASE);
    __atomic_store_n(&queue.head, at + 1, __ATOMIC_RELAXED);
    return l;
}

static int queue_has_lines(void) {
    return __atomic_load_n(&queue.tail, __ATOMIC_RELAXED) !=
               __atomic_load_n(&queue.head, __ATOMIC_RELAXED) ||
           __atomic_load_n(&queue.dropped, __ATOMIC_RELAXED);
}

/* ---- Lines about settings and the run file, which each of many forked processes would repeat.
 * Shared by the process that forked first and all that come from it. */

static struct {
    struct {
        uint64_t line; /* its hash; 0: none yet; both are atomic */
        pid_t process; /* which has written such a line */
    } said[16];
    uint32_t more; /* lines that others left out; atomic */
} * family;
static int is_child;

static int log_is_interrupted(void) {
    if (!family) {
        family = pages_get_shared(sizeof *family);
    }
    return lock_inside(LOCK_LOG) != 0;
}

/* Whether another process has written this line, as this one is prepared (the thread has the
 * registry's lock). It is counted then. Lines that differ after a semicolon are the same line: the
 * file that a process has instead bears its number. */
static int is_repeated(const char *text) {
    if (!is_child || !family || !lock_inside(LOCK_REGISTRY)) {
        return 0;
    }
    uint64_t line = hash_bytes_shared(text, strcspn(text, ";")) | 1;
    for (size_t i = 0; i < sizeof family->said / sizeof *family->said; ++i) {
        uint64_t is = 0;
        if (__atomic_compare_exchange_n(&family->said[i].line, &is, line, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            __atomic_store_n(&family->said[i].process, getpid(), __ATOMIC_RELAXED);
            return 0;
        }
        if (is == line) {
            int other = __atomic_load_n(&family->said[i].process, __ATOMIC_RELAXED) != getpid();
            __atomic_add_fetch(&family->more, (uint32_t)other, __ATOMIC_RELAXED);
            return other;
        }
    }
    return 0;
}

/* In the child of a fork: the parent writes its lines itself. */
static void queue_forget(int held) {
    (void)held;
    memset(&queue, 0, sizeof queue);
    delivering = 0;
    is_child = 1;
}

LOCK_OVER_FORK(LOCK_LOG, log_is_interrupted, queue_forget)

/* The callback may have been set or taken away since the line was made. */
static void show_line(struct waiting_line *l) {
    lock_take(LOCK_LOG);
    stint_log_fn fn = target.fn;
    void *data = target.data;
    lock_release(LOCK_LOG);
    if (fn) {
        fn(data, l->level, l->text + l->prefix);
    } else {
        l->text[l->length] = '\n';
        write_now(l->text, l->length + 1);
    }
}

/* Lines that could not wait. In the place of a line, so that it follows those that did. */
static void show_dropped(void) {
    union {
        struct waiting_line line;
        char room[256];
    } lost = {.line = {.level = STINT_LOG_WARNING}};
    uint32_t n = __atomic_exchange_n(&queue.dropped, 0, __ATOMIC_RELAXED);
    if (!n) {
        return;
    }
    char *text = lost.room + offsetof(struct waiting_line, text);
    size_t room = sizeof lost - offsetof(struct waiting_line, text);
    lost.line.prefix = (uint32_t)print_text(text, room, "stint: ");
    lost.line.length =
        lost.line.prefix + print_text(text + lost.line.prefix, room - lost.line.prefix,
                                      "%u more lines were dropped: %u may wait", n, QUEUE_LINES);
    show_line(&lost.line);
}

/* Bounded, for a callback whose own calls write lines each time. Returns the number of lines. */
static unsigned show_waiting(void) {
    struct waiting_line *l;
    unsigned n = 0;
    while (n < QUEUE_LINES && (l = queue_pop())) {
        show_line(l);
        pages_put(l, sizeof *l + l->length + 1);
        ++n;
    }
    show_dropped();
    return n;
}

/* Again for lines that came just before `delivering` was given back; their writers found it
 * taken. */
void log_deliver(void) {
    ERRNO_KEEP;
    int cancel;
    if (!queue_has_lines() || lock_any_held()) {
        return;
    }
    /* A thread that was cancelled in a callback would keep `delivering`. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    unsigned shown = 1;
    while (shown && shown < QUEUE_LINES && queue_has_lines() &&
           !__atomic_exchange_n(&delivering, 1, __ATOMIC_ACQUIRE)) {
        shown = show_waiting();
        __atomic_store_n(&delivering, 0, __ATOMIC_RELEASE);
    }
    pthread_setcancelstate(cancel, NULL);
}

/* From a line, or when the last lock was released. */
static void deliver_if_safe(void) {
    if (!__atomic_load_n(&has_target, __ATOMIC_ACQUIRE) || !calm_thread_blocks_signal()) {
        log_deliver();
    }
}

static void write_later(int level, size_t prefix, const char *shown, size_t bytes) {
    ERRNO_KEEP;
    struct waiting_line *l = pages_get(sizeof *l + bytes + 1);
    if (!l) {
        __atomic_add_fetch(&queue.dropped, 1, __ATOMIC_RELAXED);
        return;
    }
    l->level = level;
    l->prefix = (uint32_t)prefix;
    l->length = bytes;
    memcpy(l->text, shown, bytes);
    if (queue_push(l)) {
        pages_put(l, sizeof *l + bytes + 1);
        __atomic_add_fetch(&queue.dropped, 1, __ATOMIC_RELAXED);
    }
}

/* `prefix` writes what comes before the line on stderr, and returns its length. */
__attribute__((format(printf, 3, 0))) static void
write_line(int level, size_t (*prefix)(char *out, size_t size), const char *format, va_list args) {
    ERRNO_KEEP;
    if (config.log == CONFIG_LOG_OFF ||
        (config.log == CONFIG_LOG_ERROR && level != STINT_LOG_ERROR)) {
        return;
    }
    struct line *l = log_line_get();
    if (!l) {
        return;
    }
    int to_target = __atomic_load_n(&has_target, __ATOMIC_ACQUIRE);
    size_t before = prefix(l->text, sizeof l->text);
    size_t length = before + print_list(l->text + before, sizeof l->text - before, format, args);
    if (is_repeated(l->text + before)) {
        log_line_put(l);
        return;
    }
    size_t bytes = escape_line(l->shown, sizeof l->shown, l->text, length);
    if (!to_target && !lock_any_held()) {
        l->shown[bytes++] = '\n';
        write_now(l->shown, bytes);
        log_line_put(l);
        return;
    }
    write_later(level, before, l->shown, bytes);
    log_line_put(l);
    if (lock_any_held()) {
        lock_when_free(deliver_if_safe);
    } else {
        deliver_if_safe();
    }
}

/* Where the program ends in a signal handler that interrupted the library, a lock of this thread is
 * still held: nothing is delivered, and no other lock may be taken. */
void log_end(void) {
    if (lock_any_held()) {
        __atomic_store_n(&has_target, 0, __ATOMIC_RELEASE);
        return;
    }
    log_set_callback(NULL, NULL);
    log_deliver();
    if (family && !is_child && family->more) {
        log_error("%u more lines of forked processes, as those above, were left out", family->more);
    }
}

static size_t name_prefix(char *out, size_t size) {
    return print_text(out, size, "stint: ");
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

#define LOG_FUNCTION(name, level, prefix)                                                          \
    void name(const char *format, ...) {                                                           \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        write_line(level, prefix, format, args);                                                   \
        va_end(args);                                                                              \
    }

LOG_FUNCTION(log_error, STINT_LOG_ERROR, name_prefix)
LOG_FUNCTION(log_warning, STINT_LOG_WARNING, name_prefix)
LOG_FUNCTION(log_note, STINT_LOG_NOTE, name_prefix)
LOG_FUNCTION(log_legacy, STINT_LOG_NOTE, log_prefix)
LOG_FUNCTION(log_slow, STINT_LOG_SLOW, log_prefix)
