/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ranks of a merged run: for each scope that waits for other ranks which of them is late, what
 * that costs the others and whether it is the only one, of the whole run and by windows of steps
 * (report_windows.c); then how evenly the time of each name is spread over the ranks. The numbers
 * are those of the tables that `stint merge` writes.
 */
#include <string.h>

#include "read/ranks_wait.h"
#include "report.h"
#include "report_rank_parts.h"

struct rank_view {
    const struct report *report;
    struct ranks ranks;
    struct ranks_room room;
    struct ranks_spreads spreads;
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

static void grid_put_rank_name(const struct rank_view *v, struct report_grid *g, uint32_t name) {
    const struct snapshot_site *site = rank_name_site(v, name);
    grid_name(g, site->name, site->length, RANK_NAME_COLUMNS);
}

/* ---- Waiting. */

static void put_wait(struct rank_view *v, struct report_grid *g, uint32_t name,
                     const struct rank_wait *wait) {
    grid_put_rank_name(v, g, name);
    grid_add(g, "%u", wait->spread.ranks);
    grid_add(g, "%llu%s", (unsigned long long)wait->calls, wait->calls_differ ? " at most" : "");
    grid_time(g, wait->spread.total_ns);
    grid_time(g, wait->cost_ns);
    grid_rank(g, &v->ranks, wait->late);
    grid_rank_host(g, &v->ranks, wait->late);
    grid_time(g, wait->late_ns);
    grid_ppm(g, wait->covered_ppm);
    grid_time(g, wait->first_gap_ns);
    grid_time(g, wait->second_gap_ns);
    grid_time(g, wait->last_gap_ns);
}

/* The scopes in which the rank spends longer than the median rank. */
static int put_excess(struct rank_view *v, const struct rank_wait *wait) {
    static const char *const titles[] = {"longer than the median rank in", "own time", "by", NULL};
    struct rank_excesses excesses;
    struct report_grid g;
    if (ranks_excesses(&excesses, &v->ranks, wait, &v->room, &v->report->snapshot->memory)) {
        return -1;
    }
    grid_start(&g, titles, 1);
    for (uint32_t i = 0; i < excesses.count; ++i) {
        grid_put_rank_name(v, &g, excesses.of[i].name);
        grid_time(&g, excesses.of[i].own_ns);
        grid_time(&g, excesses.of[i].by_ns);
    }
    int failed = grid_print(&g, v->report->out, 4);
    if (!excesses.count) {
        text_add(v->report->out, "    (none by a twentieth of its lateness)\n");
    }
    return failed;
}

static int put_cause(struct rank_view *v, uint32_t name, const struct rank_wait *wait) {
    struct text *out = v->report->out;
    const struct snapshot_site *site = rank_name_site(v, name);
    char label[RANKS_LABEL], share[TEXT_NUMBER];
    text_name(out, site->name, site->length, 0);
    if (wait->calls_differ) {
        text_add(out, ": no cause is named, the ranks have different numbers of calls\n");
        return 0;
    }
    text_share(share, wait->covered_ppm);
    ranks_label(label, &v->ranks, wait->late);
    if (!ranks_wait_has_cause(wait)) {
        text_add(out, ": no rank is the only cause, %s covers %s %% of the cost\n", label, share);
        return 0;
    }
    text_add(out, ": %s covers %s %% of the cost\n", label, share);
    return put_excess(v, wait);
}

static int is_waiting_row(const struct rank_view *v, uint32_t name) {
    return is_rank_name_wanted(v, name) && v->spreads.of[name].ranks > 1 &&
           ranks_is_waiting(&v->ranks, name);
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
    grid_start(&g, titles, 1u | 1u << 5 | 1u << 6);
    grid_fit(&g, v->report->options, 1u | 3u << 4);
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

/* Whether one rank is the cause of a scope's cost, and where that rank spends longer. */
static int put_causes(struct rank_view *v, const uint32_t *order) {
    struct rank_wait wait;
    uint32_t put = 0;
    int failed = 0;
    for (uint32_t i = 0; i < v->ranks.name_count && !failed; ++i) {
        if (!is_waiting_row(v, order[i])) {
            continue;
        }
        ranks_wait(&wait, &v->ranks, order[i], &v->room);
        if (wait.cost_ns) {
            failed = put_cause(v, order[i], &wait);
            ++put;
        }
    }
    if (put) {
        text_put(v->report->out, "\n", 1);
    }
    return failed;
}

/* The windows of steps of each scope. A run with steps and without windows was merged without its
 * ranks, or is of an earlier version. */
static int put_windows(struct rank_view *v, const uint32_t *order) {
    uint32_t waits = 0, put = 0;
    int failed = 0;
    for (uint32_t i = 0; i < v->ranks.name_count && !failed; ++i) {
        if (is_waiting_row(v, order[i])) {
            failed = report_rank_windows(v->report, &v->ranks, &v->room, order[i], &put);
            ++waits;
        }
    }
    if (waits && !put && v->report->snapshot->steps) {
        text_add(v->report->out,
                 "(no windows of steps: `stint merge --keep ranks` keeps them)\n\n");
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
    grid_ppm(g, spread->imbalance_ppm);
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
    grid_start(&g, titles, 1u | 3u << 5 | 3u << 8);
    grid_fit(&g, o, 1u | 1u << 3 | 1u << 5);
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

int report_ranks(const struct report *r) {
    struct rank_view v;
    struct scratch_mark before = scratch_mark(&r->snapshot->memory);
    if (ranks_read(&v.ranks, r->snapshot)) {
        text_add(r->out, "(the run of one process: `stint merge` makes one of several ranks)\n");
        return 0;
    }
    v.report = r;
    int failed = ranks_room_get(&v.room, &r->snapshot->memory, &v.ranks) ||
                 ranks_spreads(&v.spreads, &v.ranks, &v.room, &r->snapshot->memory);
    failed = failed || put_waits(&v, v.spreads.order) || put_causes(&v, v.spreads.order) ||
             put_windows(&v, v.spreads.order) || put_spreads(&v, v.spreads.order);
    scratch_release(&r->snapshot->memory, before);
    return failed ? -1 : 0;
}
