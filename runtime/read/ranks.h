/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a merged run: which processes it is of, and the share of each in each name.
 * Untrusted input, as the rest of the file. What is computed of them is in the folder ranks, which
 * only the tool has; a program makes the same numbers by reductions (stint_job_report).
 */
#ifndef STINT_RANKS_H
#define STINT_RANKS_H

#include "arena/arena.h"
#include "snapshot.h"

#define RANK_NONE UINT32_MAX
#define RANKS_LABEL 64 /* room for the label of a rank: "rank 3" */

/* In the snapshot's memory. */
struct ranks {
    const struct snapshot *snapshot;
    const struct arena_rank *rank;
    uint32_t count;
    const struct arena_rank_name *name;
    uint32_t name_count;
};

/* The tables of a snapshot. 0, or -1: it is not of a merged run, or they are damaged. */
int ranks_read(struct ranks *out, const struct snapshot *s);
/* The numbers of a rank for each name, of which the first *count have some. NULL: none. */
const struct arena_rank_cell *ranks_cells(const struct ranks *r, uint32_t rank, uint32_t *count);
/* A text of the tables; "" = none. */
const char *ranks_text(const struct ranks *r, uint32_t text);

/* A total over all ranks: one without calls of the name has 0. Scopes that wait are of the ranks
 * that have calls: the others need not be in the group that waits. */
struct rank_spread {
    uint32_t ranks; /* that have calls */
    uint64_t calls; /* of all, as the next; UINT64_MAX: more than a number holds */
    uint64_t total_ns;
    uint64_t min_ns;
    uint64_t mean_ns;
    uint64_t median_ns; /* the lower one of two */
    uint64_t max_ns;
    uint64_t stddev_ns;
    uint32_t min_rank; /* index in struct ranks; of equal ones the first */
    uint32_t max_rank;
    /* How much less than the longest the others took, in all; and as a part of what that would be
     * if one rank did everything. */
    uint64_t lost_ns;
    uint32_t imbalance_ppm;
    uint64_t above_min_ns; /* how much more than the shortest the others took, in all */
};

/* A scope that waits, over all its calls or those of a window of steps. Ranks without calls of it
 * do not count. */
struct rank_wait {
    struct rank_spread spread;
    uint32_t late;     /* the rank that came last: index in struct ranks; RANK_NONE: not known */
    uint64_t late_ns;  /* its wait */
    uint32_t shortest; /* the rank that waits shortest, where a root has the time that its message
                           * takes. It is the late one, but for a root for which only some wait */
    uint64_t cost_ns;  /* how much longer the others wait, in all */
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

#endif
