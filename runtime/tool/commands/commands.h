/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands of the tool. Each returns an enum command_status; argv[0] is the command's name.
 */
#ifndef STINT_TOOL_COMMANDS_H
#define STINT_TOOL_COMMANDS_H

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

#endif
