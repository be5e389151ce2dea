/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a job that its processes made together while they ran (stint_job_report): a
 * smaller form of the view `ranks`, which is made of their run files.
 */
#ifndef STINT_REPORT_JOB_H
#define STINT_REPORT_JOB_H

#include "base/text.h"
#include "read/rank_judge.h"

#define JOB_HOST_BYTES 64

/* A name over the processes that recorded it. Ranks in `wait` and `spread` are those of the job. */
struct job_name {
    const char *name;
    const char *set;       /* "": the default one */
    int role;              /* one that waits, or STINT_ROLE_NONE */
    struct rank_wait wait; /* of a waiting name; the spread is that of every name */
    uint64_t least_calls;  /* of a process that has it */
    uint64_t wall_ns;      /* of the processes that have it, in all; of a waiting name */
    uint64_t median_self_ns;
};

/* Which processes keep the others of a waiting name waiting, and why. `host` is that of the last
 * one. */
struct job_cause {
    uint32_t name; /* index of the waiting name */
    char host[JOB_HOST_BYTES];
    struct rank_verdict verdict;
    const uint64_t *self_ns; /* mean own time of the named processes, by name; then outside */
};

struct job_summary {
    const char *program;
    uint32_t size; /* processes */
    const struct job_name *name;
    uint32_t name_count;
    uint64_t median_outside_ns;
    const struct job_cause *cause;
    uint32_t cause_count;
    uint32_t causes_left_out; /* waiting names with shorter waits */
    uint64_t left_out;        /* names without room, and names that cannot be told apart */
};

/* 0, or -1 without memory. */
int report_job(struct text *out, const struct job_summary *job);

#endif
