/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose file stands where a run file is to be: nobody's, another run's, or a stranger's.
 */
#ifndef STINT_RUN_RIVAL_H
#define STINT_RUN_RIVAL_H

enum rival {
    RIVAL_NONE,
    RIVAL_DEAD,    /* a run file whose writer is gone; locked for us, still under that name */
    RIVAL_ALIVE,   /* one that is being written */
    RIVAL_STRANGER /* anything else; errno says more, EEXIST: no run file */
};

/* *fd: of a dead one, to be closed once it is replaced; else -1. */
enum rival run_rival(const char *path, int *fd);
/* Marks the file as being written: the lock goes with the last descriptor of this open file, however
 * the process ends. 0, or -1: somebody else writes it. Where there are no locks, 0. */
int run_rival_lock(int fd);

#endif
