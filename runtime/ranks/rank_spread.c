/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the spread of a total over ranks. Called by the report, the exports and ranks_wait.c.
 */
#include "rank_spread.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "base/role.h"
#include "model/deviation.h"

struct arena_rank_cell ranks_cell(const struct ranks *r, uint32_t rank, uint32_t name) {
    uint32_t count;
    const struct arena_rank_cell *cells = ranks_cells(r, rank, &count);
    if (name < count) {
        return cells[name];
    }
    return (struct arena_rank_cell){0};
}

int ranks_room_get(struct ranks_room *room, struct scratch *memory, const struct ranks *r) {
    size_t count = (size_t)r->count + 1;
    *room = (struct ranks_room){.root = RANK_NONE};
    room->totals = scratch_array(memory, count, sizeof *room->totals);
    room->of = scratch_array(memory, count, sizeof *room->of);
    room->order = scratch_array(memory, count, sizeof *room->order);
    room->spare = scratch_array(memory, count, sizeof *room->spare);
    room->calls = scratch_array(memory, count, sizeof *room->calls);
    return scratch_failed(memory) ? -1 : 0;
}

void ranks_room_empty(struct ranks_room *room) {
    room->count = 0;
}

void ranks_room_put(struct ranks_room *room, uint32_t rank, uint64_t calls, uint64_t total_ns) {
    room->calls[room->count] = calls;
    room->totals[room->count] = total_ns;
    room->of[room->count++] = rank;
}

void ranks_collect(struct ranks_room *room, const struct ranks *r, uint32_t name) {
    int waits = role_waits(r->snapshot->sites[r->name[name].site].role);
    ranks_room_empty(room);
    for (uint32_t i = 0; i < r->count; ++i) {
        struct arena_rank_cell cell = ranks_cell(r, i, name);
        if (cell.calls || !waits) {
            ranks_room_put(room, i, cell.calls, cell.total_ns);
        }
    }
}

const uint32_t *ranks_spread_of(struct rank_spread *out, const struct ranks_room *room) {
    uint32_t count = room->count;
    memset(out, 0, sizeof *out);
    if (!count) {
        return room->order;
    }
    const uint32_t *sorted = order_in(room->order, room->spare, count, order_is_less, room->totals);
    u128 sum = 0, calls = 0;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < count; ++i) {
        sum += room->totals[i];
        calls += room->calls[i];
        out->ranks += room->calls[i] != 0;
        if (room->totals[i] > room->totals[longest]) {
            longest = i;
        }
    }
    out->calls = calls;
    out->total_ns = sum;
    out->mean_ns = (uint64_t)(sum / count);
    out->median_ns = room->totals[sorted[(count - 1) / 2]];
    out->min_ns = room->totals[sorted[0]];
    out->max_ns = room->totals[longest];
    out->min_rank = room->of[sorted[0]];
    out->max_rank = room->of[longest];
    out->stddev_ns = deviation_exactly(room->totals, count);
    u128 lost = (u128)out->max_ns * count - sum;
    out->lost_ns = lost;
    if (count > 1 && out->max_ns) {
        double most = (double)out->max_ns * (count - 1);
        out->imbalance_ppm = (uint32_t)((double)lost / most * 1e6 + 0.5);
    }
    out->above_min_ns = sum - (u128)out->min_ns * count;
    return sorted;
}

static int is_lost_more(const void *what, uint32_t a, uint32_t b) {
    const struct rank_spread *spread = what;
    if (spread[a].lost_ns != spread[b].lost_ns) {
        return spread[a].lost_ns > spread[b].lost_ns;
    }
    return spread[a].total_ns > spread[b].total_ns;
}

/* Chooses the smallest number of the ranks with the shortest total: many have 0, and their order in
 * the file is that of a merge. */
static void choose_shortest(struct rank_spread *out, const struct ranks *r,
                            const struct ranks_room *room) {
    for (uint32_t i = 0; i < room->count; ++i) {
        const struct arena_rank *other = &r->rank[room->of[i]], *now = &r->rank[out->min_rank];
        int is_first = other->rank - 1 < now->rank - 1;
        if (other->rank == now->rank) {
            is_first = other->pid < now->pid;
        }
        if (room->totals[i] == out->min_ns && is_first) {
            out->min_rank = room->of[i];
        }
    }
}

int ranks_spreads(struct ranks_spreads *out, const struct ranks *r, struct ranks_room *room,
                  struct scratch *memory) {
    out->order = NULL;
    out->of = scratch_array(memory, (size_t)r->name_count + 1, sizeof *out->of);
    if (scratch_failed(memory)) {
        return -1;
    }
    for (uint32_t i = 0; i < r->name_count; ++i) {
        ranks_collect(room, r, i);
        ranks_spread_of(&out->of[i], room);
        choose_shortest(&out->of[i], r, room);
    }
    out->order = order_by(memory, r->name_count, is_lost_more, out->of);
    return out->order ? 0 : -1;
}

void ranks_label(char out[RANKS_LABEL], const struct ranks *r, uint32_t rank) {
    const struct arena_rank *of = &r->rank[rank];
    if (of->rank) {
        snprintf(out, RANKS_LABEL, "rank %u", of->rank - 1);
    } else {
        snprintf(out, RANKS_LABEL, "%.32s pid %u", ranks_text(r, of->host), of->pid);
    }
}
