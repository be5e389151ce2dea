/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that writes a run file, by /proc.
 */
#ifndef STINT_TOOL_RUN_WRITER_H
#define STINT_TOOL_RUN_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Whether a boot id (40 bytes, maybe without a NUL) is that of this boot of this machine. */
int run_writer_boot(const char boot_id[40]);
/* Whether the process has a file of that inode mapped, shared. */
int run_writer_maps(uint32_t pid, ino_t inode);
/* The run file that the process writes. 0, or -1 after one line on stderr. */
int run_writer_find(uint32_t pid, char *path, size_t size);

#endif
