/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which rank keeps the others waiting. The rank that waits shortest at a collective came last; what
 * the others wait longer than it does is the cost of its lateness. Where the ranks wait for one of
 * them, the root, only that one can be the cause; where the root waits for the others, its wait
 * does not say for which.
 */
#ifndef STINT_RANKS_WAIT_H
#define STINT_RANKS_WAIT_H

#include "rank_spread.h"

/* The part of the cost that ranks have to cover to be its cause. */
#define RANK_CAUSE_PPM 800000u
/* Ranks whose numbers of calls are 1 to 8 times one number, of 16 or more, have so many steps. */
#define RANK_PARTS_MOST 8u
#define RANK_STEPS_LEAST 16u

/* Whether scopes of that name wait for others, and in which way: a role, STINT_ROLE_NONE: not. */
int ranks_waiting_role(const struct ranks *r, uint32_t name);
/* From the numbers in the room; and from those of a name, which are then there. */
void ranks_wait_of(struct rank_wait *out, const struct ranks_room *room);
void ranks_wait(struct rank_wait *out, const struct ranks *r, uint32_t name,
                struct ranks_room *room);
/* The role and the root of a name, for what is put into the room from then on. */
void ranks_room_set_role(struct ranks_room *room, const struct ranks *r, uint32_t name);
/* Whether the row says which rank came last: neither one whose root waits nor an unknown root. */
int ranks_room_knows_last(const struct ranks_room *room);
/* The steps that the calls of all ranks are of, 0: there is no such number. */
uint64_t ranks_steps_of(const uint64_t *calls, uint32_t count);
/* Whether one rank of three or more is the cause. */
int ranks_wait_is_alone(const struct rank_wait *wait);

/* The scopes in which the named ranks spend longer than the median rank, the largest difference
 * first; those of a twentieth of the lateness or more. */
#define RANK_EXCESS_MOST 5u
#define RANK_EXCESS_PART 20u
struct rank_excess {
    uint32_t name;   /* RANK_NONE: outside all scopes */
    uint64_t own_ns; /* the mean time of a named rank in the scope itself */
    uint64_t by_ns;
};
struct rank_excesses {
    struct rank_excess of[RANK_EXCESS_MOST];
    uint32_t count;
};
#define RANK_OUTSIDE "outside scopes"
/* least_ns: of a difference. 0, or -1 without memory. */
int ranks_excesses(struct rank_excesses *out, const struct ranks *r, const uint32_t *named,
                   uint32_t count, uint64_t least_ns, struct ranks_room *room,
                   struct scratch *memory);
/* The wall time of all ranks that are in the room. */
u128 ranks_wall_ns(const struct ranks *r, const struct ranks_room *room);

#endif
