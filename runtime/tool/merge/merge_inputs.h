/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a merge: those of the command line, and the run files in its folders, each once.
 */
#ifndef STINT_TOOL_MERGE_INPUTS_H
#define STINT_TOOL_MERGE_INPUTS_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/hash_map.h"
#include "base/scratch.h"

struct merge_input {
    const char *path;
    uint64_t start_ns; /* CLOCK_REALTIME; UINT64_MAX: its header cannot be read */
    uint64_t bytes;    /* that hold what it has */
    dev_t device;
    ino_t inode;
    uint32_t rank; /* + 1; 0 = not known */
    uint32_t pid;
    uint32_t clock_kind;
    char boot_id[40];
};

struct merge_inputs {
    struct scratch memory;
    struct hash_map known; /* hashes of device and inode to inputs */
    struct merge_input *input;
    uint32_t count;
    uint32_t room;
    uint32_t left_out; /* each was named in one line */
    struct stat out;   /* the file to write, if it exists */
    int has_out;
};

/* Takes files and folders for a merge into `out`. One that cannot be read, or that was given twice,
 * is left out after one line. 0; -1 after one line: an input is the file to write, no memory. Freed
 * in either case. */
int merge_inputs_take(struct merge_inputs *in, const char *out, int count, char **paths);
void merge_inputs_free(struct merge_inputs *in);
/* Counts and names one more that is left out. */
void merge_inputs_leave_out(struct merge_inputs *in, const char *path, const char *why);
/* The inputs in the order in which their runs began, which does not depend on the command line; in
 * the memory of `in`. NULL without memory. */
const uint32_t *merge_inputs_by_start(struct merge_inputs *in);
/* Whether not all runs are of one boot with one kind of clock. */
int merge_inputs_several_clocks(const struct merge_inputs *in);
/* The bytes that hold the contents of all. */
uint64_t merge_inputs_bytes(const struct merge_inputs *in);
/* The bytes that their merge may need besides: histograms of nodes that kept their samples, and the
 * numbers of each run for each name of all runs. At least as many as it needs, unless a run was
 * merged itself and its ranks lack many names of the others. */
uint64_t merge_inputs_growth(const struct merge_inputs *in);

#endif
