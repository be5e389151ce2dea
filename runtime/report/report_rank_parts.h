/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between report_ranks.c and report_windows.c: cells that name a rank, and a scope's windows.
 */
#ifndef STINT_REPORT_RANK_PARTS_H
#define STINT_REPORT_RANK_PARTS_H

#include "read/ranks.h"
#include "report.h"
#include "report_grid.h"

#define RANK_NAME_COLUMNS 40u

/* "rank 3" and its host. */
void grid_rank(struct report_grid *g, const struct ranks *r, uint32_t rank);
void grid_rank_host(struct report_grid *g, const struct ranks *r, uint32_t rank);
/* A part of a million, in percent. */
void grid_ppm(struct report_grid *g, uint32_t ppm);

/* The windows of steps of a waiting scope; *put: one more if it has some. 0, or -1 without
 * memory. */
int report_rank_windows(const struct report *r, const struct ranks *ranks, struct ranks_room *room,
                        uint32_t name, uint32_t *put);

#endif
