/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between report_ranks.c and report_windows.c: cells that name a rank, and a scope's windows.
 */
#ifndef STINT_REPORT_RANK_PARTS_H
#define STINT_REPORT_RANK_PARTS_H

#include "rank_judge.h"
#include "report/report.h"
#include "report/report_job.h"

#define RANK_NAME_COLUMNS 40u
#define RANK_SET_COLUMNS 60u

/* "rank 3" and its host. */
void grid_rank(struct report_grid *g, const struct ranks *r, uint32_t rank);
void grid_rank_host(struct report_grid *g, const struct ranks *r, uint32_t rank);
/* "NAME", or "NAME @SET" where several sets have the name. */
void report_rank_heading(struct text *out, const struct ranks *r, uint32_t name);

/* The end of that line: which ranks, named so, are the cause, or why none is. */
void report_rank_verdict(struct text *out, const struct rank_verdict *verdict, const char *named);

/* The windows of a waiting scope, if it has some. 0, or -1 without memory. */
int report_rank_windows(const struct report *r, const struct ranks *ranks, struct ranks_room *room,
                        uint32_t name);

#endif
