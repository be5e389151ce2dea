/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run files that a program and its children leave.
 */
#ifndef STINT_TOOL_RUN_FILES_H
#define STINT_TOOL_RUN_FILES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct run_place {
    char pattern[PATH_MAX]; /* for STINT_FILE */
    char folder[PATH_MAX];  /* made by run_place_make, "" = none */
    uint64_t since_ns;      /* CLOCK_REALTIME when it was made */
};

struct run_files {
    char **path; /* by time of their start */
    size_t count;
};

/* file: the pattern; NULL: a new folder in memory. 0, or -1 after one line. */
int run_place_make(struct run_place *out, const char *file);
/* Run files there that began since. 0, or -1 after one line. */
int run_files_list(struct run_files *out, const struct run_place *place);
/* The number of the process's file, or else 0. */
size_t run_files_of(const struct run_files *files, uint32_t pid);
/* A run file that began since and that is not where STINT_FILE was: in the working directory, or
 * where a word of the command sets STINT_FILE. 1; 0: none; -1 after one line. */
int run_files_stray(char out[PATH_MAX], char **argv, uint64_t since_ns);
/* Unless kept, removes the folder with what is in it. */
void run_place_leave(const struct run_place *place, const struct run_files *files, int kept);
void run_files_free(struct run_files *files);

#endif
