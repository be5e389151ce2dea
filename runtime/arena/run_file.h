/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run file: an arena that other processes can read while it is written and after its writer was
 * killed. It is made under a temporary name, laid out, and only then linked to the requested name:
 * no reader sees half a header. Space is reserved before it is used, so that a full disk fails a
 * request and raises no SIGBUS.
 *
 * A process that is killed between making the file and linking it leaves PATH.PID.N.tmp. No later
 * run removes it: it looks like one that is about to be linked.
 *
 * Under the registry's lock unless said otherwise.
 */
#ifndef STINT_RUN_FILE_H
#define STINT_RUN_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Zeroed memory of `bytes` bytes, shared with a new file under a temporary name; the first `ready`
 * bytes are reserved in the file, none is committed (pages_commit). NULL after one line that says
 * why; the run then goes on in memory, and run_file_at_exit() tells whether it is written at its
 * end. */
void *run_file_open(const char *pattern, size_t bytes, size_t ready);
/* Gives the file its name. If that is taken: another run's file whose writer has exited is
 * replaced; beside one that is being written, this one gets another name; any other file stays, and
 * this one is removed. One line for the last two. */
void run_file_publish(void);
/* Makes sure that everything below `end` is reserved. 0, or -1: no space. Any thread, and signal
 * handlers; no lock. */
int run_file_reserve(uint64_t end);
/* At the end of the program, while other threads go on. From run_file_cut_begin on, reservations of
 * other threads wait for run_file_cut, and those of signal handlers on this thread fail; -1: the
 * file stays as it is, because its descriptor was closed or is a low one. run_file_cut makes the
 * file as long as what is used, in whole pages: the space after it is given back. What is reserved
 * from then on makes the file longer again. run_file_give_back makes a hole of whole pages, where
 * no process may write any more. */
int run_file_cut_begin(void);
void run_file_cut(uint64_t used);
void run_file_give_back(uint64_t from, uint64_t end);
/* Whether the run has to be written at its end, because a file cannot be mapped
 * on its file system; and writes it. 0, or -1 after one line. */
int run_file_at_exit(void);
int run_file_save(const void *bytes, size_t length);
/* The child of a fork has no file. */
void run_file_forget(void);

/* ---- run_rival.c: what already has the name of a run file to be made: nothing, another run's
 * file, or another kind of file. */

enum rival {
    RIVAL_NONE,
    RIVAL_DEAD,   /* a run file whose writer has exited; locked for the caller */
    RIVAL_ALIVE,  /* a run file that is being written */
    RIVAL_FOREIGN /* anything else; errno says more, EEXIST: not a run file */
};

/* *fd: of RIVAL_DEAD, to be closed once the file is replaced; else -1. */
enum rival run_rival(const char *path, int *fd);

#endif
