/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between run.c, run_read.c and run_latest.c.
 */
#ifndef STINT_TOOL_RUN_PARTS_H
#define STINT_TOOL_RUN_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include "arena/arena.h"
#include "model/snapshot.h"

/* The path that means standard input, and what messages call it. */
#define RUN_STDIN "-"
#define RUN_STDIN_NAME "standard input"

/* The bytes of a run file. */
struct run_bytes {
    char *base; /* pages; at least a header, whose magic and version are right */
    uint64_t size;
};

/* Returns a descriptor of the file that was read, or as run_open. warning: "", or what is wrong
 * with a file that could be read nevertheless. */
int run_read(struct run_bytes *out, const char *path, char *warning, size_t size);

/* The latest known tick of a run without a recorded end, which may be its start. */
uint64_t run_latest(const struct snapshot *s, const struct arena_header *h);

#endif
