/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of this process in a parallel job, as its launcher tells it in the environment.
 */
#ifndef STINT_LAUNCH_H
#define STINT_LAUNCH_H

#include <stdint.h>

#define LAUNCH_JOB_BYTES 64
#define LAUNCH_WRONG_BYTES 160
#define LAUNCH_PLACE_BYTES 128
#define LAUNCH_RANK_MAX (UINT32_MAX - 2) /* 0 and all ones have meanings of their own */

struct launch {
    int64_t rank;                   /* -1: outside a job */
    int64_t local;                  /* among the ranks of its host; -1: not known */
    uint32_t size;                  /* ranks of the job; 0: not known */
    char job[LAUNCH_JOB_BYTES];     /* its id; "": not known */
    char wrong[LAUNCH_WRONG_BYTES]; /* "", or a value that was not taken, as a line of the log */
};

/* Reads the environment. A variable with a value of another form counts as not set. */
void launch_read(struct launch *out);
/* "rank 3 of 64, local rank 1, job 17"; "" without a rank. size: 0 = not known; rank and local:
 * + 1, 0 = not known. */
void launch_place(char out[LAUNCH_PLACE_BYTES], uint32_t rank, uint32_t local, uint32_t size,
                  const char *job);

#endif
