/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side-car of running programs: writes or sends their metrics once per interval, or answers
 * scrapes. Both return an exit status, after one line if it is not 0.
 */
#ifndef STINT_TOOL_FOLLOW_H
#define STINT_TOOL_FOLLOW_H

#include "viewers/otlp.h"

struct follow {
    char **names; /* of run files; patterns, too */
    int name_count;
    double interval; /* seconds */
    struct otlp_form form;
    int delta;
    int each_thread;
    const char *output; /* lines are appended; NULL: standard output */
    const char *post;   /* a URL, in place of the output; NULL: none */
    int page;           /* the output is replaced by an HTML page; one file, with delta */
    int report;         /* tables of intervals for people, in place of requests; with delta */
};

/* Until all runs have ended, if they are named, or until a signal. */
int follow_runs(const struct follow *f);

/* address: HOST:PORT or PORT, of this machine. Until a signal. */
int serve_runs(char **names, int name_count, const char *address);

/* Until the next interval begins or a signal ends the command, which is 1. */
int follow_wait(double seconds);
/* Signals that end the command from now on; waiting calls then return with EINTR. */
void follow_catch_signals(void);
int follow_is_over(void);

#endif
