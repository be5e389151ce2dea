/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arithmetic.h"
#include "base/log.h"
#include "base/text.h"
#include "merge.h"

static uint32_t hash_process(const struct arena_rank *rank, uint32_t pid) {
    uint64_t place = (uint64_t)rank->host << 32 | rank->job;
    return (uint32_t)hash_add(hash_number(place), (uint64_t)rank->rank << 32 | pid);
}

/* Processes have different numbers only at a time: the parent is the latest one of its number that
 * began before. An order in which each parent comes before its children has no circles. */
static int is_before(const struct merge_ranks *ranks, uint32_t a, uint32_t b) {
    const struct arena_rank *one = &ranks->rank[a], *other = &ranks->rank[b];
    if (one->start_real_ns != other->start_real_ns) {
        return one->start_real_ns < other->start_real_ns;
    }
    return a < b;
}

/* The process itself if its parent is not one of the same host, job and rank. */
static uint32_t find_parent(const struct merge_ranks *ranks, const struct hash_map *processes,
                            uint32_t of) {
    const struct arena_rank *child = &ranks->rank[of];
    struct hash_map_walk walk;
    uint32_t found = of;
    if (!child->rank) {
        return of;
    }
    uint32_t i = hash_map_first(processes, hash_process(child, child->parent_pid), &walk);
    for (; i != HASH_MAP_NONE; i = hash_map_next(processes, &walk)) {
        const struct arena_rank *rank = &ranks->rank[i];
        if (rank->pid == child->parent_pid && rank->rank == child->rank &&
            rank->host == child->host && rank->job == child->job && is_before(ranks, i, of) &&
            (found == of || is_before(ranks, found, i))) {
            found = i;
        }
    }
    return found;
}

/* Adds the numbers of a helper to those of its rank. */
static void fold_helper(struct merge *m, struct arena_rank *to, struct arena_rank *helper) {
    if (helper->cell_count > to->cell_count) { /* the longer table is the one that is kept */
        struct arena_rank had = *to;
        to->cells = helper->cells;
        to->cell_count = helper->cell_count;
        helper->cells = had.cells;
        helper->cell_count = had.cell_count;
    }
    struct arena_rank_cell *sum = merge_file_at(&m->file, to->cells);
    const struct arena_rank_cell *more = merge_file_at(&m->file, helper->cells);
    for (uint32_t i = 0; i < helper->cell_count; ++i) {
        sum[i].calls = saturating_add(sum[i].calls, more[i].calls);
        sum[i].total_ns = saturating_add(sum[i].total_ns, more[i].total_ns);
        sum[i].self_ns = saturating_add(sum[i].self_ns, more[i].self_ns);
    }
    to->end_real_ns = u64_max(to->end_real_ns, helper->end_real_ns);
    to->helpers = (uint32_t)u64_min(UINT32_MAX, (uint64_t)to->helpers + helper->helpers + 1);
}

int merge_ranks_fold(struct merge *m) {
    struct merge_ranks *ranks = &m->ranks;
    struct hash_map processes;
    uint32_t *parent = scratch_array(&m->memory, (size_t)ranks->count + 1, sizeof *parent);
    uint32_t kept = 0, folded = 0;
    if (!parent || hash_map_start(&processes, &m->memory, ranks->count)) {
        return -1;
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        if (hash_map_add(&processes, hash_process(&ranks->rank[i], ranks->rank[i].pid), i)) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        parent[i] = find_parent(ranks, &processes, i);
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        uint32_t root = i;
        while (parent[root] != root) {
            root = parent[root];
        }
        if (root != i) {
            fold_helper(m, &ranks->rank[root], &ranks->rank[i]);
            ++folded;
        }
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        if (parent[i] == i) {
            ranks->rank[kept++] = ranks->rank[i];
        }
    }
    ranks->count = kept;
    if (folded) {
        log_note("merge: %u file%s of processes that a rank started: they count as parts of it",
                 folded, text_plural(folded));
    }
    return 0;
}
