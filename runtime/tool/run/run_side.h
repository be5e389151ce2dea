/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program for `stint ab`: in a process group of its own, with its output in a file and a
 * time limit. The caller has blocked the signals of run_side_block before.
 */
#ifndef STINT_TOOL_RUN_SIDE_H
#define STINT_TOOL_RUN_SIDE_H

#include <sys/types.h>

/* How a run ended. */
enum run_side_end {
    RUN_SIDE_GOOD,
    RUN_SIDE_NOT_RUN, /* `number` is an errno */
    RUN_SIDE_STATUS,  /* an exit status other than 0 */
    RUN_SIDE_SIGNAL,  /* which ended the program */
    RUN_SIDE_LATE,    /* it reached the time limit, and was killed */
    RUN_SIDE_STOPPED  /* this signal was sent to the tool; the program was ended */
};

struct run_side {
    char **argv;
    const char *output; /* the file for its standard output and error */
    double limit;       /* seconds */
    pid_t pid;          /* of the last run */
    enum run_side_end end;
    int number;
};

/* Blocks SIGCHLD and the signals that stop the tool; run_side_start waits for them. */
void run_side_block(void);
/* Runs it once and sets pid, end and number. */
void run_side_start(struct run_side *s);

#endif
