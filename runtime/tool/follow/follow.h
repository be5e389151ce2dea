/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beside running programs: writes their metrics once per interval.
 */
#ifndef STINT_TOOL_FOLLOW_H
#define STINT_TOOL_FOLLOW_H

#include "viewers/otlp.h"

enum follow_output {
    FOLLOW_LINES,  /* lines of OTLP, which are appended */
    FOLLOW_PAGE,   /* an HTML page of one run, which is replaced; with delta */
    FOLLOW_TEXT,   /* Prometheus text of all runs, which is replaced */
    FOLLOW_TABLES, /* tables of intervals for people, to standard output; with delta */
};

struct follow {
    char **names; /* of run files; patterns, too */
    int name_count;
    double interval; /* seconds */
    enum follow_output kind;
    struct otlp_form form;
    int delta;
    int each_thread;
    const char *output; /* NULL: standard output */
};

/* Until all runs have ended, if they are named, or until a signal. Returns an exit status, after
 * one line if it is not 0. */
int follow_runs(const struct follow *f);

#endif
