/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a merged run: which processes it is of, the share of each in each name, and how
 * evenly the work is spread over them. Untrusted input, as the rest of the file.
 */
#ifndef STINT_RANKS_H
#define STINT_RANKS_H

#include "arena/arena.h"
#include "snapshot.h"

/* In the snapshot's memory. */
struct ranks {
    const struct snapshot *snapshot;
    const struct arena_rank *rank;
    uint32_t count;
    const struct arena_rank_name *name;
    uint32_t name_count;
};

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

/* The tables of a snapshot. 0, or -1: it is not of a merged run, or they are damaged. */
int ranks_read(struct ranks *out, const struct snapshot *s);
/* The numbers of a rank for each name, of which the first *count have some. NULL: none. */
const struct arena_rank_cell *ranks_cells(const struct ranks *r, uint32_t rank, uint32_t *count);
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
#define RANKS_LABEL 64
void ranks_label(char out[RANKS_LABEL], const struct ranks *r, uint32_t rank);
/* A text of the tables; "" = none. */
const char *ranks_text(const struct ranks *r, uint32_t text);

#endif
