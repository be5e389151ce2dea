/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes how long the ranks wait for the one that comes last, over a run or a window of it, and
 * in which scopes ranks spend longer than the others. Called by the report, the exports and
 * rank_judge.c.
 */
#include "ranks_wait.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/number.h"
#include "base/order.h"
#include "base/role.h"
#include "stint/stint.h"

int ranks_waiting_role(const struct ranks *r, uint32_t name) {
    int role = r->snapshot->sites[r->name[name].site].role;
    return role_waits((uint32_t)role) ? role : STINT_ROLE_NONE;
}

uint64_t ranks_steps_of(const uint64_t *calls, uint32_t count) {
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < count; ++i) {
        least = u64_min(least, calls[i]);
        most = u64_max(most, calls[i]);
    }
    if (!count || least == most) {
        return most;
    }
    for (uint64_t part = 1; part <= RANK_PARTS_MOST; ++part) {
        uint64_t steps = least / part;
        int is_multiple = steps >= RANK_STEPS_LEAST && most / steps <= RANK_PARTS_MOST;
        for (uint32_t i = 0; is_multiple && i < count; ++i) {
            is_multiple = calls[i] % steps == 0;
        }
        if (is_multiple) {
            return steps;
        }
    }
    return 0;
}

static void compare_calls(struct rank_wait *out, const struct ranks_room *room) {
    for (uint32_t i = 0; i < room->count; ++i) {
        uint64_t calls = room->calls[i];
        if (out->calls && calls != out->calls) {
            out->calls_vary = 1;
        }
        out->calls = u64_max(out->calls, calls);
    }
    out->calls_differ = out->calls_vary;
}

/* A message takes so many transfers, one after the other, to reach all. */
static uint64_t count_transfers(uint32_t ranks) {
    uint64_t transfers = 1;
    while (transfers < 32 && 1u << transfers < ranks) {
        ++transfers;
    }
    return transfers;
}

/* The place of the root in the room; RANK_NONE: it is not there. */
static uint32_t find_root(const struct ranks_room *room) {
    for (uint32_t i = 0; i < room->count; ++i) {
        if (room->of[i] == room->root) {
            return i;
        }
    }
    return RANK_NONE;
}

/* The others wait for the root: what they wait longer than its message takes. */
static void wait_for_root(struct rank_wait *out, const struct ranks_room *room, uint32_t at) {
    uint64_t own = saturating_multiply(room->totals[at], count_transfers(room->count));
    uint64_t least = UINT64_MAX;
    uint32_t first = at;
    for (uint32_t i = 0; i < room->count; ++i) {
        if (i == at) {
            continue;
        }
        out->cost_ns += saturating_subtract(room->totals[i], own);
        if (room->totals[i] < least) {
            least = room->totals[i];
            first = i;
        }
    }
    out->shortest = room->of[least > own ? at : first];
    if (out->cost_ns) {
        out->late = room->root;
        out->late_ns = room->totals[at];
    }
}

/* The root waits for the others, most of which send and go on. */
static void root_waits(struct rank_wait *out, const struct ranks_room *room, uint32_t at) {
    uint64_t own = saturating_multiply(out->spread.median_ns, count_transfers(room->count));
    out->cost_ns = saturating_subtract(room->totals[at], own);
}

static void wait_of_last(struct rank_wait *out, const struct ranks_room *room,
                         const uint32_t *sorted) {
    uint32_t count = room->count;
    uint64_t late = out->spread.min_ns, calls = u64_max(out->calls, 1);
    uint64_t next = room->totals[sorted[1]], second = room->totals[sorted[count - 2]];
    out->late = out->shortest = out->spread.min_rank;
    out->late_ns = late;
    out->cost_ns = out->spread.above_min_ns;
    out->first_gap_ns = (out->spread.max_ns - late) / calls;
    out->second_gap_ns = (second - late) / calls;
    out->last_gap_ns = (next - late) / calls;
    if (out->cost_ns) {
        double alone = (double)(next - late) * (count - 1);
        out->covered_ppm = (uint32_t)double_min(alone * 1e6 / (double)out->cost_ns, 1e6);
    }
}

void ranks_wait_of(struct rank_wait *out, const struct ranks_room *room) {
    memset(out, 0, sizeof *out);
    out->late = out->shortest = RANK_NONE;
    const uint32_t *sorted = ranks_spread_of(&out->spread, room);
    compare_calls(out, room);
    uint32_t root = find_root(room);
    if (room->count < 2) {
        return;
    }
    if (room->role == STINT_ROLE_WAITING) {
        wait_of_last(out, room, sorted);
    } else if (root != RANK_NONE && room->role == STINT_ROLE_ROOT_WAITING) {
        root_waits(out, room, root);
    } else if (root != RANK_NONE) {
        wait_for_root(out, room, root);
    }
}

/* The number after ", root " at the end of the name of a set, + 1; 0: there is none. */
static uint32_t find_root_number(const char *set) {
    static const char before[] = ", root ";
    const char *found = NULL;
    for (const char *at = strstr(set, before); at; at = strstr(at + 1, before)) {
        found = at + sizeof before - 1;
    }
    uint64_t number = 0;
    if (!found || number_read_whole(found, 0, UINT32_MAX - 2, &number)) {
        return 0;
    }
    return (uint32_t)number + 1;
}

/* The rank of that number that has calls of the name; RANK_NONE: none has, or several have. */
static uint32_t find_number(const struct ranks *r, uint32_t name, uint32_t number) {
    uint32_t found = RANK_NONE;
    for (uint32_t i = 0; number && i < r->count; ++i) {
        if (r->rank[i].rank == number && ranks_cell(r, i, name).calls) {
            if (found != RANK_NONE) {
                return RANK_NONE;
            }
            found = i;
        }
    }
    return found;
}

void ranks_room_set_role(struct ranks_room *room, const struct ranks *r, uint32_t name) {
    room->role = ranks_waiting_role(r, name);
    room->root = RANK_NONE;
    if (room->role != STINT_ROLE_NONE && room->role != STINT_ROLE_WAITING) {
        const char *set = r->snapshot->sets[r->name[name].set];
        room->root = find_number(r, name, find_root_number(set));
    }
}

int ranks_room_knows_last(const struct ranks_room *room) {
    return room->role == STINT_ROLE_WAITING ||
           (room->role == STINT_ROLE_WAITING_FOR_ROOT && room->root != RANK_NONE);
}

void ranks_wait(struct rank_wait *out, const struct ranks *r, uint32_t name,
                struct ranks_room *room) {
    ranks_collect(room, r, name);
    ranks_room_set_role(room, r, name);
    ranks_wait_of(out, room);
    out->calls_differ = out->calls_vary && !ranks_steps_of(room->calls, room->count);
}

int ranks_wait_is_alone(const struct rank_wait *wait) {
    return !wait->calls_differ && wait->cost_ns && wait->spread.ranks > 2 &&
           wait->covered_ppm >= RANK_CAUSE_PPM;
}

static uint64_t rank_lasted_ns(const struct arena_rank *rank) {
    return saturating_subtract(rank->end_real_ns, rank->start_real_ns);
}

u128 ranks_wall_ns(const struct ranks *r, const struct ranks_room *room) {
    u128 sum = 0;
    for (uint32_t i = 0; i < room->count; ++i) {
        sum += rank_lasted_ns(&r->rank[room->of[i]]);
    }
    return sum;
}

/* ---- Scopes in which ranks spend longer. */

/* How much longer the mean of the named ranks is than the median of all, whose times are in
 * room->totals; *own: that mean. */
static uint64_t excess_over_median(const struct ranks *r, const uint32_t *named, uint32_t count,
                                   const struct ranks_room *room, uint64_t *own) {
    u128 sum = 0;
    for (uint32_t i = 0; i < count; ++i) {
        sum += room->totals[named[i]];
    }
    *own = (uint64_t)(sum / count);
    const uint32_t *sorted =
        order_in(room->order, room->spare, r->count, order_is_less, room->totals);
    return saturating_subtract(*own, room->totals[sorted[(r->count - 1) / 2]]);
}

/* The own time of a name by rank; 0 of a name that waits. */
static void put_own_times(const struct ranks *r, uint32_t name, const struct ranks_room *room) {
    for (uint32_t i = 0; i < r->count; ++i) {
        room->totals[i] = 0;
        if (!ranks_waiting_role(r, name)) {
            room->totals[i] = ranks_cell(r, i, name).self_ns;
        }
    }
}

/* Whether each rank has one thread: then the time outside of all scopes is known. */
static int have_one_thread(const struct ranks *r) {
    for (uint32_t i = 0; i < r->name_count; ++i) {
        uint64_t with = 0;
        for (uint32_t rank = 0; rank < r->count; ++rank) {
            with += ranks_cell(r, rank, i).calls != 0;
        }
        if (r->name[i].threads > with) {
            return 0;
        }
    }
    return 1;
}

/* The wall time of each rank but its scopes' own times. */
static void put_outside(const struct ranks *r, const struct ranks_room *room) {
    int is_known = have_one_thread(r);
    for (uint32_t i = 0; i < r->count; ++i) {
        uint32_t count;
        const struct arena_rank_cell *cells = ranks_cells(r, i, &count);
        u128 own = 0;
        for (uint32_t name = 0; name < count; ++name) {
            own += cells[name].self_ns;
        }
        room->totals[i] = 0;
        if (is_known) {
            room->totals[i] = (uint64_t)u128_subtract(rank_lasted_ns(&r->rank[i]), own);
        }
    }
}

static int is_excess_more(const void *what, uint32_t a, uint32_t b) {
    const uint64_t *excess = what;
    return excess[a] > excess[b];
}

int ranks_excesses(struct rank_excesses *out, const struct ranks *r, const uint32_t *named,
                   uint32_t count, uint64_t least_ns, struct ranks_room *room,
                   struct scratch *memory) {
    struct scratch_mark before = scratch_mark(memory);
    uint32_t names = r->name_count; /* and in the place after them what is outside */
    uint64_t *excess = scratch_array(memory, (size_t)names + 2, sizeof *excess);
    uint64_t *own = scratch_array(memory, (size_t)names + 2, sizeof *own);
    const uint32_t *order = NULL;
    out->count = 0;
    for (uint32_t i = 0; excess && own && i <= names; ++i) {
        if (i < names) {
            put_own_times(r, i, room);
        } else {
            put_outside(r, room);
        }
        excess[i] = excess_over_median(r, named, count, room, &own[i]);
    }
    if (excess && own) {
        order = order_by(memory, names + 1, is_excess_more, excess);
    }
    for (uint32_t i = 0; order && i <= names && i < RANK_EXCESS_MOST; ++i) {
        if (excess[order[i]] >= u64_max(least_ns, 1)) {
            uint32_t name = order[i] < names ? order[i] : RANK_NONE;
            out->of[out->count++] = (struct rank_excess){name, own[order[i]], excess[order[i]]};
        }
    }
    scratch_release(memory, before);
    return order ? 0 : -1;
}
