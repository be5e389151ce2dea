/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening run files.
 */
#ifndef STINT_RUN_OPEN_H
#define STINT_RUN_OPEN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/run.h"

/* 0, or one of these after one line on stderr that says what, where and what to do. */
#define RUN_REFUSED (-1)
#define RUN_SHORTAGE (-2) /* for want of memory or descriptors: the file may be good */
int run_open(struct run *r, const char *path);
/* The same, if it is known that the writer has just ended. */
int run_open_ended(struct run *r, const char *path);
void run_close(struct run *r);

/* ---- run_writer.c: the process that writes a run file, by /proc. */

/* Whether the process has a file of that inode mapped, shared. */
int run_writer_maps(uint32_t pid, ino_t inode);
/* The run file that the process writes. 0, or -1 after one line on stderr. */
int run_writer_find(uint32_t pid, char *path, size_t size);

#endif
