/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job whose processes summarise their statistics together, between job_report.c, which reads and
 * prints, and job_reduce.c, which calls the program's reduce callback.
 *
 * Every process makes the same calls of the callback, with the same numbers of values. What could
 * differ between processes, as memory that is missing in one, is therefore agreed on by a reduction
 * before anything depends on it. No lock is held.
 */
#ifndef STINT_JOB_H
#define STINT_JOB_H

#include "base/api.h"
#include "base/scratch.h"
#include "report/report_job.h"

/* Names of all processes together; the memory for their numbers is about 300 bytes each. */
#define JOB_NAMES 16384u
/* In place of a number that a process does not have: above all others, and below 2^63. */
#define JOB_NONE ((uint64_t)INT64_MAX)
/* Waiting scopes that are shown, those with the longest waits. */
#define JOB_WAITS 8u

/* A statistic of this process. */
struct job_row {
    const char *key; /* name, NUL, set or "", NUL */
    uint32_t length; /* of the key */
    int role;        /* one that waits, or STINT_ROLE_NONE */
    int placed;      /* it has a place among the names of the job */
    uint64_t hash;
    uint64_t calls;
    uint64_t total_ns;
};

struct job {
    stint_reduce_fn reduce;
    void *data;
    uint32_t rank;
    uint32_t size;
    int result; /* not 0: the summary has failed, and nothing is reduced any more */
    struct scratch memory;
    struct job_row *row;
    uint32_t row_count;
    struct job_row **own;  /* by name; NULL: this process did not record it */
    struct job_name *name; /* the same in every process, as all that follows */
    uint32_t name_count;
    struct job_wait wait[JOB_WAITS];
    uint32_t wait_count;
    uint32_t waits_left_out;
    uint64_t left_out;
};

/* Agrees on the names and their numbers; host: of this process. Returns j->result. */
int job_reduce_all(struct job *j, const char *host);

#endif
