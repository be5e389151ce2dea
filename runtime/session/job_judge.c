/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges together with the other processes of a job which of them keep the others waiting: the
 * rounds of rank_judge.c, each made by reductions. What is compared are the windows of this
 * process's own arena, which `stint merge --keep ranks` keeps as well. job_reduce.c calls.
 */
#include <string.h>

#include "base/arithmetic.h"
#include "job.h"
#include "stint/stint.h"

/* The windows of a name in this process, as all have agreed to compare them. */
struct job_case {
    struct job *j;
    const struct job_name *name;
    const struct arena_windows *own; /* NULL: this process does not have the name */
    uint64_t steps;                  /* that the calls are of; 0: they cannot be matched */
    uint32_t parts;                  /* calls of this process in a step */
    uint32_t root;
    uint32_t count;
    uint64_t width;
    uint64_t ns[ARENA_WINDOWS + 1];    /* JOB_NONE: none; the last one is the total */
    uint64_t least[ARENA_WINDOWS + 1]; /* the shortest of all */
    uint64_t last[ARENA_WINDOWS + 1];  /* whose that is */
    uint64_t sum[2 * (ARENA_WINDOWS + 1)];
    uint64_t differ[ARENA_WINDOWS + 1];
    struct rank_round rounds[2];
};

/* The most that a process may add to a sum of all, so that it stays below 2^63. */
static uint64_t limit_share(const struct job *j, uint64_t value) {
    return u64_min(value, (JOB_NONE - 1) / j->size);
}

/* As ranks_steps_of. */
static void agree_steps(struct job_case *c, uint64_t own_calls) {
    uint64_t fits[RANK_PARTS_MOST], least = c->name->least_calls, most = c->name->wait.calls;
    for (uint64_t part = 1; part <= RANK_PARTS_MOST; ++part) {
        uint64_t steps = least / part;
        fits[part - 1] = steps >= RANK_STEPS_LEAST && most / steps <= RANK_PARTS_MOST &&
                         (!own_calls || own_calls % steps == 0);
    }
    job_reduce(c->j, STINT_REDUCE_MIN, fits, RANK_PARTS_MOST);
    c->steps = least == most ? most : 0;
    for (uint64_t part = 1; part <= RANK_PARTS_MOST && !c->steps; ++part) {
        c->steps = fits[part - 1] ? least / part : 0;
    }
    c->parts = 1;
    if (own_calls && c->steps && own_calls / c->steps <= RANK_PARTS_MOST) {
        c->parts = (uint32_t)u64_max(own_calls / c->steps, 1);
    }
}

/* Which of its two kinds of windows all processes have. */
static enum rank_why agree_records(struct job_case *c, const struct job_row *own) {
    uint64_t all[3] = {1, 1, 1}, any = 0; /* steps that hold the calls, calls, steps */
    if (own) {
        any = own->windows[0] || own->windows[1];
        all[0] = own->windows[0] && rank_windows_hold(own->windows[0], own->calls);
        all[1] = own->windows[1] != NULL;
        all[2] = own->windows[0] != NULL;
    }
    job_reduce(c->j, STINT_REDUCE_MIN, all, 3);
    job_reduce(c->j, STINT_REDUCE_MAX, &any, 1);
    if (!all[0] && !all[1] && !all[2]) {
        if (any) {
            return RANK_WHY_SOME_WINDOWS;
        }
        return c->steps ? RANK_WHY_NO_WINDOWS : RANK_WHY_CALLS_DIFFER;
    }
    int by_calls = !all[0] && all[1];
    if (own) {
        c->own = own->windows[by_calls];
    }
    return by_calls && !c->steps ? RANK_WHY_CALLS_DIFFER : RANK_WHY_CAUSE;
}

/* A multiple of 1 to 8. */
#define PARTS_MULTIPLE 840u

/* In which windows the processes have different numbers of calls, and not those of the same steps.
 * least: the calls of this one. */
static void compare_windows(struct job_case *c) {
    for (uint32_t by_parts = 0; by_parts < 2; ++by_parts) {
        uint64_t each = by_parts ? PARTS_MULTIPLE / c->parts : 1;
        for (uint32_t i = 0; i < c->count; ++i) {
            uint64_t calls = u64_min(saturating_multiply(c->least[i], each), JOB_NONE - 1);
            c->sum[i] = calls ? calls : JOB_NONE;
            c->last[i] = calls;
        }
        job_reduce(c->j, STINT_REDUCE_MIN, c->sum, c->count);
        job_reduce(c->j, STINT_REDUCE_MAX, c->last, c->count);
        for (uint32_t i = 0; i < c->count; ++i) {
            c->differ[i] = (!by_parts || c->differ[i]) && c->last[i] != c->sum[i];
        }
    }
}

static void agree_windows(struct job_case *c, uint64_t total_ns) {
    uint64_t most[2] = {1, 0}; /* width, steps */
    if (c->own) {
        most[0] = rank_windows_width(c->own, c->parts);
        most[1] = rank_windows_steps(c->own, c->parts);
    }
    job_reduce(c->j, STINT_REDUCE_MAX, most, 2);
    c->width = u64_max(most[0], 1);
    c->count = rank_windows_count(most[1], &c->width);
    for (uint32_t i = 0; i < c->count; ++i) {
        uint64_t calls = 0;
        if (c->own) {
            rank_windows_sum(c->own, c->width, c->parts, i, c->j->ns_per_tick, &calls, &c->ns[i]);
        }
        c->ns[i] = calls ? limit_share(c->j, c->ns[i]) : JOB_NONE;
        c->least[i] = calls;
    }
    c->ns[c->count] = c->own ? limit_share(c->j, total_ns) : JOB_NONE;
    compare_windows(c);
}

static int is_mine_in(const struct job_case *c, const struct rank_verdict *set) {
    for (uint32_t i = 0; i < set->count; ++i) {
        if (set->rank[i] == c->j->rank) {
            return 1;
        }
    }
    return 0;
}

/* least: of the processes that are not in the set, or of a root what its message takes. */
static void find_last(struct job_case *c, int is_out) {
    uint32_t values = c->count + 1;
    for (uint32_t i = 0; i < values; ++i) {
        c->least[i] = is_out ? JOB_NONE : c->ns[i];
    }
    job_reduce(c->j, STINT_REDUCE_MIN, c->least, values);
    for (uint32_t i = 0; i < values; ++i) {
        int is_least = !is_out && c->ns[i] != JOB_NONE && c->ns[i] == c->least[i];
        c->last[i] = is_least ? c->j->rank : JOB_NONE;
    }
    job_reduce(c->j, STINT_REDUCE_MIN, c->last, values);
    if (c->root == RANK_NONE) {
        return;
    }
    for (uint32_t i = 0; i < values; ++i) {
        c->sum[i] = 0;
        if (c->root == c->j->rank && c->ns[i] != JOB_NONE) {
            c->sum[i] = c->ns[i];
        }
    }
    job_reduce(c->j, STINT_REDUCE_SUM, c->sum, values);
    for (uint32_t i = 0; i < values; ++i) {
        uint64_t takes =
            saturating_multiply(c->sum[i], ranks_root_transfers(c->name->wait.spread.ranks));
        if (c->least[i] > takes) {
            c->last[i] = c->root;
        }
        c->least[i] = takes;
    }
}

static void job_round(void *data, const struct rank_verdict *set, struct rank_round *out) {
    struct job_case *c = data;
    uint32_t values = c->count + 1;
    int is_out = is_mine_in(c, set) || c->root == c->j->rank;
    find_last(c, is_out);
    for (uint32_t i = 0; i < values; ++i) {
        uint64_t more = c->ns[i] == JOB_NONE ? 0 : saturating_subtract(c->ns[i], c->least[i]);
        c->sum[i] = is_out ? 0 : more;
        c->sum[values + i] = more;
    }
    job_reduce(c->j, STINT_REDUCE_SUM, c->sum, 2 * (size_t)values);
    out->windows = c->count;
    for (uint32_t i = 0; i < c->count; ++i) {
        out->last[i] = RANK_NONE;
        out->cost_ns[i] = out->left_ns[i] = 0;
        if (!c->differ[i] && c->last[i] != JOB_NONE) {
            out->last[i] = (uint32_t)c->last[i];
            out->cost_ns[i] = c->sum[i];
            out->left_ns[i] = c->sum[values + i];
        }
    }
    out->whole_left_ns = c->sum[values + c->count];
}

/* RANK_NONE: the name has no root. */
static uint32_t job_root(const struct job_name *name) {
    return name->role == STINT_ROLE_WAITING ? RANK_NONE : ranks_root_of(name->set) - 1;
}

/* The cost of rooted names, as ranks_wait has it. */
static void cost_rooted(struct job *j, uint64_t *sent) {
    for (uint32_t i = 0; i < j->name_count; ++i) {
        int is_root = j->own[i] && j->name[i].role && job_root(&j->name[i]) == j->rank;
        sent[i] = is_root ? limit_share(j, j->own[i]->total_ns) : 0;
    }
    job_reduce(j, STINT_REDUCE_SUM, sent, j->name_count);
    for (uint32_t i = 0; i < j->name_count; ++i) {
        struct job_name *name = &j->name[i];
        uint64_t transfers = ranks_root_transfers(name->wait.spread.ranks);
        uint64_t takes = saturating_multiply(sent[i], transfers);
        if (name->role == STINT_ROLE_ROOT_WAITING) {
            uint64_t most = saturating_multiply(name->wait.spread.median_ns, transfers);
            name->wait.cost_ns = saturating_subtract(sent[i], most);
        }
        sent[i] = 0;
        if (name->role == STINT_ROLE_WAITING_FOR_ROOT && job_root(name) != RANK_NONE && j->own[i] &&
            job_root(name) != j->rank) {
            sent[i] = limit_share(j, saturating_subtract(j->own[i]->total_ns, takes));
        }
    }
    job_reduce(j, STINT_REDUCE_SUM, sent, j->name_count);
    for (uint32_t i = 0; i < j->name_count; ++i) {
        if (j->name[i].role == STINT_ROLE_WAITING_FOR_ROOT) {
            j->name[i].wait.cost_ns = sent[i];
        }
    }
}

uint32_t job_judge_rows(struct job *j) {
    uint32_t rows = 0;
    uint64_t *sent = job_get(j, j->name_count, sizeof *sent);
    if (j->result) {
        return 0;
    }
    cost_rooted(j, sent);
    for (uint32_t i = 0; i < j->name_count; ++i) {
        sent[i] = j->own[i] ? limit_share(j, j->wall_ns) : 0;
    }
    job_reduce(j, STINT_REDUCE_SUM, sent, j->name_count);
    for (uint32_t i = 0; i < j->name_count; ++i) {
        j->name[i].wall_ns = sent[i];
        rows += j->name[i].role && rank_cost_counts(j->name[i].wait.cost_ns, sent[i]);
    }
    return rows;
}

static enum rank_why agree_case(struct job_case *c, uint32_t name) {
    const struct job_row *own = c->j->own[name];
    if (c->name->role == STINT_ROLE_ROOT_WAITING) {
        return RANK_WHY_ROOT_WAITS;
    }
    if (c->name->role == STINT_ROLE_WAITING_FOR_ROOT && c->root == RANK_NONE) {
        return RANK_WHY_ROOT_UNKNOWN;
    }
    agree_steps(c, own ? own->calls : 0);
    enum rank_why why = agree_records(c, own);
    if (why == RANK_WHY_CAUSE) {
        agree_windows(c, own ? own->total_ns : 0);
        uint32_t compared = 0;
        for (uint32_t i = 0; i < c->count; ++i) {
            compared += !c->differ[i];
        }
        why = compared ? why : RANK_WHY_CALLS_DIFFER;
    }
    return why;
}

void job_judge(struct job *j, struct job_cause *cause, uint32_t rows) {
    struct job_name *name = &j->name[cause->name];
    struct job_case *c = job_get(j, 1, sizeof *c);
    if (j->result) {
        return;
    }
    c->j = j;
    c->name = name;
    c->root = job_root(name);
    struct rank_case of = {.why = agree_case(c, cause->name),
                           .ranks = name->wait.spread.ranks,
                           .rows = rows,
                           .root = c->root,
                           .calls_vary = name->wait.calls_vary,
                           .wall_ns = name->wall_ns,
                           .cost_ns = name->wait.cost_ns,
                           .round = job_round,
                           .data = c};
    name->wait.calls_differ = of.why == RANK_WHY_CALLS_DIFFER;
    rank_judge(&cause->verdict, &of, c->rounds);
}
