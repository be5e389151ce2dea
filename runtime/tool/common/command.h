/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the commands of the tool share. Exit status of a command: 0 success, 1 failure,
 * 2 wrong usage or a file that cannot be read, or not completely. Messages are one line on stderr.
 */
#ifndef STINT_TOOL_COMMAND_H
#define STINT_TOOL_COMMAND_H

#include <stddef.h>

#include "model/run.h"
#include "options.h"
#include "report/report_options.h"
#include "system/target.h"

/* The larger, the worse. */
enum command_status { COMMAND_GOOD = 0, COMMAND_FAILED = 1, COMMAND_BAD = 2 };

static inline int command_worse(int a, int b) {
    return a > b ? a : b;
}

/* One line: what is wrong with the arguments, and how to read on. */
int command_bad_usage(char **argv, const char *what);
/* One line: there is no memory. Returns `status`. */
int command_lack_memory(const char *command, int status);
/* Prints a text on stdout. The exit status; one line if it cannot be written. */
int command_print(const char *text);
/* The same for bytes. 0, or -1 after one line. */
int command_write(const char *bytes, size_t length);
/* Sets a variable for the programs that the command starts. 0, or -1 after one line. */
int command_set_variable(const char *command, const char *name, const char *value);
/* One line: why an output cannot be written. path: NULL or "-" is standard output. The exit
 * status: it is COMMAND_BAD for a file that has to stay as it is. */
int command_refuse_output(const char *path, const char *why);

/* Prints what is wrong with a run that could be read nevertheless, and returns the exit status for
 * it. */
int command_warn(const struct run *r);

/* An interval in seconds, 0.1 to 3600, with or without an s after it. 0, or -1 for another text. */
int command_take_interval(const char *text, double *out);
/* Seconds, or a number with one of ns, us, ms, s, m and h. 0, or -1. */
int command_take_time(const char *text, double *out);

/* ---- The terminal. */

/* Whether what is written to fd may be coloured. */
int command_colour(enum option_color when, int fd);
/* Width, colours and bar of a report on fd. */
void command_fit_report(struct report_options *o, enum option_color when, int fd);

/* ---- export_target.c: where an export goes: standard output, a device or a pipe, or a file that
 * appears when it is complete. */

/* how: as it is opened (system/replace_file.h). put: returns -1 without memory. of: what is
 * written, for messages. Shows the progress on a terminal. The exit status, after one line if it is
 * not 0. */
int export_target_write(const char *output, int how, target_putter *put, void *what,
                        const char *of);

/* ---- progress.c: a line on stderr, if it is a terminal, while something takes more than a
 * second. */

/* what: "reading", "writing"; the bytes of the sink, if there is one, are shown. One at a time. */
void progress_start(const char *what, const struct sink *bytes);
/* Erases the line. */
void progress_stop(void);

#endif
