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

struct top_row {
    char *name; /* allocated; with its set, and a NUL */
    size_t length;
    uint64_t calls, total_ns, self_ns;
    uint64_t more_calls, more_ns, more_self_ns;
    uint64_t open_ns; /* of all threads */
    uint64_t open_self_ns;
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
};

/* Takes the next reading; the first one has everything since the run began. 0, or -1 without
 * memory. */
int top_table_look(struct top_table *t, struct run *r);
/* Prints the rows by added time, the largest first. 0, or -1 without memory. */
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
/* 0 after so many seconds; 1 if the user or a signal ends it. */
int top_screen_wait(double seconds);

#endif
