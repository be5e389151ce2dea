/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the commands diff and ab.
 */
#ifndef STINT_TOOL_PRINT_DIFF_H
#define STINT_TOOL_PRINT_DIFF_H

#include "tool/common/options.h"
#include "tool/diff/diff.h"

/* Prints a judged diff on standard output. top: at most so many rows, 0 = all. fail: a row that is
 * slower by that share is a failure. COMMAND_GOOD, or the exit status after one line. */
int cmd_diff_print(struct diff *d, const struct diff_options *o, enum option_format format,
                   uint32_t top, double fail);

#endif
