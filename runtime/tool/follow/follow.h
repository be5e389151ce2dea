/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beside running programs: writes their metrics once per interval.
 */
#ifndef STINT_TOOL_FOLLOW_H
#define STINT_TOOL_FOLLOW_H

#include <stddef.h>
#include <sys/stat.h>

#include "base/text.h"
#include "export/tool/export_otlp.h"
#include "model/run.h"
#include "system/replace_file.h"

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
    int explicit_bounds; /* of OTLP */
    int delta;
    int each_thread;
    const char *output; /* NULL: standard output */
};

/* Until all runs have ended, if they are named, or until a signal. Returns an exit status, after
 * one line if it is not 0. */
int follow_runs(const struct follow *f);

/* ---- line_file.c: a file, or standard output, that whole lines are appended to. */

struct line_file {
    const char *path; /* NULL or "-": standard output */
    struct replace_file file;
    int over; /* it is a pipe or a terminal, and takes nothing any more */
};

/* Both return NULL, or why it failed, for a message "cannot write PATH: …". */
const char *line_file_open(struct line_file *f, const char *path);
/* The line ends in '\n'. After a failure nothing of it is in the file, and another call tries
 * again. */
const char *line_file_put(struct line_file *f, const char *line, size_t length);
void line_file_close(struct line_file *f);

/* ---- run_watch.c: the run files that a list of names and patterns stands for, while they
 * appear, grow, end and are replaced. */

struct watched {
    char *path;
    int fd; /* keeps a file that was removed or replaced readable to its end */
    dev_t device;
    ino_t inode;
    int listed;  /* a name has led to it at the last look */
    int refused; /* not 0, but as run_open: it cannot be read, as long as it is as it was: */
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
    size_t room;        /* bytes of `run` */
    const char *missed; /* why the last look missed files, or NULL */
    void (*free_state)(void *state);
};

/* Looks which files are there now. NULL, or why not all of them could be opened. */
const char *run_watch_look(struct run_watch *w);
/* Opens the run of a file. 0; 1: there is nothing new, because it had ended or could not be read,
 * and has not changed; else as run_open. The counts of a run that is not RUN_LIVE are final. */
int run_watch_open(struct watched *f, struct run *r);
/* All names are files, not patterns, and all of these are there or were missed, and have ended. */
int run_watch_all_ended(const struct run_watch *w);
void run_watch_free(struct run_watch *w);

/* ---- interval_report.c: the last interval of a run as a table: calls and percentiles of the
 * interval beside those since the run began. For `stint report --every`. */

/* 0, or -1 without memory. */
int interval_report_put(struct text *out, const struct metrics *run,
                        const struct metrics *interval);

#endif
