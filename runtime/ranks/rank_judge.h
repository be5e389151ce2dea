/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether ranks are the cause of what a waiting scope costs, and which. The smallest set is looked
 * for that covers 80 % of the cost; each rank of it has to come last, of those that are not in it
 * yet, more often than by chance. Called by the report and the exports.
 */
#ifndef STINT_RANK_JUDGE_H
#define STINT_RANK_JUDGE_H

#include "rank_windows.h"

#define RANK_SET_MOST 16u

/* Why ranks are named or not. */
enum rank_why {
    RANK_WHY_CAUSE, /* they are */
    RANK_WHY_NO_COST,
    RANK_WHY_SMALL, /* less than 1 % of the wall time */
    RANK_WHY_CALLS_DIFFER,
    RANK_WHY_ROOT_WAITS,
    RANK_WHY_ROOT_UNKNOWN,
    RANK_WHY_NO_WINDOWS,
    RANK_WHY_SOME_WINDOWS, /* some ranks have none */
    RANK_WHY_CHANCE,       /* no rank is last more often than by chance */
    RANK_WHY_SEVERAL       /* those that are cover less than 80 % */
};

struct rank_verdict {
    enum rank_why why;
    uint32_t count;               /* ranks that are last more often than by chance */
    uint32_t rank[RANK_SET_MOST]; /* by their numbers, the smallest first */
    uint32_t covered_ppm;         /* of the cost, the part that would be gone without their
                                   * lateness; of two ranks, and of a root, the part of the windows
                                   * in which it was last */
    uint64_t least_ns;            /* a twentieth of the lateness of one of them */
};

/* The rows of a merged run that are large enough. */
uint32_t rank_rows_judged(const struct ranks *r, struct ranks_room *room);
/* Judges a row of a merged run. 0, or -1 without memory. */
int rank_judge_name(struct rank_verdict *out, const struct ranks *r, uint32_t name, uint32_t rows,
                    struct ranks_room *room, struct scratch *memory);
/* The reason in "no cause is named, REASON". */
const char *rank_why_text(enum rank_why why);
/* "rank 3", or "ranks 1, 5-8"; ranks without a number by their labels. */
#define RANK_SET_TEXT 200
void rank_verdict_text(char out[RANK_SET_TEXT], const struct ranks *r,
                       const struct rank_verdict *v);

#endif
