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
    int fd;     /* of the file that was read; -1: it cannot be read any more */
    char *base; /* pages; at least a header, whose magic and version are right */
    uint64_t size;
    int has_rings; /* whose events were not read and are zeros there */
};

/* As run_open. warning: "", or what is wrong
 * with a file that could be read nevertheless. */
int run_read(struct run_bytes *out, const char *path, char *warning, size_t size);

/* Reads bytes of a file from an offset on. Returns how many; fewer at the end of the file. */
uint64_t run_pull(int file, void *to, uint64_t bytes, uint64_t at);

/* The latest known tick of a run without a recorded end, which may be its start. */
uint64_t run_latest(const struct snapshot *s, const struct arena_header *h);

#endif
