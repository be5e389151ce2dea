/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a merged run: for each scope that waits for other ranks which of them is late, what
 * that costs the others and whether it is the only one, of the whole run and by windows of steps
 * (report_windows.c); then how evenly the time of each name is spread over the ranks. The numbers
 * are from the tables that `stint merge` writes.
 */
#include "rank_tables.h"

#include <string.h>

#include "report_rank_parts.h"
#include "stint/stint.h"

struct rank_view {
    const struct report *report;
    struct ranks ranks;
    struct ranks_room room;
    struct ranks_spreads spreads;
    uint32_t rows; /* that are judged */
    int has_sets;  /* a name is of another set than the default one */
};

static const struct snapshot_site *rank_name_site(const struct rank_view *v, uint32_t name) {
    return &v->report->snapshot->sites[v->ranks.name[name].site];
}

static int is_rank_name_wanted(const struct rank_view *v, uint32_t name) {
    const struct report_options *o = v->report->options;
    const struct snapshot_site *site = rank_name_site(v, name);
    if (o->set != REPORT_ALL_SETS && v->ranks.name[name].set != o->set) {
        return 0;
    }
    return v->spreads.of[name].ranks && report_options_want(o, site->name, site->length);
}

/* The name and the set, which is a column where there are several. */
static void grid_put_rank_name(const struct rank_view *v, struct report_grid *g, uint32_t name) {
    const struct snapshot_site *site = rank_name_site(v, name);
    const char *set = v->report->snapshot->sets[v->ranks.name[name].set];
    grid_name(g, site->name, site->length, RANK_NAME_COLUMNS);
    if (v->has_sets) {
        grid_name(g, set, strlen(set), RANK_SET_COLUMNS);
    }
}

/* A grid whose first column is a name, with its set if there are several; left, keep: bits of the
 * other columns. */
static void grid_start_names(const struct rank_view *v, struct report_grid *g,
                             const char *const *titles, uint32_t left, uint32_t keep) {
    const char *all[GRID_COLUMNS + 1] = {titles[0], "set"};
    uint32_t set = v->has_sets ? 1 : 0;
    for (uint32_t i = 1; i + set < GRID_COLUMNS && titles[i]; ++i) {
        all[i + set] = titles[i];
        all[i + set + 1] = NULL;
    }
    grid_start(g, all, left << set | 1u | set << 1);
    if (keep) {
        grid_fit(g, v->report->options, keep << set | 1u | set << 1);
    }
}

/* ---- Waiting. */

static void put_wait(struct rank_view *v, struct report_grid *g, uint32_t name,
                     const struct rank_wait *wait) {
    grid_put_rank_name(v, g, name);
    grid_add(g, "%u", wait->spread.ranks);
    grid_add(g, "%llu%s", (unsigned long long)wait->calls, wait->calls_vary ? " at most" : "");
    grid_time(g, wait->spread.total_ns);
    grid_time(g, wait->cost_ns);
    if (wait->late == RANK_NONE) {
        grid_dashes(g, 7);
        return;
    }
    grid_rank(g, &v->ranks, wait->late);
    grid_rank_host(g, &v->ranks, wait->late);
    grid_time(g, wait->late_ns);
    if (v->room.role != STINT_ROLE_WAITING) {
        grid_dashes(g, 4);
        return;
    }
    grid_alone(g, wait);
    grid_time(g, wait->first_gap_ns);
    grid_time(g, wait->second_gap_ns);
    grid_time(g, wait->last_gap_ns);
}

/* The scopes in which the named ranks spend longer than the median rank. */
static int put_excess(struct rank_view *v, const struct rank_verdict *verdict) {
    static const char *const titles[] = {"longer than the median rank in", "own time", "by", NULL};
    struct rank_excesses excesses;
    struct report_grid g;
    if (ranks_excesses(&excesses, &v->ranks, verdict->rank, verdict->count, verdict->least_ns,
                       &v->room, &v->report->snapshot->memory)) {
        return -1;
    }
    grid_start_names(v, &g, titles, 0, 0);
    for (uint32_t i = 0; i < excesses.count; ++i) {
        if (excesses.of[i].name != RANK_NONE) {
            grid_put_rank_name(v, &g, excesses.of[i].name);
        } else {
            grid_add(&g, RANK_OUTSIDE);
            grid_dashes(&g, v->has_sets);
        }
        grid_time(&g, excesses.of[i].own_ns);
        grid_time(&g, excesses.of[i].by_ns);
    }
    int failed = grid_print(&g, v->report->out, 4);
    if (!excesses.count) {
        text_add(v->report->out, "    (none by a twentieth of its lateness)\n");
    }
    return failed;
}

static int put_cause(struct rank_view *v, uint32_t name, const struct rank_verdict *verdict) {
    struct text *out = v->report->out;
    char named[RANK_SET_TEXT];
    report_rank_heading(out, &v->ranks, name);
    rank_verdict_text(named, &v->ranks, verdict);
    report_rank_verdict(out, verdict, named);
    return verdict->why == RANK_WHY_CAUSE ? put_excess(v, verdict) : 0;
}

static int is_waiting_row(const struct rank_view *v, uint32_t name) {
    return is_rank_name_wanted(v, name) && v->spreads.of[name].ranks > 1 &&
           ranks_waiting_role(&v->ranks, name);
}

/* order: the names, the most lost time first. */
static int put_waits(struct rank_view *v, const uint32_t *order) {
    static const char *const titles[] = {"waiting", "ranks",  "calls", "total wait", "cost",
                                         "last",    "host",   "waits", "alone %",    "1->n",
                                         "2->n",    "n-1->n", NULL};
    struct text *out = v->report->out;
    struct rank_wait wait;
    struct report_grid g;
    uint32_t waits = 0;
    grid_start_names(v, &g, titles, 1u << 5 | 1u << 6, 3u << 4);
    for (uint32_t i = 0; i < v->ranks.name_count; ++i) {
        if (is_waiting_row(v, order[i])) {
            ranks_wait(&wait, &v->ranks, order[i], &v->room);
            put_wait(v, &g, order[i], &wait);
            ++waits;
        }
    }
    int failed = grid_print(&g, out, 0);
    if (!waits) {
        text_add(out, "(no scope that several ranks have waits for others)\n");
    }
    text_put(out, "\n", 1);
    return failed;
}

/* Which ranks are the cause of a scope's cost, and where these spend longer. */
static int put_causes(struct rank_view *v, const uint32_t *order) {
    struct rank_verdict verdict;
    uint32_t put = 0;
    int failed = 0;
    for (uint32_t i = 0; i < v->ranks.name_count && !failed; ++i) {
        if (!is_waiting_row(v, order[i])) {
            continue;
        }
        failed = rank_judge_name(&verdict, &v->ranks, order[i], v->rows, &v->room,
                                 &v->report->snapshot->memory);
        if (!failed && verdict.why != RANK_WHY_NO_COST) {
            failed = put_cause(v, order[i], &verdict);
            ++put;
        }
    }
    if (put) {
        text_put(v->report->out, "\n", 1);
    }
    return failed;
}

static int put_windows(struct rank_view *v, const uint32_t *order) {
    int failed = 0;
    for (uint32_t i = 0; i < v->ranks.name_count && !failed; ++i) {
        if (is_waiting_row(v, order[i])) {
            failed = report_rank_windows(v->report, &v->ranks, &v->room, order[i]);
        }
    }
    return failed;
}

/* ---- All names. */

static void put_spread(struct rank_view *v, struct report_grid *g, uint32_t name) {
    const struct rank_spread *spread = &v->spreads.of[name];
    grid_put_rank_name(v, g, name);
    grid_add(g, "%u", spread->ranks);
    grid_time(g, spread->total_ns);
    grid_time(g, spread->lost_ns);
    grid_share(g, spread->imbalance_ppm, 1000000);
    grid_rank(g, &v->ranks, spread->max_rank);
    grid_rank_host(g, &v->ranks, spread->max_rank);
    grid_time(g, spread->max_ns);
    grid_rank(g, &v->ranks, spread->min_rank);
    grid_rank_host(g, &v->ranks, spread->min_rank);
    grid_time(g, spread->min_ns);
    grid_time(g, spread->median_ns);
    grid_time(g, spread->mean_ns);
    grid_time(g, spread->stddev_ns);
}

static int put_spreads(struct rank_view *v, const uint32_t *order) {
    static const char *const titles[] = {"name",    "ranks",  "total", "lost",     "% imbalance",
                                         "longest", "host",   "max",   "shortest", "host",
                                         "min",     "median", "mean",  "stddev",   NULL};
    const struct report_options *o = v->report->options;
    struct report_grid g;
    uint32_t put = 0, more = 0;
    grid_start_names(v, &g, titles, 3u << 5 | 3u << 8, 1u << 3 | 1u << 5);
    for (uint32_t i = 0; i < v->ranks.name_count; ++i) {
        if (!is_rank_name_wanted(v, order[i])) {
            continue;
        }
        if (o->top && put == o->top) {
            ++more;
            continue;
        }
        put_spread(v, &g, order[i]);
        ++put;
    }
    int failed = grid_print(&g, v->report->out, 0);
    if (more) {
        text_add(v->report->out, "(%u more)\n", more);
    }
    if (!put && o->wanted) {
        text_add(v->report->out, "(" REPORT_NO_MATCH ")\n");
    }
    return failed;
}

static int has_other_sets(const struct rank_view *v) {
    for (uint32_t i = 0; i < v->ranks.name_count; ++i) {
        if (v->ranks.name[i].set != v->ranks.name[0].set) {
            return 1;
        }
    }
    return 0;
}

int report_rank_tables(const struct report *r, const struct ranks *ranks) {
    struct rank_view v = {.report = r, .ranks = *ranks};
    struct scratch_mark before = scratch_mark(&r->snapshot->memory);
    int failed = ranks_room_get(&v.room, &r->snapshot->memory, &v.ranks) ||
                 ranks_spreads(&v.spreads, &v.ranks, &v.room, &r->snapshot->memory);
    if (!failed) {
        v.rows = rank_rows_judged(&v.ranks, &v.room);
        v.has_sets = has_other_sets(&v);
    }
    failed = failed || put_waits(&v, v.spreads.order) || put_causes(&v, v.spreads.order) ||
             put_windows(&v, v.spreads.order) || put_spreads(&v, v.spreads.order);
    scratch_release(&r->snapshot->memory, before);
    return failed ? -1 : 0;
}
