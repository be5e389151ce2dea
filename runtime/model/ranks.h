/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a merged run: which processes it is of, and the share of each in each name.
 * Untrusted input, as the rest of the file. The tool computes what it shows of them in the folder
 * ranks.
 */
#ifndef STINT_RANKS_H
#define STINT_RANKS_H

#include "arena/arena.h"
#include "snapshot.h"

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

#endif
