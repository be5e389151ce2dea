/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of the tool share. Each returns the exit status: 0 good, 1 it failed, 2 it was
 * used wrongly or given a file that is not, or not all, there. Messages are one line on stderr.
 */
#ifndef STINT_TOOL_COMMAND_H
#define STINT_TOOL_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"
#include "read/run.h"

enum command_status { COMMAND_GOOD = 0, COMMAND_FAILED = 1, COMMAND_BAD = 2 };

/* argv[0] is the command's name. */
int cmd_report(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_help(int argc, char **argv);

/* One line: what is wrong with the arguments, and how to read on. */
int command_bad_usage(char **argv, const char *what);
/* Prints a text on stdout. The exit status; one line if it cannot be written. */
int command_print(const char *text);
/* All of it; 0, or -1 after one line. */
int command_write(int fd, const char *bytes, size_t length);

/* Prints what is wrong with a run that could be read all the same; its part of the exit status. */
int command_warn(const struct run *r);

/* ---- The terminal. */

/* Whether what is written to fd may be coloured. */
int command_colour(enum option_color when, int fd);
/* Columns of the terminal that fd is, or COLUMNS; 0 = not one. */
uint32_t command_width(int fd);
uint32_t command_height(int fd);

#endif
