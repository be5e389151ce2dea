/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a job that its processes made together while they ran (stint_job_report): a
 * smaller form of the view `ranks`, which is made of their run files.
 */
#ifndef STINT_REPORT_JOB_H
#define STINT_REPORT_JOB_H

#include "base/text.h"
#include "read/ranks.h"
#include "report_grid.h"

#define JOB_HOST_BYTES 64

/* A name over the processes that recorded it. Ranks in `wait` and `spread` are ranks of the job. */
struct job_name {
    const char *name;
    const char *set;       /* "": the default one */
    int role;              /* one that waits, or STINT_ROLE_NONE */
    struct rank_wait wait; /* of a waiting name; every name has a spread */
};

/* A waiting name that is shown. */
struct job_wait {
    uint32_t name;
    char host[JOB_HOST_BYTES]; /* of the last process */
};

struct job_summary {
    const char *program;
    uint32_t size; /* processes */
    const struct job_name *name;
    uint32_t name_count;
    const struct job_wait *wait;
    uint32_t wait_count;
    uint32_t waits_left_out; /* waiting names with shorter waits */
    uint64_t left_out;       /* names without room, and names that cannot be told apart */
};

/* A cell: the part of the cost that the last rank alone makes; "-" of two ranks, of which one is
 * always last. */
void grid_alone(struct report_grid *g, const struct rank_wait *wait);
/* 0, or -1 without memory. */
int report_job(struct text *out, const struct job_summary *job);

#endif
