/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How evenly the time of a name is spread over the ranks of a merged run.
 */
#ifndef STINT_RANK_SPREAD_H
#define STINT_RANK_SPREAD_H

#include "model/ranks.h"
#include "report/report_job.h"

/* The numbers for a name; all 0 where the rank did not record it. */
struct arena_rank_cell ranks_cell(const struct ranks *r, uint32_t rank, uint32_t name);
/* Room for the numbers of all ranks, and those that were put into it. */
struct ranks_room {
    uint32_t count;
    uint64_t *totals;
    uint64_t *calls;
    uint32_t *of; /* rank of each total */
    uint32_t *order;
    uint32_t *spare;
    /* A scope that waits (ranks_wait.h) has a role, and maybe a root; RANK_NONE: not known. */
    int role;
    uint32_t root;
};
/* 0, or -1 without memory. */
int ranks_room_get(struct ranks_room *room, struct scratch *memory, const struct ranks *r);
void ranks_room_empty(struct ranks_room *room);
void ranks_room_put(struct ranks_room *room, uint32_t rank, uint64_t calls, uint64_t total_ns);
/* The numbers of a name, as a spread has them. */
void ranks_collect(struct ranks_room *room, const struct ranks *r, uint32_t name);
/* The spread of the totals; returns their order, the shortest first. */
const uint32_t *ranks_spread_of(struct rank_spread *out, const struct ranks_room *room);
/* The spread of each name, and the names in the order of lost time; in `memory`. 0, or -1
 * without. */
struct ranks_spreads {
    struct rank_spread *of;
    const uint32_t *order;
};
int ranks_spreads(struct ranks_spreads *out, const struct ranks *r, struct ranks_room *room,
                  struct scratch *memory);
/* "rank 3", or "HOST pid 12" of a process that has none. */
void ranks_label(char out[RANKS_LABEL], const struct ranks *r, uint32_t rank);

#endif
