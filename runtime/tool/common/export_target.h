/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an export goes: standard output, a device or a pipe, or a file that appears when it is
 * complete.
 */
#ifndef STINT_TOOL_EXPORT_TARGET_H
#define STINT_TOOL_EXPORT_TARGET_H

#include "base/sink.h"
#include "read/run.h"

/* Writes the run to the sink; -1 without memory. `what` is that of export_target_write. */
typedef int export_target_writer(struct sink *out, const void *what, struct run *r);

/* output: a path; NULL or "-" is standard output. Shows the progress on a terminal. 0, or -1 after
 * one line. */
int export_target_write(const char *output, export_target_writer *put, const void *what,
                        struct run *r);

#endif
