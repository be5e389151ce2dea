/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes series of runs and finds their changes. cmd_trend.c calls trend_read for each file, then
 * trend_arrange and trend_judge. The runs are put in order by their start, and by their paths where
 * that is equal, so the order of the files on the command line does not matter.
 * - A series is the time that a run spends in a scope itself (self time): a change of a scope is
 *   then not shown again for those that enclose it, and what one scope lost and another gained can
 *   be compared.
 * - Over all series, a share of 1 % of false findings is accepted (Benjamini and Hochberg).
 */
#include "trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/log.h"
#include "base/name.h"
#include "base/order.h"

#define WALL UINT32_MAX
#define MOVE_NEAR 2u    /* points between the two changes of a move, at most */
#define MOVE_ALIKE 0.25 /* what one lost and the other gained differ by, at most */
#define MOVES 64u

int trend_start(struct trend *t, uint32_t runs) {
    memset(t, 0, sizeof *t);
    if (diff_start(&t->d, runs, 1)) {
        return -1;
    }
    t->d.brief = 1;
    return 0;
}

void trend_end(struct trend *t) {
    diff_end(&t->d);
}

static const struct diff_run *run_of(const struct trend *t, uint32_t place) {
    return &t->d.run[0][t->order[place]];
}

int trend_read(struct trend *t, const char *path) {
    struct diff_run *run = &t->d.run[0][t->files];
    int status = diff_read(&t->d, 0, t->files, path);
    ++t->files; /* also of a run that is left out: its scopes may have values there */
    if (status) {
        run->left_out = 1;
    } else if (!run->ended) {
        log_warning("trend: %.500s: its program has not ended, or was killed: left out", path);
        run->left_out = 1;
    } else if (!run->scopes) {
        log_warning("trend: %.500s: no scope was recorded: left out", path);
        run->left_out = 1;
    }
    t->runs += !run->left_out;
    return run->left_out ? -1 : 0;
}

/* ---- The order. */

static int run_is_earlier(const void *what, uint32_t a, uint32_t b) {
    const struct trend *t = what;
    const struct diff_run *x = &t->d.run[0][a], *y = &t->d.run[0][b];
    if (x->left_out || y->left_out) { /* which may have no path */
        return !x->left_out && y->left_out;
    }
    if (x->start_ns != y->start_ns) {
        return x->start_ns < y->start_ns;
    }
    return strcmp(x->path, y->path) < 0;
}

static int is_same_run(const struct diff_run *a, const struct diff_run *b) {
    return a->start_ns == b->start_ns && a->start_ticks == b->start_ticks && a->pid == b->pid &&
           !strcmp(a->host, b->host);
}

/* Leaves out files of a run that is there already, and says so. Equal times are next to each
 * other. */
static void drop_copies(struct trend *t) {
    uint32_t kept = 0, equal = 0;
    for (uint32_t i = 0; i < t->runs; ++i) {
        uint32_t k = kept;
        while (k && run_of(t, k - 1)->start_ns == run_of(t, i)->start_ns &&
               !is_same_run(run_of(t, k - 1), run_of(t, i))) {
            --k;
        }
        if (k && is_same_run(run_of(t, k - 1), run_of(t, i))) {
            log_warning("trend: %.400s is the same run as %.400s: left out", run_of(t, i)->path,
                        run_of(t, k - 1)->path);
            continue;
        }
        equal += kept && run_of(t, kept - 1)->start_ns == run_of(t, i)->start_ns;
        t->order[kept++] = t->order[i];
    }
    t->runs = kept;
    if (equal) {
        log_warning(
            "trend: %u run%s began at the same time as another one: they are in the order of "
            "their paths",
            equal, text_plural(equal));
    }
}

static int is_same_machine(const struct diff_run *a, const struct diff_run *b) {
    return a->cpus == b->cpus && !strcmp(a->cpu, b->cpu);
}

/* 0, or -1 after one line. */
static int check_machines(const struct trend *t) {
    const struct diff_run *first = run_of(t, 0), *other = NULL;
    uint32_t alike = 0;
    for (uint32_t i = 0; i < t->runs; ++i) {
        if (is_same_machine(first, run_of(t, i))) {
            ++alike;
        } else if (!other) {
            other = run_of(t, i);
        }
    }
    if (!other) {
        return 0;
    }
    log_error("trend: runs of different machines are no series: %u of %u are of %u x %.60s, as "
              "%.200s; %.200s is of %u x %.60s; give those of one",
              alike, t->runs, first->cpus, text_or_unknown(first->cpu), first->path, other->path,
              other->cpus, text_or_unknown(other->cpu));
    return -1;
}

static void warn_programs(const struct trend *t) {
    const struct diff_run *first = run_of(t, 0);
    for (uint32_t i = 1; i < t->runs; ++i) {
        if (strcmp(first->program, run_of(t, i)->program)) {
            log_warning(
                "trend: runs of different programs, as %.60s and %.60s: are they one series?",
                text_or_unknown(first->program), text_or_unknown(run_of(t, i)->program));
            return;
        }
    }
}

/* The number of the commit's point, or `points`. */
static uint32_t find_commit(const struct trend *t, const uint32_t *first, uint32_t points,
                            const char *label) {
    uint32_t i = 0;
    while (i < points && strcmp(t->d.run[0][first[i]].label, label)) {
        ++i;
    }
    return i;
}

/* A point per label, in the order of their first runs. 0, or -1 after one line. */
static int group_commits(struct trend *t) {
    uint32_t missing = 0, placed = 0;
    uint32_t *first = scratch_array(&t->d.memory, (size_t)t->runs + 1, sizeof *first);
    uint32_t *of = scratch_array(&t->d.memory, (size_t)t->runs + 1, sizeof *of);
    uint32_t *order = scratch_array(&t->d.memory, (size_t)t->runs + 1, sizeof *order);
    if (!first || !of || !order) {
        log_error("trend: not enough memory");
        return -1;
    }
    for (uint32_t i = 0; i < t->runs; ++i) {
        missing += !*run_of(t, i)->label;
        of[i] = find_commit(t, first, t->points, run_of(t, i)->label);
        if (of[i] == t->points) {
            first[t->points++] = t->order[i];
        }
    }
    if (missing) {
        log_error("trend: %u of %u run%s ha%s no label (stint run --label, or STINT_LABEL): --by "
                  "commit needs one in each",
                  missing, t->runs, text_plural(t->runs), missing == 1 ? "s" : "ve");
        return -1;
    }
    for (uint32_t p = 0; p < t->points; ++p) {
        t->point[p].first = placed;
        for (uint32_t i = 0; i < t->runs; ++i) {
            if (of[i] == p) {
                order[placed++] = t->order[i];
            }
        }
        t->point[p].runs = placed - t->point[p].first;
    }
    memcpy(t->order, order, t->runs * sizeof *order);
    return 0;
}

int trend_arrange(struct trend *t, enum trend_order by) {
    t->order = order_by(&t->d.memory, t->files, run_is_earlier, t); /* those left out last */
    t->point = scratch_array(&t->d.memory, (size_t)t->runs + 1, sizeof *t->point);
    if (!t->order || !t->point) {
        log_error("trend: not enough memory");
        return -1;
    }
    if (t->runs) {
        drop_copies(t);
        warn_programs(t);
        if (check_machines(t)) {
            return -1;
        }
    }
    if (by == TREND_BY_COMMIT) {
        if (group_commits(t)) {
            return -1;
        }
    } else {
        for (; t->points < t->runs; ++t->points) {
            t->point[t->points] = (struct trend_point){t->points, 1};
        }
    }
    if (t->points < TREND_LEAST) {
        log_error("trend: %u %s%s: at least %u are needed to find a change", t->points,
                  by == TREND_BY_COMMIT ? "commit" : "run", text_plural(t->points), TREND_LEAST);
        return -1;
    }
    return 0;
}

/* ---- The series. */

static double read_value(const struct trend *t, uint32_t item, uint32_t place) {
    uint32_t run = t->order[place];
    if (item == WALL) {
        return t->d.run[0][run].wall;
    }
    const struct diff_sample *s = &t->d.item[item].run[0][run];
    return s->there ? s->self : 0;
}

/* The mean of a point's runs, as a logarithm. Whether there is one. */
static int read_point(const struct trend *t, uint32_t item, uint32_t point, double *out) {
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->point[point].runs; ++i) {
        double value = read_value(t, item, t->point[point].first + i);
        if (value > 0) {
            sum += log(value);
            ++n;
        }
    }
    *out = n ? sum / n : 0;
    return n > 0;
}

static double change_weight(const struct trend_change *c) {
    return exp(c->after) - exp(c->before);
}

/* Adds the item's series if it has points. 0, or -1 without memory. */
static int add_series(struct trend *t, uint32_t item, double *work) {
    struct trend_change found[TREND_CHANGES];
    struct trend_series *s = &t->series[t->count];
    uint32_t *at = scratch_array(&t->d.memory, t->points, sizeof *at);
    double *value = scratch_array(&t->d.memory, t->points, sizeof *value);
    if (!at || !value) {
        return -1;
    }
    *s = (struct trend_series){.name = "wall time", .set = "", .length = 9, .item = item};
    if (item != WALL) {
        s->name = t->d.item[item].name;
        s->length = t->d.item[item].length;
        s->set = t->d.item[item].set;
    }
    for (uint32_t p = 0; p < t->points; ++p) {
        if (read_point(t, item, p, &value[s->count])) {
            at[s->count++] = p;
        }
    }
    s->at = at;
    s->value = value;
    if (!s->count) {
        return 0;
    }
    s->changes = trend_find(found, value, s->count, work);
    struct trend_change *kept = scratch_array(&t->d.memory, (size_t)s->changes + 1, sizeof *kept);
    if (!kept) {
        return -1;
    }
    memcpy(kept, found, s->changes * sizeof *kept);
    s->change = kept;
    t->brief += s->count < TREND_LEAST;
    ++t->count;
    return 0;
}

static double smallest_p(const struct trend_series *s) {
    double p = 1;
    for (uint32_t i = 0; i < s->changes; ++i) {
        p = double_min(p, s->change[i].p);
    }
    return p;
}

/* Drops the changes of series whose clearest one is not clear enough for one of many. */
static void limit_findings(struct trend *t, double *p) {
    for (uint32_t i = 0; i < t->count; ++i) {
        p[i] = smallest_p(&t->series[i]);
    }
    double limit = diff_finding_p(p, t->count, TREND_ALPHA);
    for (uint32_t i = 0; i < t->count; ++i) {
        struct trend_series *s = &t->series[i];
        if (smallest_p(s) > limit) {
            s->changes = 0;
        }
        t->changed += s->changes != 0;
        for (uint32_t k = 0; k < s->changes; ++k) {
            s->weight = double_max(s->weight, fabs(change_weight(&s->change[k])));
        }
    }
}

static int compare_series(const void *left, const void *right) {
    const struct trend_series *a = left, *b = right;
    if (a->weight < b->weight || a->weight > b->weight) {
        return (a->weight < b->weight) - (a->weight > b->weight);
    }
    int names = name_compare(a->name, a->length, b->name, b->length);
    return names ? names : strcmp(a->set, b->set);
}

/* ---- Moves. */

/* The series and the change at about that point which gained most nearly what was lost. */
static int find_gain(const struct trend *t, uint32_t from, uint32_t point, double lost,
                     struct trend_move *out) {
    double best = MOVE_ALIKE;
    for (uint32_t i = 0; i < t->changed; ++i) {
        const struct trend_series *s = &t->series[i];
        for (uint32_t k = 0; k < s->changes && s->item != WALL; ++k) {
            double gained = change_weight(&s->change[k]);
            uint32_t at = s->at[s->change[k].at];
            uint32_t apart = at > point ? at - point : point - at;
            double unlike = fabs(gained - lost) / double_max(gained, lost);
            if (i != from && gained > 0 && apart <= MOVE_NEAR && unlike < best) {
                best = unlike;
                *out = (struct trend_move){from, i, point, at, lost, gained};
            }
        }
    }
    return best < MOVE_ALIKE;
}

static int find_moves(struct trend *t) {
    t->move = scratch_array(&t->d.memory, MOVES, sizeof *t->move);
    if (!t->move) {
        return -1;
    }
    for (uint32_t i = 0; i < t->changed; ++i) {
        const struct trend_series *s = &t->series[i];
        for (uint32_t k = 0; k < s->changes && s->item != WALL && t->moves < MOVES; ++k) {
            double lost = -change_weight(&s->change[k]);
            if (lost > 0) {
                t->moves += (uint32_t)find_gain(t, i, s->at[s->change[k].at], lost,
                                                &t->move[t->moves]) != 0;
            }
        }
    }
    return 0;
}

int trend_is_moved(const struct trend *t, uint32_t series, uint32_t point) {
    for (uint32_t i = 0; i < t->moves; ++i) {
        const struct trend_move *m = &t->move[i];
        if ((m->from == series && m->at == point) || (m->to == series && m->to_at == point)) {
            return 1;
        }
    }
    return 0;
}

int trend_judge(struct trend *t) {
    size_t most = (size_t)t->d.items + 1;
    double *work = scratch_array(&t->d.memory, 4 * ((size_t)t->points + 1), sizeof *work);
    double *p = scratch_array(&t->d.memory, most, sizeof *p);
    t->series = scratch_array(&t->d.memory, most, sizeof *t->series);
    if (!work || !p || !t->series) {
        return -1;
    }
    for (uint32_t i = 0; i < most; ++i) {
        if (add_series(t, i < t->d.items ? i : WALL, work)) {
            return -1;
        }
    }
    limit_findings(t, p);
    qsort(t->series, t->count, sizeof *t->series, compare_series);
    return find_moves(t);
}
