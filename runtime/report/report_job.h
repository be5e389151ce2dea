/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The summary of a job that its processes made together while they ran (stint_job_report): a
 * smaller form of the view `ranks`, which is made of their run files.
 */
#ifndef STINT_REPORT_JOB_H
#define STINT_REPORT_JOB_H

#include "base/text.h"
#include "report_grid.h"

#define JOB_HOST_BYTES 64
#define RANK_NONE UINT32_MAX

/* A total over all ranks: one without calls of the name has 0. Scopes that wait are of the ranks
 * that have calls: the others need not be in the group that waits. */
struct rank_spread {
    uint32_t ranks; /* that have calls */
    u128 calls;     /* of all, as the next */
    u128 total_ns;
    uint64_t min_ns;
    uint64_t mean_ns;
    uint64_t median_ns; /* the lower one of two */
    uint64_t max_ns;
    uint64_t stddev_ns;
    uint32_t min_rank; /* index in struct ranks; of equal ones the first */
    uint32_t max_rank;
    /* How much less than the longest the others took, in all; and as a part of what that would be
     * if one rank did everything. */
    u128 lost_ns;
    uint32_t imbalance_ppm;
    u128 above_min_ns; /* how much more than the shortest the others took, in all */
};

/* A scope that waits, over all its calls or those of a window of steps. Ranks without calls of it
 * do not count. */
struct rank_wait {
    struct rank_spread spread;
    uint32_t late;     /* the rank that came last: index in struct ranks; RANK_NONE: not known */
    uint64_t late_ns;  /* its wait */
    uint32_t shortest; /* the rank that waits shortest, where a root has the time that its message
                           * takes. It is the late one, but for a root for which only some wait */
    u128 cost_ns;      /* how much longer the others wait, in all */
    uint32_t covered_ppm; /* of the cost, the part that would be gone if it came with the next */
    int calls_vary;       /* the ranks have different numbers of calls, */
    int calls_differ;     /* and these are not of the same steps: they cannot be compared */
    uint64_t calls;       /* of a rank; the most if they vary */
    /* A call's mean time from the arrival of the first, the second and the last but one rank to
     * that of the last. */
    uint64_t first_gap_ns;
    uint64_t second_gap_ns;
    uint64_t last_gap_ns;
};

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
