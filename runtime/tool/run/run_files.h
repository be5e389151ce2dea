/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run files that a program and its children leave.
 */
#ifndef STINT_TOOL_RUN_FILES_H
#define STINT_TOOL_RUN_FILES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/text.h"
#include "range_interfaces.inc" /* enum range_interface, from gen/interfaces.ini */

struct run_place {
    char pattern[PATH_MAX]; /* for STINT_FILE */
    char folder[PATH_MAX];  /* made by run_place_make, "" = none */
    uint64_t since_ns;      /* CLOCK_REALTIME when it was made */
};

struct run_files {
    char **path; /* by time of their start */
    size_t count;
};

/* mkdtemp, with mode 0700 whatever the umask. 0, or -1. */
int run_folder_make(char *template);
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

/* ---- run_library.c: the shared libraries of stint that the command run has a program load. */

/* The path of lib<name>.so of the interface's number, which is installed or built with the tool.
 * 0, or -1 after one line. */
int run_library_find(char path[PATH_MAX], const char *name);
/* The same without a line. */
int run_library_seek(char path[PATH_MAX], const char *name);

/* Puts that library, or the one of that path, first in LD_PRELOAD. 0, or -1 after one line. */
int run_library_preload(const char *name);
int run_library_preload_path(const char *path);

/* ---- run_mpi.c: `stint run --mpi`: the library with timers for the functions of MPI is
 * preloaded. */

/* which: "openmpi", "mpich", the path of a library, or NULL: the MPI of the program, of the one
 * that the command starts, or of the launcher. 0, or -1 after one line; an unknown MPI is no
 * failure. */
int run_mpi_set(const char *which, char **command);

/* ---- run_ranges.c: `stint run --ranges`: the environment by which the instrumentation of
 * libraries finds libstint-ranges.so. */

/* The interfaces of a list, a bit each (1u << enum range_interface); NULL: all. 0: not such a
 * list. */
uint32_t run_ranges_parse(const char *list);

/* Sets the variables of these interfaces that are not set, with a line for each that is. 0, or -1
 * after one line. */
int run_ranges_set(uint32_t wanted);

/* One line if the program has OpenMP of GCC, which has no interface for tools. */
void run_ranges_check(const char *program);

/* One line: how many ranges each of these interfaces has delivered. */
void run_ranges_say(uint32_t wanted, const u128 count[RANGE_INTERFACES]);

/* ---- run_side.c: runs a program for `stint ab`: in a process group of its own, with a time limit;
 * its standard output and error are in memory. */

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
    double limit;       /* seconds */
    const char *output; /* for the caller: a file for `printed`, if the run is bad */
    int left_is_said;   /* for the caller */
    pid_t pid;          /* of the last run, and what follows */
    enum run_side_end end;
    int number;
    unsigned left;      /* processes that were killed because they ran on after its end */
    char left_name[32]; /* of the first of them, with a newline */
    /* On standard output and error: the first and the last 64 KiB, with a NUL after them, and
     * between them how much was left out. */
    struct text printed;
};

/* Blocks SIGCHLD and the signals that stop the tool; run_side_start waits for them. 0, or errno. */
int run_side_block(void);
/* Runs it once and sets the members from pid on. */
void run_side_start(struct run_side *s);

#endif
