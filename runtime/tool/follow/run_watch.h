/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run files that a list of names and patterns stands for, while they appear, grow, end and are
 * replaced.
 */
#ifndef STINT_TOOL_RUN_WATCH_H
#define STINT_TOOL_RUN_WATCH_H

#include <sys/stat.h>

#include "read/run.h"

struct watched {
    char *path;
    int fd; /* keeps a file that was removed or replaced readable to its end */
    dev_t device;
    ino_t inode;
    int listed;  /* a name has led to it at the last look */
    int refused; /* it cannot be read, as long as it is as it was: */
    int ended;   /* its writer has; what was read since is final, as long as it is as it was: */
    struct timespec changed;
    off_t bytes;
    int warned;
    void *state; /* the caller's; freed by run_watch_free's function */
};

struct run_watch {
    char **names;
    int name_count;
    struct watched *run;
    uint32_t runs;
    size_t room; /* bytes of `run` */
    void (*free_state)(void *state);
};

/* Looks which files are there now. -1 without memory. */
int run_watch_look(struct run_watch *w);
/* Opens the run of a file. 0; 1: there is nothing new, because it had ended or could not be read,
 * and has not changed; -1 after one line. The counts of a run that is not RUN_LIVE are final. */
int run_watch_open(struct watched *f, struct run *r);
/* All names are files, not patterns, and all of these are there and have ended. */
int run_watch_all_ended(const struct run_watch *w);
void run_watch_free(struct run_watch *w);

#endif
