/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arithmetic.h"
#include "base/text.h"
#include "merge.h"
#include "system/log.h"

/* Processes have different numbers only at a time: the parent is the latest one of its number that
 * began before. In an order with each parent before its children there are no circles. */
static int is_before(const struct merge_process *p, uint32_t a, uint32_t b) {
    if (p[a].start_ns != p[b].start_ns) {
        return p[a].start_ns < p[b].start_ns;
    }
    return a < b;
}

static uint32_t find_parent(const struct merge_process *p, const struct hash_map *by_pid,
                            uint32_t child) {
    struct hash_map_walk walk;
    uint32_t found = child;
    if (!p[child].rank) {
        return child;
    }
    uint32_t i = hash_map_first(by_pid, p[child].parent_pid, &walk);
    for (; i != HASH_MAP_NONE; i = hash_map_next(by_pid, &walk)) {
        if (p[i].rank == p[child].rank && p[i].place == p[child].place && is_before(p, i, child) &&
            (found == child || is_before(p, found, i))) {
            found = i;
        }
    }
    return found;
}

uint32_t *merge_helpers_find(struct scratch *memory, const struct merge_process *p,
                             uint32_t count) {
    struct hash_map by_pid;
    uint32_t *of = scratch_array(memory, (size_t)count + 1, sizeof *of);
    if (!of || hash_map_start(&by_pid, memory, count)) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (hash_map_add(&by_pid, p[i].pid, i)) {
            return NULL;
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        of[i] = find_parent(p, &by_pid, i);
    }
    for (uint32_t i = 0; i < count; ++i) {
        while (of[of[i]] != of[i]) {
            of[i] = of[of[i]];
        }
    }
    return of;
}

struct merge_process merge_process_of(const struct arena_rank *r) {
    uint64_t place = (uint64_t)r->host << 32 | r->job;
    return (struct merge_process){r->start_real_ns, place, r->rank, r->pid, r->parent_pid};
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
        merge_cell_add(&sum[i], &more[i]);
    }
    to->end_real_ns = u64_max(to->end_real_ns, helper->end_real_ns);
    to->helpers = (uint32_t)u64_min(UINT32_MAX, (uint64_t)to->helpers + helper->helpers + 1);
}

int merge_ranks_fold(struct merge *m) {
    struct merge_ranks *ranks = &m->ranks;
    struct merge_process *p = scratch_array(&m->memory, (size_t)ranks->count + 1, sizeof *p);
    uint32_t kept = 0;
    for (uint32_t i = 0; p && i < ranks->count; ++i) {
        p[i] = merge_process_of(&ranks->rank[i]);
    }
    const uint32_t *of = p ? merge_helpers_find(&m->memory, p, ranks->count) : NULL;
    if (!of) {
        return -1;
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        if (of[i] != i) {
            fold_helper(m, &ranks->rank[of[i]], &ranks->rank[i]);
        }
    }
    for (uint32_t i = 0; i < ranks->count; ++i) {
        if (of[i] == i) {
            ranks->rank[kept++] = ranks->rank[i];
        }
    }
    uint32_t folded = ranks->count - kept;
    ranks->count = kept;
    if (folded) {
        log_note("merge: %u file%s of processes that a rank started: they count as parts of it",
                 folded, text_plural(folded));
    }
    return 0;
}
