/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file, or standard output, that whole lines are appended to.
 */
#ifndef STINT_TOOL_LINE_FILE_H
#define STINT_TOOL_LINE_FILE_H

#include <stddef.h>

struct line_file {
    const char *path; /* NULL: standard output */
    int fd;           /* -1: not open */
    int over;         /* it is a pipe or a terminal, and takes nothing any more */
};

/* Both return NULL, or why it failed, for a message "cannot write PATH: …". */
const char *line_file_open(struct line_file *f, const char *path);
/* The line ends in '\n'. After a failure nothing of it is in the file, and another call tries
 * again. */
const char *line_file_put(struct line_file *f, const char *line, size_t length);
void line_file_close(struct line_file *f);

#endif
