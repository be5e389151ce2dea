/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the command top: the table with what was added to a run between two readings of its
 * file, and the terminal's screen.
 */
#ifndef STINT_TOOL_TOP_H
#define STINT_TOOL_TOP_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "read/run.h"

#define TOP_TABLE_HEAD 3 /* lines before the rows */

/* What the rows are sorted by, the largest first; in the order of --sort in gen/options.ini. */
enum top_sort { TOP_BY_TIME, TOP_BY_SELF, TOP_BY_CALLS, TOP_BY_TOTAL, TOP_SORTS };

struct top_row {
    char *name; /* allocated; with its set, and a NUL */
    size_t length;
    size_t key_length; /* without thread and state */
    uint64_t calls, total_ns, self_ns;
    uint64_t more_calls, more_ns, more_self_ns;
    uint64_t open_ns; /* of all threads */
    uint64_t open_self_ns;
    uint64_t age_ns; /* of the call that has been open for the longest time; 0 = none */
    uint32_t thread; /* index, or SNAPSHOT_NONE: all */
};

struct top_table {
    struct top_row *row; /* by name */
    uint32_t count;
    uint64_t wall_ns;
    uint64_t more_wall_ns;
    uint64_t lost;
    uint32_t open; /* scopes */
    char head[512];
};

struct top_table_form {
    uint32_t rows;
    uint32_t width; /* 0 = any */
    int colour;
    enum top_sort sort;
    const char *note; /* follows the second line; "" = nothing */
};

/* Takes the next reading, of the names that `wanted` allows (NULL: all), with a row per thread if
 * each_thread; the first one has everything since the run began. 0, or -1 without memory. */
int top_table_look(struct top_table *t, struct run *r,
                   int (*wanted)(const char *name, size_t length), int each_thread);
/* "time", "self" ... */
const char *top_sort_name(enum top_sort sort);
/* Prints the rows. 0, or -1 without memory. */
int top_table_print(struct text *out, const struct top_table *t, const struct top_table_form *form);
void top_table_free(struct top_table *t);

/* ---- The screen: the alternate one, without a cursor, and keys unbuffered. It is restored by
 * top_screen_leave, also after a signal. */

/* screen = 0: only signals are caught, which end the waiting. 0, or -1 with errno. */
int top_screen_enter(int screen);
/* May be called twice. */
void top_screen_leave(void);
/* Replaces what is shown. 0, or -1 after one line. */
int top_screen_show(const char *text, size_t length);
/* What ended the wait for the next reading: the time, the user or a signal, or a key that
 * top_screen_wait does not know, which is in *key. */
enum top_event { TOP_TIME, TOP_END, TOP_KEY };
enum top_event top_screen_wait(double seconds, char *key);

#endif
