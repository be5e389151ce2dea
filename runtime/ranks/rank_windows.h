/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A waiting scope of a merged run by windows of steps, or of its own calls: which rank was last in
 * each, and what that cost. Windows of ranks with different widths are added up to the widest.
 * Untrusted input, as the rest of the file.
 */
#ifndef STINT_RANK_WINDOWS_H
#define STINT_RANK_WINDOWS_H

#include "ranks_wait.h"

struct arena_windows;

/* In the snapshot's memory. */
struct rank_windows {
    const struct ranks *ranks;
    const struct arena_windows **record; /* by rank; NULL: it has none */
    uint32_t *parts;                     /* by rank: calls of it in a step, as totals tell */
    uint64_t width;                      /* steps of a window, a power of two */
    uint64_t steps;                      /* of the rank that has the most */
    uint32_t count;                      /* windows, ARENA_WINDOWS at most; 0: no rank has any */
    uint32_t with;                       /* ranks that have some, */
    uint32_t without;                    /* and those that have the name only */
    int by_calls;                        /* a step is a call of each rank, or its `parts` calls */
    int calls_differ;                    /* these cannot be matched: there are no windows */
};

/* How often a rank was the last. */
struct rank_last {
    uint32_t windows;
    uint32_t alone; /* of these, those in which it was the only cause */
    u128 cost_ns;
    u128 alone_ns; /* what would be gone of that if it came with the next to last one */
};

struct rank_tally {
    struct rank_last *of; /* by rank */
    uint32_t *order;      /* the ranks that were last, the one that cost the most first */
    uint32_t ranks;       /* the length of that */
    uint32_t windows;     /* in which some waited for a rank */
    uint32_t differ;      /* in which the ranks have different numbers of calls: not compared */
    u128 cost_ns;
};

/* The windows of a name, by steps if all ranks have these for nine of ten calls, else by calls; the
 * role of the name is the room's from then on. 0, or -1 without memory. */
int rank_windows_read(struct rank_windows *out, const struct ranks *r, uint32_t name,
                      struct ranks_room *room, struct scratch *memory);
/* A record of a run or a rank, checked; NULL: there is none, or its writer was changing it. */
const struct arena_windows *rank_windows_at(const struct snapshot *s, uint32_t unit);
/* As ranks_wait, of a window. */
void rank_windows_wait(struct rank_wait *out, const struct rank_windows *w, uint32_t window,
                       struct ranks_room *room);
/* Counts the windows from `first` to before `end`. 0, or -1 without memory. */
int rank_windows_tally(struct rank_tally *out, const struct rank_windows *w, uint32_t first,
                       uint32_t end, struct ranks_room *room, struct scratch *memory);

#endif
