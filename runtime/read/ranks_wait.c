/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks_wait.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "base/role.h"
#include "stint/stint.h"

#define EXCESS_PART 20 /* a difference counts if it is this part of the rank's lateness */

int ranks_is_waiting(const struct ranks *r, uint32_t name) {
    return role_waits(r->snapshot->sites[r->name[name].site].role);
}

static void compare_calls(struct rank_wait *out, const struct ranks_room *room) {
    for (uint32_t i = 0; i < room->count; ++i) {
        uint64_t calls = room->calls[i];
        if (out->calls && calls != out->calls) {
            out->calls_differ = 1;
        }
        out->calls = u64_max(out->calls, calls);
    }
}

void ranks_wait_of(struct rank_wait *out, const struct ranks_room *room) {
    memset(out, 0, sizeof *out);
    const uint32_t *sorted = ranks_spread_of(&out->spread, room);
    compare_calls(out, room);
    uint32_t count = out->spread.ranks;
    if (count < 2) {
        return;
    }
    uint64_t late = out->spread.min_ns;
    uint64_t next = room->totals[sorted[1]], second = room->totals[sorted[count - 2]];
    out->late = out->spread.min_rank;
    out->late_ns = late;
    out->cost_ns = out->spread.above_min_ns;
    out->first_gap_ns = (out->spread.max_ns - late) / out->calls;
    out->second_gap_ns = (second - late) / out->calls;
    out->last_gap_ns = (next - late) / out->calls;
    if (out->cost_ns) {
        double alone = (double)(next - late) * (count - 1);
        out->covered_ppm = (uint32_t)double_min(alone * 1e6 / (double)out->cost_ns, 1e6);
    }
}

void ranks_wait(struct rank_wait *out, const struct ranks *r, uint32_t name,
                struct ranks_room *room) {
    ranks_collect(room, r, name);
    ranks_wait_of(out, room);
}

int ranks_wait_has_cause(const struct rank_wait *wait) {
    return !wait->calls_differ && wait->cost_ns && wait->covered_ppm >= RANK_CAUSE_PPM;
}

static int is_self_less(const void *what, uint32_t a, uint32_t b) {
    const uint64_t *self = what;
    return self[a] < self[b];
}

/* How much longer the own time of a name is in that rank than in the median rank; 0: it is not, or
 * the name waits. */
static uint64_t compute_excess(const struct ranks *r, uint32_t rank, uint32_t name,
                               const struct ranks_room *room) {
    uint64_t own = ranks_cell(r, rank, name).self_ns;
    if (!own || ranks_is_waiting(r, name)) {
        return 0;
    }
    for (uint32_t i = 0; i < r->count; ++i) {
        room->totals[i] = ranks_cell(r, i, name).self_ns;
    }
    const uint32_t *sorted =
        order_in(room->order, room->spare, r->count, is_self_less, room->totals);
    return saturating_subtract(own, room->totals[sorted[(r->count - 1) / 2]]);
}

static int is_excess_more(const void *what, uint32_t a, uint32_t b) {
    const uint64_t *excess = what;
    return excess[a] > excess[b];
}

int ranks_excesses(struct rank_excesses *out, const struct ranks *r, const struct rank_wait *wait,
                   struct ranks_room *room, struct scratch *memory) {
    struct scratch_mark before = scratch_mark(memory);
    uint64_t least = u64_max(wait->cost_ns / (wait->spread.ranks - 1) / EXCESS_PART, 1);
    uint64_t *excess = scratch_array(memory, (size_t)r->name_count + 1, sizeof *excess);
    const uint32_t *order = NULL;
    out->count = 0;
    for (uint32_t i = 0; excess && i < r->name_count; ++i) {
        excess[i] = compute_excess(r, wait->late, i, room);
    }
    if (excess) {
        order = order_by(memory, r->name_count, is_excess_more, excess);
    }
    for (uint32_t i = 0; order && i < r->name_count && i < RANK_EXCESS_MOST; ++i) {
        if (excess[order[i]] >= least) {
            out->of[out->count++] = (struct rank_excess){
                order[i], ranks_cell(r, wait->late, order[i]).self_ns, excess[order[i]]};
        }
    }
    scratch_release(memory, before);
    return order ? 0 : -1;
}
