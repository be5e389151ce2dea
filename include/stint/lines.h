/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time per source line, for the copies that `stint instrument --lines` makes. Not for users.
 *
 * Each function of the copy has a frame, and a marker before each statement. A marker reads the
 * clock once and adds the time since the last marker of the thread to the line of that one. The
 * begin of a function does the same, and its end, however the function is left, continues with the
 * line that was current before. So the lines of a function add up to its time, without the
 * functions called.
 *
 * - A cell counts one line of one file for one thread. It is in the arena: in a run file the lines
 *   of a killed program are there, too.
 * - The markers of a function use its thread's book of the file, which is private memory and never
 *   freed: after a fork, or at the end of the thread, its cells are taken away, and markers do
 *   nothing.
 * - A line's `nested` is the time of the instrumented functions that it calls. Of calls inside each
 *   other the outermost counts; it is known by the address of its frame, so that one that longjmp
 *   left is replaced by the next: it is not above that on the stack.
 */
#include "instrument.h"

#ifndef STINT_LINES_H
#define STINT_LINES_H

#if defined(__GNUC__)
#pragma GCC system_header
#endif

/* `if (mark, 0) {} else statement`, in place of a statement without braces; and a declaration after
 * the marker before it. */
#pragma GCC diagnostic ignored "-Wdangling-else"
#pragma GCC diagnostic ignored "-Wattributes" /* inline and noinline */
#ifndef __cplusplus
#pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif
#pragma pack(push, 8)

/* All written by the thread alone, relaxed, and read by snapshots. */
struct stint_impl_line_cell {
    uint64_t hits;
    uint64_t self;   /* ticks */
    uint64_t nested; /* ticks of the calls in it, without what they added to `self` */
    uint64_t outer;  /* address of the frame of the outermost open call, 0 = none */
};

/* The place of a thread in its lines. */
struct stint_impl_lines_thread {
    uint64_t last; /* ticks of the last marker */
    struct stint_impl_line_cell *current;
    uint64_t generation; /* changes when the cells are taken away */
};

/* A file as one thread sees it. */
struct stint_impl_lines_book {
    struct stint_impl_line_cell *cells; /* NULL: nothing is recorded */
    struct stint_impl_lines_thread *thread;
    uint32_t gate; /* of the thread, when the cells were looked up */
    uint32_t reserved;
};

/* A description of a file, compiled into its copy. */
struct stint_impl_lines_file {
    const char *name;
    const uint32_t *lines; /* the line numbers of the cells */
    uint32_t count;
    uint32_t reserved;
    /* The source when the copy was made: its size in bytes, a blank, its SHA-256 as 64 hexadecimal
     * digits in lower case. NULL: not known. */
    const char *content;
};

struct stint_impl_lines_frame {
    struct stint_impl_lines_book *book;
    struct stint_impl_line_cell *caller; /* NULL: nothing to do at the end */
    uint64_t generation;
    uint64_t entered; /* ticks */
    uint64_t self;    /* of the caller's line, at the begin */
};

#ifdef __cplusplus
extern "C" {
#endif
#define stint_impl_lines_open STINT_IMPL_ABI_NAME(stint_impl_lines_open)
/* The calling thread's book of the file, which it also stores; never NULL. */
extern struct stint_impl_lines_book *stint_impl_lines_open(const struct stint_impl_lines_file *file,
                                                           struct stint_impl_lines_book **mine);
#ifdef __cplusplus
}
#endif

#define STINT_LINES_FN STINT_IMPL_INLINED
/* A function of the copy, which its markers call: inlined, the markers would take the compiler
 * several times as long as the code that they are in. gcc knows at each call which registers a
 * function of the same file leaves alone. A function that is not called is not in the object. */
#define STINT_LINES_CALLED STINT_IMPL_INLINE STINT_IMPL_UNCHECKED STINT_IMPL_NOINLINE

/* The time since the last marker belongs to the current line. `last` is read first: what a signal
 * handler in between counts is counted twice rather than taken off. */
STINT_LINES_FN uint64_t stint_impl_lines_flush(struct stint_impl_lines_thread *t) {
    uint64_t last = STINT_IMPL_LOAD(&t->last);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint64_t now = STINT_IMPL_TICKS();
    struct stint_impl_line_cell *c = t->current;
    uint64_t ticks = now - last;
    if (STINT_IMPL_LIKELY((int64_t)ticks > 0)) { /* not: the clock stepped back */
        STINT_IMPL_STORE(&c->self, STINT_IMPL_LOAD(&c->self) + ticks);
    }
    STINT_IMPL_STORE(&t->last, now);
    return now;
}

STINT_LINES_CALLED void stint_impl_lines_enter(struct stint_impl_lines_frame *f,
                                               const struct stint_impl_lines_file *file,
                                               struct stint_impl_lines_book **mine) {
    struct stint_impl_lines_book *b = *mine;
    f->caller = STINT_IMPL_NULL;
    if (STINT_IMPL_UNLIKELY(!b) ||
        STINT_IMPL_UNLIKELY(b->gate != STINT_IMPL_LOAD(&stint_impl_thread_here->gate))) {
        b = stint_impl_lines_open(file, mine);
    }
    f->book = b;
    if (b->cells) {
        struct stint_impl_lines_thread *t = b->thread;
        struct stint_impl_line_cell *caller = t->current;
        f->entered = stint_impl_lines_flush(t);
        f->generation = t->generation;
        f->self = STINT_IMPL_LOAD(&caller->self);
        f->caller = caller;
        if (STINT_IMPL_LOAD(&caller->outer) <= (uint64_t)f) {
            STINT_IMPL_STORE(&caller->outer, (uint64_t)f);
        }
    }
}

STINT_LINES_CALLED void stint_impl_lines_leave(struct stint_impl_lines_frame *f) {
    struct stint_impl_line_cell *caller = f->caller;
    struct stint_impl_lines_thread *t = f->book->thread;
    if (caller && f->generation == t->generation) {
        uint64_t now = stint_impl_lines_flush(t);
        if (STINT_IMPL_LOAD(&caller->outer) == (uint64_t)f) {
            uint64_t ticks = now - f->entered - (STINT_IMPL_LOAD(&caller->self) - f->self);
            if ((int64_t)ticks > 0) {
                STINT_IMPL_STORE(&caller->nested, STINT_IMPL_LOAD(&caller->nested) + ticks);
            }
            STINT_IMPL_STORE(&caller->outer, 0);
        }
        t->current = caller;
    }
}

/* The line n is current from here on. */
STINT_LINES_CALLED void stint_impl_line_again(struct stint_impl_lines_book *b, uint32_t n) {
    if (STINT_IMPL_LIKELY(b->cells != STINT_IMPL_NULL)) {
        stint_impl_lines_flush(b->thread);
        b->thread->current = b->cells + n;
    }
}

STINT_LINES_CALLED void stint_impl_line(struct stint_impl_lines_book *b, uint32_t n) {
    if (STINT_IMPL_LIKELY(b->cells != STINT_IMPL_NULL)) {
        struct stint_impl_line_cell *c = b->cells + n;
        stint_impl_lines_flush(b->thread);
        b->thread->current = c;
        STINT_IMPL_STORE(&c->hits, STINT_IMPL_LOAD(&c->hits) + 1);
    }
}

/* A later statement of a line: a hit only if the line was entered here, as by a case or a label. */
STINT_LINES_CALLED void stint_impl_line_entered(struct stint_impl_lines_book *b, uint32_t n) {
    if (b->cells && b->thread->current != b->cells + n) {
        stint_impl_line(b, n);
    }
}

/* After the brace that opens the function, with the number of the file. Declarations only. */
#define STINT_LINES_FUNCTION(k)                                                                    \
    struct stint_impl_lines_frame stint_lines_frame                                                \
        __attribute__((__cleanup__(stint_impl_lines_leave), __unused__));                          \
    char stint_lines_begun __attribute__((__unused__)) =                                           \
        (stint_impl_lines_enter(&stint_lines_frame, &stint_lines_file_##k, &stint_lines_book_##k), \
         (char)0);

#define STINT_LINE(n) stint_impl_line(stint_lines_frame.book, n)
#define STINT_LINE_AGAIN(n) stint_impl_line_again(stint_lines_frame.book, n)
#define STINT_LINE_ENTERED(n) stint_impl_line_entered(stint_lines_frame.book, n)

/* Before the first line of the copy, for it and for each source that it includes: the number of the
 * file in this copy, its name, its content as in the struct, and its line numbers. */
#define STINT_LINES_FILE(k, name, content, count, ...)                                             \
    static const uint32_t stint_lines_numbers_##k[] = {__VA_ARGS__};                               \
    static const struct stint_impl_lines_file stint_lines_file_##k = {                             \
        name, stint_lines_numbers_##k, count, 0, content};                                         \
    static __thread struct stint_impl_lines_book *stint_lines_book_##k __attribute__((__unused__));

#pragma pack(pop)

#endif
