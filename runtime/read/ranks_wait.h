/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank keeps the others waiting. The rank that waits shortest at a collective came last; what
 * the others wait longer than it does is the cost of its lateness.
 */
#ifndef STINT_RANKS_WAIT_H
#define STINT_RANKS_WAIT_H

#include "ranks.h"

/* A scope with the role waiting, over all its calls or those of a window of steps. Ranks without
 * calls of it do not count. */
struct rank_wait {
    struct rank_spread spread;
    uint32_t late;        /* the rank that waits shortest: index in struct ranks */
    uint64_t late_ns;     /* its wait */
    uint64_t cost_ns;     /* how much longer the others wait, in all */
    uint32_t covered_ppm; /* of the cost, the part that would be gone if it came with the next */
    int calls_differ;     /* the ranks have different numbers of calls: they cannot be compared */
    uint64_t calls;       /* of a rank; the most if they differ */
    /* A call's mean time from the arrival of the first, the second and the last but one rank to
     * that of the last. */
    uint64_t first_gap_ns;
    uint64_t second_gap_ns;
    uint64_t last_gap_ns;
};

/* The part of the cost that one rank has to cover to be its cause. */
#define RANK_CAUSE_PPM 800000u

/* Whether scopes of that name wait for others. */
int ranks_is_waiting(const struct ranks *r, uint32_t name);
/* From the numbers in the room; and from those of a name, which are then there. */
void ranks_wait_of(struct rank_wait *out, const struct ranks_room *room);
void ranks_wait(struct rank_wait *out, const struct ranks *r, uint32_t name,
                struct ranks_room *room);
/* Whether one rank is the cause. */
int ranks_wait_has_cause(const struct rank_wait *wait);
/* The scopes in which the late rank spends longer than the median rank, the largest difference
 * first; those of a twentieth of its lateness or more. */
#define RANK_EXCESS_MOST 5u
struct rank_excess {
    uint32_t name;
    uint64_t own_ns; /* the time in the scope itself */
    uint64_t by_ns;
};
struct rank_excesses {
    struct rank_excess of[RANK_EXCESS_MOST];
    uint32_t count;
};
/* 0, or -1 without memory. */
int ranks_excesses(struct rank_excesses *out, const struct ranks *r, const struct rank_wait *wait,
                   struct ranks_room *room, struct scratch *memory);

#endif
