/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a run file.
 */
#ifndef STINT_TOOL_RUN_READ_H
#define STINT_TOOL_RUN_READ_H

#include <stddef.h>
#include <stdint.h>

struct run_bytes {
    char *base; /* pages; at least a header, whose magic and version are right */
    uint64_t size;
};

/* A descriptor of the file that was read, or -1 after one line on stderr. warning: "" or what is
 * wrong though it can be read. */
int run_read(struct run_bytes *out, const char *path, char *warning, size_t size);

#endif
