/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the tool. Each returns an enum command_status; argv[0] is the command's name.
 */
#ifndef STINT_TOOL_COMMANDS_H
#define STINT_TOOL_COMMANDS_H

#include <stddef.h>
#include <sys/types.h>

#include "tool/common/options.h"

int cmd_report(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_merge(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_ab(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_instrument(int argc, char **argv);
int cmd_annotate(int argc, char **argv);
int cmd_help(int argc, char **argv);

struct diff;
struct diff_options;
struct diff_fail;
/* cmd_diff.c, also for ab. Prints a judged diff on standard output, and a line if a comparison with
 * --fail-on has no row. top: at most so many rows, 0 = all. COMMAND_GOOD, or the exit status after
 * one line. */
int cmd_diff_print(struct diff *d, const struct diff_options *o, enum option_format format,
                   uint32_t top);
/* A value of --fail-on, added to what is there. 0, or -1 if it is none. */
int cmd_diff_take_fail(const char *text, struct diff_fail *out);

struct run_files;
/* cmd_run.c, also for ab. The number of the file of process pid, or of the first one. If that has
 * no call, the one with the most calls: a program may leave its work to a child. */
size_t cmd_run_find_main(const struct run_files *files, pid_t pid);

#endif
