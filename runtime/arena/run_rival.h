/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has the name of a run file to be made: nothing, another run's file, or another kind of file.
 */
#ifndef STINT_RUN_RIVAL_H
#define STINT_RUN_RIVAL_H

enum rival {
    RIVAL_NONE,
    RIVAL_DEAD,   /* a run file whose writer has exited; locked for the caller */
    RIVAL_ALIVE,  /* a run file that is being written */
    RIVAL_FOREIGN /* anything else; errno says more, EEXIST: not a run file */
};

/* *fd: of RIVAL_DEAD, to be closed once the file is replaced; else -1. */
enum rival run_rival(const char *path, int *fd);
/* Marks the file as being written: the lock goes with the last descriptor of this open file, however
 * the process ends. 0, or -1: another process writes it. Where there are no locks, 0. */
int run_rival_lock(int fd);

#endif
