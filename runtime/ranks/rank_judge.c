/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the windows of a waiting scope: are ranks the cause of its cost, and which?
 * - Ranks are added to the set one by one: that one with which the costliest windows end, as if
 * those in the set had come with the last of the others. It has to be last more often than one of
 * these ranks is by chance, in the windows that cost half of the mean or more: so a rank is found
 * that is late seldom but much. Which windows are looked at depends on their cost alone, and not on
 * which rank is last, so the test is honest.
 * - The limit of the binomial test is divided by the rows that are judged and the ranks that it may
 * name.
 * - What the set covers is computed from the totals and from the windows; the larger one counts.
 * Totals average out noise, windows see ranks that are late at different times.
 */
#include "rank_judge.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "stint/stint.h"

#define CHANCE_MOST 0.001 /* that any rank of any row is named by chance */
#define COSTLY_PART 0.5   /* of the mean cost: that of windows that the test is made of */
#define CAUSE_OF_VARYING 0.5
#define COST_PART 100 /* of the wall time, below which no cause is named */

/* The windows without the lateness of some ranks: as if these came with the last of the others. */
struct rank_round {
    uint32_t windows;
    uint32_t compared;
    uint32_t last[ARENA_WINDOWS]; /* of the others; RANK_NONE: not compared */
    u128 cost_ns[ARENA_WINDOWS];  /* what the others wait longer than that one, in all */
    u128 left_ns[ARENA_WINDOWS];  /* the same of all ranks */
    u128 whole_left_ns;           /* of the whole run, by totals */
};

/* A row that is judged. */
struct rank_case {
    struct rank_windows windows;
    struct rank_wait wait;
    struct ranks_room *room;
    uint32_t name;
    uint32_t ranks;
    uint32_t rows; /* that are judged with it */
    u128 wall_ns;
    struct rank_round first, now;
};

/* The probability of `last` or more of so many windows at that chance each. */
static double binomial_tail(uint32_t windows, uint32_t last, double chance) {
    double term = 1, sum = 0;
    for (uint32_t i = 0; i < windows; ++i) {
        term *= 1 - chance;
    }
    for (uint32_t i = 0; i <= windows; ++i) {
        if (i >= last) {
            sum += term;
        }
        term *= (double)(windows - i) / (i + 1) * chance / (1 - chance);
    }
    return sum;
}

static int cost_counts(u128 cost_ns, u128 wall_ns) {
    return cost_ns && cost_ns >= wall_ns / COST_PART;
}

static double sum_costs(const u128 *cost_ns, uint32_t windows) {
    double sum = 0;
    for (uint32_t i = 0; i < windows; ++i) {
        sum += (double)cost_ns[i];
    }
    return sum;
}

static int is_in_set(const struct rank_verdict *v, uint32_t rank) {
    for (uint32_t i = 0; i < v->count; ++i) {
        if (v->rank[i] == rank) {
            return 1;
        }
    }
    return 0;
}

struct last_count {
    uint32_t windows; /* that cost enough, */
    uint32_t last;    /* and those of them in which one of the set is last */
    double cost_ns, last_ns;
};

/* least: the part of the mean cost that a window has to have. */
static struct last_count count_last(const struct rank_round *round, const struct rank_verdict *set,
                                    double least) {
    struct last_count count = {0, 0, 0, 0};
    least *= sum_costs(round->cost_ns, round->windows) / (double)u64_max(round->compared, 1);
    for (uint32_t i = 0; i < round->windows; ++i) {
        double cost = (double)round->cost_ns[i];
        if (cost > 0 && cost >= least) {
            int is_last = is_in_set(set, round->last[i]);
            ++count.windows;
            count.last += (uint32_t)is_last;
            count.cost_ns += cost;
            count.last_ns += is_last ? cost : 0;
        }
    }
    return count;
}

/* The rank with which the windows end that cost the most in all; RANK_NONE: none cost anything. */
static uint32_t costliest_rank(const struct rank_round *round) {
    uint32_t best = RANK_NONE;
    double most = 0;
    for (uint32_t i = 0; i < round->windows; ++i) {
        const struct rank_verdict one = {.count = 1, .rank = {round->last[i]}};
        double sum = count_last(round, &one, 0).last_ns;
        if (sum > most) {
            most = sum;
            best = round->last[i];
        }
    }
    return best;
}

static void add_to_set(struct rank_verdict *v, const struct ranks *r, uint32_t rank) {
    uint32_t at = v->count++;
    for (; at && r->rank[v->rank[at - 1]].rank > r->rank[rank].rank; --at) {
        v->rank[at] = v->rank[at - 1];
    }
    v->rank[at] = rank;
}

/* The part of the cost that is gone without the lateness of the set; of two ranks, and of a root,
 * the part of the windows in which it is last. */
static double share_covered(const struct rank_case *c, const struct rank_verdict *v) {
    struct last_count last = count_last(&c->first, v, 0);
    if (c->ranks == 2 || c->room->root != RANK_NONE) {
        return last.last_ns / last.cost_ns;
    }
    double windows = 1 - sum_costs(c->now.left_ns, c->now.windows) / last.cost_ns;
    double whole = 1 - (double)c->now.whole_left_ns / (double)c->wait.cost_ns;
    return double_max(double_max(windows, whole), 0);
}

/* The ranks of a set, at most: a third. Of ranks that call the scope differently often, as the ends
 * of a chain do, one: the others do not wait alike without it. */
static uint32_t largest_set(const struct rank_case *c) {
    if (c->wait.calls_vary) {
        return 1;
    }
    return (uint32_t)u64_min((c->ranks + 2) / 3, RANK_SET_MOST);
}

/* How long the room's ranks wait for the last one that is not in the set. */
static void room_without(const struct ranks_room *room, const struct rank_verdict *set,
                         uint32_t *last, u128 *cost_ns, u128 *left_ns) {
    uint64_t least = UINT64_MAX;
    *last = RANK_NONE;
    *cost_ns = *left_ns = 0;
    for (uint32_t i = 0; i < room->count; ++i) {
        if (room->totals[i] < least && !is_in_set(set, room->of[i])) {
            least = room->totals[i];
            *last = room->of[i];
        }
    }
    for (uint32_t i = 0; i < room->count; ++i) {
        uint64_t more = saturating_subtract(room->totals[i], least);
        *left_ns += more;
        if (!is_in_set(set, room->of[i])) {
            *cost_ns += more;
        }
    }
}

static void make_round(const struct rank_case *c, const struct rank_verdict *set,
                       struct rank_round *out) {
    const struct ranks_room *room = c->room;
    struct rank_wait wait;
    uint32_t last;
    u128 cost_ns;
    out->windows = c->windows.count;
    out->compared = 0;
    for (uint32_t i = 0; i < out->windows; ++i) {
        rank_windows_wait(&wait, &c->windows, i, c->room);
        out->last[i] = RANK_NONE;
        out->cost_ns[i] = out->left_ns[i] = 0;
        if (wait.calls_differ || !room->count) {
            continue;
        }
        ++out->compared;
        if (room->role == STINT_ROLE_WAITING) {
            room_without(room, set, &out->last[i], &out->cost_ns[i], &out->left_ns[i]);
        } else {
            out->last[i] = wait.shortest;
            out->cost_ns[i] = wait.cost_ns;
        }
    }
    ranks_collect(c->room, c->windows.ranks, c->name);
    room_without(room, set, &last, &cost_ns, &out->whole_left_ns);
}

static enum rank_why judge_rounds(struct rank_verdict *out, struct rank_case *c) {
    double covered = 0, enough = c->wait.calls_vary ? CAUSE_OF_VARYING : RANK_CAUSE_PPM / 1e6;
    int is_known = c->ranks == 2 || c->room->root != RANK_NONE;
    c->now = c->first;
    do {
        uint32_t left = c->ranks - out->count;
        double limit = CHANCE_MOST / (double)u64_max(c->rows, 1);
        struct rank_verdict one = {.count = 1, .rank = {c->room->root}};
        if (out->count == largest_set(c)) {
            return RANK_WHY_SEVERAL;
        }
        if (c->room->root == RANK_NONE) {
            one.rank[0] = costliest_rank(&c->now);
            limit /= left;
        }
        struct last_count last = count_last(&c->now, &one, COSTLY_PART);
        if (!last.last || binomial_tail(last.windows, last.last, 1.0 / left) >= limit) {
            return out->count ? RANK_WHY_SEVERAL : RANK_WHY_CHANCE;
        }
        add_to_set(out, c->windows.ranks, one.rank[0]);
        make_round(c, out, &c->now);
        covered = share_covered(c, out);
        out->covered_ppm = (uint32_t)(covered * 1e6);
    } while (covered < enough && !is_known);
    if (!cost_counts((u128)(covered * (double)c->wait.cost_ns), c->wall_ns)) {
        return RANK_WHY_SMALL;
    }
    struct last_count last = count_last(&c->first, out, 0);
    return last.last_ns >= last.cost_ns / 2 ? RANK_WHY_CAUSE : RANK_WHY_CHANCE;
}

/* Why the row cannot be judged; RANK_WHY_CAUSE: it can. */
static enum rank_why find_why(struct rank_case *c) {
    const struct rank_windows *w = &c->windows;
    const struct rank_wait *wait = &c->wait;
    if (c->room->role == STINT_ROLE_WAITING_FOR_ROOT && c->room->root == RANK_NONE) {
        return RANK_WHY_ROOT_UNKNOWN;
    }
    if (!wait->cost_ns) {
        return RANK_WHY_NO_COST;
    }
    if (c->room->role == STINT_ROLE_ROOT_WAITING) {
        return RANK_WHY_ROOT_WAITS;
    }
    if (!w->with) {
        return wait->calls_differ ? RANK_WHY_CALLS_DIFFER : RANK_WHY_NO_WINDOWS;
    }
    if (w->without) {
        return RANK_WHY_SOME_WINDOWS;
    }
    if (w->calls_differ) {
        return RANK_WHY_CALLS_DIFFER;
    }
    if (!cost_counts(wait->cost_ns, c->wall_ns)) {
        return RANK_WHY_SMALL;
    }
    make_round(c, &(struct rank_verdict){.count = 0}, &c->first);
    return c->first.compared ? RANK_WHY_CAUSE : RANK_WHY_CALLS_DIFFER;
}

uint32_t rank_rows_judged(const struct ranks *r, struct ranks_room *room) {
    struct rank_wait wait;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < r->name_count; ++i) {
        if (ranks_waiting_role(r, i)) {
            ranks_wait(&wait, r, i, room);
            rows += (uint32_t)cost_counts(wait.cost_ns, ranks_wall_ns(r, room));
        }
    }
    return rows;
}

int rank_judge_name(struct rank_verdict *out, const struct ranks *r, uint32_t name, uint32_t rows,
                    struct ranks_room *room, struct scratch *memory) {
    struct scratch_mark before = scratch_mark(memory);
    struct rank_case *c = scratch_get(memory, sizeof *c);
    memset(out, 0, sizeof *out);
    if (!c || rank_windows_read(&c->windows, r, name, room, memory)) {
        return -1;
    }
    ranks_wait(&c->wait, r, name, room);
    c->room = room;
    c->name = name;
    c->ranks = room->count;
    c->rows = rows;
    c->wall_ns = ranks_wall_ns(r, room);
    out->why = find_why(c);
    if (out->why == RANK_WHY_CAUSE) {
        out->why = judge_rounds(out, c);
        u128 each_ns = c->wait.cost_ns / u64_max(c->ranks - out->count, 1);
        out->least_ns = u128_narrow(each_ns / RANK_EXCESS_PART);
    }
    scratch_release(memory, before);
    return 0;
}

/* ---- Texts. */

const char *rank_why_text(enum rank_why why) {
    static const char *const texts[] = {
        [RANK_WHY_SMALL] = "the cost is below 1 % of the wall time",
        [RANK_WHY_CALLS_DIFFER] = "the ranks have different numbers of calls",
        [RANK_WHY_ROOT_WAITS] = "only the root waits, which does not tell for which rank",
        [RANK_WHY_ROOT_UNKNOWN] = "it is not known which rank is the root",
        [RANK_WHY_NO_WINDOWS] = "there are no windows of steps or calls to tell it from chance",
        [RANK_WHY_SOME_WINDOWS] = "some ranks have no windows of steps or calls",
        [RANK_WHY_CHANCE] = "no rank is last more often than by chance",
        [RANK_WHY_SEVERAL] = "the ranks that are late cover less than 80 % of the cost"};
    return why < sizeof texts / sizeof *texts && texts[why] ? texts[why] : "";
}

static void put_numbers(char out[RANK_SET_TEXT], const uint32_t *number, uint32_t count) {
    size_t at = (size_t)snprintf(out, RANK_SET_TEXT, count == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0, next; i < count && at < RANK_SET_TEXT - 30; i = next) {
        next = i + 1;
        while (next < count && number[next] == number[next - 1] + 1) {
            ++next;
        }
        at += (size_t)snprintf(out + at, RANK_SET_TEXT - at, "%s%u", i ? ", " : "", number[i]);
        if (next - i > 1) {
            at += (size_t)snprintf(out + at, RANK_SET_TEXT - at, next - i > 2 ? "-%u" : ", %u",
                                   number[next - 1]);
        }
    }
}

void rank_verdict_text(char out[RANK_SET_TEXT], const struct ranks *r,
                       const struct rank_verdict *v) {
    uint32_t number[RANK_SET_MOST];
    int numbered = 1;
    for (uint32_t i = 0; i < v->count; ++i) {
        number[i] = r->rank[v->rank[i]].rank - 1;
        numbered &= r->rank[v->rank[i]].rank != 0;
    }
    if (numbered) {
        put_numbers(out, number, v->count);
        return;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < v->count && at + RANKS_LABEL < RANK_SET_TEXT - 2; ++i) {
        char label[RANKS_LABEL];
        ranks_label(label, r, v->rank[i]);
        at += (size_t)snprintf(out + at, RANK_SET_TEXT - at, "%s%s", i ? ", " : "", label);
    }
}
