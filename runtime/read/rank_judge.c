/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the windows of a waiting scope: are ranks the cause of its cost, and which?
 * - Ranks are added to the set one by one: that one with which the costliest windows end, as if
 * those in the set had come with the last of the others. It has to be last more often than one of
 * these ranks is by chance: in all windows that cost something, or in those that cost at least as
 * much as the mean. The second look finds a rank that is late seldom but much. Which windows are
 * looked at depends on their cost alone, and not on which rank is last, so the test is honest.
 * - The limit of the binomial test is divided by the rows that are judged, the ranks that it may
 * name and the two looks.
 * - What the set covers is computed from the totals and from the windows; the larger one counts.
 * Totals average out noise, windows see ranks that are late at different times.
 * All processes of a job judge together with this code (job_reduce.c), so nothing here depends on
 * what only one of them knows.
 */
#include "rank_judge.h"

#include <stdio.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "stint/stint.h"

#define CHANCE_MOST 0.001 /* that any rank of any row is named by chance */
#define LOOKS 2
#define CAUSE_OF_VARYING 0.5
#define COST_PART 100 /* of the wall time, below which no cause is named */

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

int rank_cost_counts(uint64_t cost_ns, uint64_t wall_ns) {
    return cost_ns && cost_ns >= wall_ns / COST_PART;
}

static double sum_costs(const uint64_t *cost_ns, uint32_t windows) {
    double sum = 0;
    for (uint32_t i = 0; i < windows; ++i) {
        sum += (double)cost_ns[i];
    }
    return sum;
}

/* The mean cost of the windows that are compared. */
static double mean_cost(const struct rank_round *round) {
    double sum = 0;
    uint32_t compared = 0;
    for (uint32_t i = 0; i < round->windows; ++i) {
        if (round->last[i] != RANK_NONE) {
            sum += (double)round->cost_ns[i];
            ++compared;
        }
    }
    return compared ? sum / compared : 0;
}

/* The rank with which the windows end that cost the most in all; RANK_NONE: none cost anything. */
static uint32_t costliest_rank(const struct rank_round *round) {
    uint32_t best = RANK_NONE;
    double most = 0;
    for (uint32_t i = 0; i < round->windows; ++i) {
        double sum = 0;
        for (uint32_t j = i; j < round->windows && round->last[i] != RANK_NONE; ++j) {
            if (round->last[j] == round->last[i]) {
                sum += (double)round->cost_ns[j];
            }
        }
        if (sum > most) {
            most = sum;
            best = round->last[i];
        }
    }
    return best;
}

/* Whether it is last too often for one of so many ranks. */
static int is_last_often(const struct rank_round *round, uint32_t rank, uint32_t ranks,
                         double limit) {
    const double least[LOOKS] = {1, mean_cost(round)};
    for (int look = 0; look < LOOKS; ++look) {
        uint32_t windows = 0, last = 0;
        for (uint32_t i = 0; i < round->windows; ++i) {
            if (round->last[i] != RANK_NONE && (double)round->cost_ns[i] >= least[look] &&
                round->cost_ns[i]) {
                ++windows;
                last += round->last[i] == rank;
            }
        }
        if (binomial_tail(windows, last, 1.0 / ranks) < limit) {
            return 1;
        }
    }
    return 0;
}

static int is_in_set(const struct rank_verdict *v, uint32_t rank) {
    for (uint32_t i = 0; i < v->count; ++i) {
        if (v->rank[i] == rank) {
            return 1;
        }
    }
    return 0;
}

static void add_to_set(struct rank_verdict *v, uint32_t rank) {
    uint32_t at = v->count++;
    for (; at && v->rank[at - 1] > rank; --at) {
        v->rank[at] = v->rank[at - 1];
    }
    v->rank[at] = rank;
}

/* The part of the cost of the first round in whose windows one of the set was last. */
static double share_of_last(const struct rank_verdict *v, const struct rank_round *first) {
    double all = sum_costs(first->cost_ns, first->windows), sum = 0;
    for (uint32_t i = 0; i < first->windows; ++i) {
        if (is_in_set(v, first->last[i])) {
            sum += (double)first->cost_ns[i];
        }
    }
    return all > 0 ? sum / all : 0;
}

/* The part of the cost that is gone without the lateness of the set. */
static double share_covered(const struct rank_case *c, const struct rank_round *first,
                            const struct rank_round *now) {
    double all = sum_costs(first->cost_ns, first->windows), covered = 0;
    if (all > 0) {
        covered = 1 - sum_costs(now->left_ns, now->windows) / all;
    }
    double whole = 1 - (double)now->whole_left_ns / (double)u64_max(c->cost_ns, 1);
    return double_max(covered, whole);
}

/* Counts the windows that cost the mean or more; whether the set is last in half of their cost. */
static int is_last_in_half(struct rank_verdict *v, const struct rank_round *first) {
    double mean = mean_cost(first), all = 0, last = 0;
    v->windows = v->last = 0;
    for (uint32_t i = 0; i < first->windows; ++i) {
        if (first->last[i] == RANK_NONE || !first->cost_ns[i] || (double)first->cost_ns[i] < mean) {
            continue;
        }
        ++v->windows;
        all += (double)first->cost_ns[i];
        if (is_in_set(v, first->last[i])) {
            ++v->last;
            last += (double)first->cost_ns[i];
        }
    }
    return last >= all / 2;
}

/* The ranks of a set, at most: a third. Of ranks that call the scope differently often, as the ends
 * of a chain do, one: the others do not wait alike without it. */
static uint32_t largest_set(const struct rank_case *c) {
    uint32_t third = (c->ranks + 2) / 3;
    if (c->calls_vary) {
        return 1;
    }
    return third < RANK_SET_MOST ? third : RANK_SET_MOST;
}

static enum rank_why judge_rounds(struct rank_verdict *out, const struct rank_case *c,
                                  const struct rank_round *first, struct rank_round *now) {
    double covered = 0, enough = c->calls_vary ? CAUSE_OF_VARYING : RANK_CAUSE_PPM / 1e6;
    *now = *first;
    if (mean_cost(first) <= 0) {
        return RANK_WHY_CHANCE;
    }
    while (covered < enough) {
        uint32_t left = c->ranks - out->count, rank = costliest_rank(now);
        double limit = CHANCE_MOST / (double)u64_max(c->rows, 1) / LOOKS;
        if (out->count == largest_set(c)) {
            return RANK_WHY_SEVERAL;
        }
        if (c->root != RANK_NONE) {
            rank = c->root;
        } else {
            limit /= left;
        }
        if (rank == RANK_NONE || !is_last_often(now, rank, left, limit)) {
            return out->count ? RANK_WHY_SEVERAL : RANK_WHY_CHANCE;
        }
        add_to_set(out, rank);
        c->round(c->data, out, now);
        covered = share_covered(c, first, now);
        out->covered_ppm = (uint32_t)(double_max(covered, 0) * 1e6);
        if (c->ranks == 2 || c->root != RANK_NONE) {
            break;
        }
    }
    if (c->ranks == 2 || c->root != RANK_NONE) {
        covered = share_of_last(out, first);
        out->covered_ppm = (uint32_t)(covered * 1e6);
    }
    if (!rank_cost_counts((uint64_t)(covered * (double)c->cost_ns), c->wall_ns)) {
        return RANK_WHY_SMALL;
    }
    return is_last_in_half(out, first) ? RANK_WHY_CAUSE : RANK_WHY_CHANCE;
}

void rank_judge(struct rank_verdict *out, const struct rank_case *c, struct rank_round *rounds) {
    memset(out, 0, sizeof *out);
    out->why = c->why;
    if (!c->cost_ns && c->why != RANK_WHY_ROOT_UNKNOWN) {
        out->why = RANK_WHY_NO_COST;
    } else if (c->why == RANK_WHY_CAUSE && !rank_cost_counts(c->cost_ns, c->wall_ns)) {
        out->why = RANK_WHY_SMALL;
    }
    if (out->why == RANK_WHY_CAUSE) {
        c->round(c->data, out, &rounds[0]);
        out->why = judge_rounds(out, c, &rounds[0], &rounds[1]);
        out->least_ns = c->cost_ns / u64_max(c->ranks - out->count, 1) / RANK_EXCESS_PART;
    }
}

/* ---- Of a merged run. */

/* How long the room's ranks wait for the last one that is not in the set. */
static void room_without(const struct ranks_room *room, const struct rank_verdict *set,
                         uint32_t *last, uint64_t *cost_ns, uint64_t *left_ns) {
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
        *left_ns = saturating_add(*left_ns, more);
        if (!is_in_set(set, room->of[i])) {
            *cost_ns = saturating_add(*cost_ns, more);
        }
    }
}

struct windows_case {
    const struct rank_windows *windows;
    struct ranks_room *room;
    uint32_t name;
};

static void windows_round(void *data, const struct rank_verdict *set, struct rank_round *out) {
    const struct windows_case *c = data;
    const struct ranks_room *room = c->room;
    struct rank_wait wait;
    uint32_t last;
    uint64_t cost_ns;
    out->windows = c->windows->count;
    for (uint32_t i = 0; i < out->windows; ++i) {
        rank_windows_wait(&wait, c->windows, i, c->room);
        out->last[i] = wait.shortest;
        out->cost_ns[i] = out->left_ns[i] = wait.cost_ns;
        if (wait.calls_differ) {
            out->last[i] = RANK_NONE;
            out->cost_ns[i] = out->left_ns[i] = 0;
        } else if (room->role == STINT_ROLE_WAITING) {
            room_without(room, set, &out->last[i], &out->cost_ns[i], &out->left_ns[i]);
        }
    }
    ranks_collect(c->room, c->windows->ranks, c->name);
    room_without(room, set, &last, &cost_ns, &out->whole_left_ns);
}

static int has_compared(const struct rank_windows *w, struct ranks_room *room) {
    struct rank_wait wait;
    for (uint32_t i = 0; i < w->count; ++i) {
        rank_windows_wait(&wait, w, i, room);
        if (room->count && !wait.calls_differ) {
            return 1;
        }
    }
    return 0;
}

static enum rank_why find_why(const struct rank_windows *w, const struct rank_wait *wait,
                              struct ranks_room *room) {
    if (room->role == STINT_ROLE_ROOT_WAITING) {
        return RANK_WHY_ROOT_WAITS;
    }
    if (!ranks_room_knows_last(room)) {
        return RANK_WHY_ROOT_UNKNOWN;
    }
    if (!w->with) {
        return wait->calls_differ ? RANK_WHY_CALLS_DIFFER : RANK_WHY_NO_WINDOWS;
    }
    if (w->without) {
        return RANK_WHY_SOME_WINDOWS;
    }
    if (w->calls_differ || !has_compared(w, room)) {
        return RANK_WHY_CALLS_DIFFER;
    }
    return RANK_WHY_CAUSE;
}

uint32_t rank_rows_judged(const struct ranks *r, struct ranks_room *room) {
    struct rank_wait wait;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < r->name_count; ++i) {
        if (ranks_waiting_role(r, i)) {
            ranks_wait(&wait, r, i, room);
            rows += (uint32_t)rank_cost_counts(wait.cost_ns, ranks_wall_ns(r, room));
        }
    }
    return rows;
}

int rank_judge_name(struct rank_verdict *out, const struct ranks *r, uint32_t name, uint32_t rows,
                    struct ranks_room *room, struct scratch *memory) {
    struct scratch_mark before = scratch_mark(memory);
    struct rank_windows windows;
    struct rank_wait wait;
    struct windows_case data = {&windows, room, name};
    struct rank_round *rounds = scratch_array(memory, 2, sizeof *rounds);
    if (!rounds || rank_windows_read(&windows, r, name, room, memory)) {
        return -1;
    }
    ranks_wait(&wait, r, name, room);
    struct rank_case c = {.ranks = room->count,
                          .rows = rows,
                          .root = room->root,
                          .calls_vary = wait.calls_vary,
                          .wall_ns = ranks_wall_ns(r, room),
                          .cost_ns = wait.cost_ns,
                          .round = windows_round,
                          .data = &data};
    c.why = find_why(&windows, &wait, room);
    rank_judge(out, &c, rounds);
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

static int is_number_less(const void *what, uint32_t a, uint32_t b) {
    const uint32_t *number = what;
    return number[a] < number[b];
}

void rank_set_text(char out[RANK_SET_TEXT], const uint32_t *number, uint32_t count) {
    uint32_t places[RANK_SET_MOST], spare[RANK_SET_MOST];
    const uint32_t *of = order_in(places, spare, count, is_number_less, number);
    size_t at = (size_t)snprintf(out, RANK_SET_TEXT, count == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0, next; i < count && at < RANK_SET_TEXT - 30; i = next) {
        next = i + 1;
        while (next < count && number[of[next]] == number[of[next - 1]] + 1) {
            ++next;
        }
        at += (size_t)snprintf(out + at, RANK_SET_TEXT - at, "%s%u", i ? ", " : "", number[of[i]]);
        if (next - i > 1) {
            at += (size_t)snprintf(out + at, RANK_SET_TEXT - at, next - i > 2 ? "-%u" : ", %u",
                                   number[of[next - 1]]);
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
        rank_set_text(out, number, v->count);
        return;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < v->count && at + RANKS_LABEL < RANK_SET_TEXT - 2; ++i) {
        char label[RANKS_LABEL];
        ranks_label(label, r, v->rank[i]);
        at += (size_t)snprintf(out + at, RANK_SET_TEXT - at, "%s%s", i ? ", " : "", label);
    }
}
