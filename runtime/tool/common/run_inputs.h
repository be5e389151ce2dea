/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run files of a command that reads several: from its command line and from its folders, each
 * once.
 */
#ifndef STINT_TOOL_RUN_INPUTS_H
#define STINT_TOOL_RUN_INPUTS_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/hash_map.h"
#include "base/scratch.h"
#include "model/run.h"

struct run_input {
    const char *path;
    uint64_t start_ns; /* CLOCK_REALTIME; UINT64_MAX: its header cannot be read */
    uint64_t bytes;    /* that hold what it has */
    dev_t device;
    ino_t inode;
    uint32_t rank; /* + 1; 0 = not known */
    uint32_t pid;
    uint32_t parent_pid;
    int is_helper; /* one of the others is the parent, and of the same rank (merge_inputs.c) */
    uint32_t clock_kind;
    char boot_id[40];
};

struct run_inputs {
    struct scratch memory;
    const char *command;   /* for messages */
    struct hash_map known; /* hashes of device and inode to inputs */
    struct run_input *input;
    uint32_t count;
    uint32_t room;
    uint32_t left_out; /* each was named in one line */
    struct stat out;   /* the file to write, if it exists */
    int has_out;
};

/* Whether the name has more than that end. */
int name_ends_in(const char *name, const char *suffix);
#define RUN_UNFINISHED ".tmp" /* the end of the name of a file that is being made */

/* Takes files and folders; `out` is the file to write, or NULL. One that cannot be read, or that
 * was given twice, is left out after one line. 0; -1 after one line: an input is the file to write,
 * or memory or descriptors are missing. Freed in either case. */
int run_inputs_take(struct run_inputs *in, const char *command, const char *out, int count,
                    char **paths);
void run_inputs_free(struct run_inputs *in);
/* Counts and names one more that is left out. */
void run_inputs_leave_out(struct run_inputs *in, const char *path, const char *why);
/* The inputs in the order in which their runs began, which does not depend on the command line; in
 * the memory of `in`. NULL without memory. */
const uint32_t *run_inputs_by_start(struct run_inputs *in);
/* Opens the run of an input. After one line RUN_REFUSED: it cannot be read, or a part of it is
 * missing; it is left out. RUN_SHORTAGE: a result without it would lack a good run. */
int run_inputs_open(struct run_inputs *in, struct run *r, const char *path);

#endif
