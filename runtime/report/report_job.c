/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats the summary of a job: the scopes that wait, with the process that comes last and what
 * that costs the others, then where a late process spends longer, then the spread of all names.
 * The columns are those of the view `ranks`, as far as reductions give them. The session calls this
 * in the process that prints.
 */
#include "report_job.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "base/scratch.h"
#include "report_grid.h"
#include "report_rank_parts.h"
#include "stint/stint.h"

#define JOB_ROWS 40u /* of the last table */
#define JOB_NAME_COLUMNS 40u

struct job_view {
    const struct job_summary *job;
    struct text *out;
    struct scratch memory;
    uint64_t *excess; /* by name */
};

/* "NAME" or "NAME @SET". */
static void grid_put_job_name(struct report_grid *g, const struct job_name *name) {
    struct text text;
    text_start(&text);
    text_add(&text, "%s", name->name);
    if (*name->set) {
        text_add(&text, " @%s", name->set);
    }
    g->failed |= text.failed;
    grid_name(g, text.data, text.length, JOB_NAME_COLUMNS);
    text_free(&text);
}

static void grid_put_job_wait(struct report_grid *g, const struct job_name *name,
                              const char *host) {
    const struct rank_wait *wait = &name->wait;
    grid_put_job_name(g, name);
    grid_add(g, "%u", wait->spread.ranks);
    grid_add(g, "%llu%s", (unsigned long long)wait->calls, wait->calls_vary ? " at most" : "");
    grid_time(g, wait->spread.total_ns);
    grid_time(g, wait->cost_ns);
    if (wait->late == RANK_NONE) {
        grid_dashes(g, 7);
        return;
    }
    grid_add(g, "rank %u", wait->late);
    grid_name(g, host, strlen(host), JOB_NAME_COLUMNS);
    grid_time(g, wait->late_ns);
    if (name->role != STINT_ROLE_WAITING) {
        grid_dashes(g, 4);
        return;
    }
    grid_alone(g, wait);
    grid_time(g, wait->first_gap_ns);
    grid_time(g, wait->second_gap_ns);
    grid_time(g, wait->last_gap_ns);
}

static int put_job_waits(const struct job_view *v) {
    static const char *const titles[] = {"waiting", "ranks",  "calls", "total wait", "cost",
                                         "last",    "host",   "waits", "alone %",    "1->n",
                                         "2->n",    "n-1->n", NULL};
    struct report_grid g;
    if (!v->job->cause_count) {
        text_add(v->out, "(no scope that several ranks have waits for others)\n\n");
        return 0;
    }
    grid_start(&g, titles, 1u | 1u << 5 | 1u << 6);
    for (uint32_t i = 0; i < v->job->cause_count; ++i) {
        const struct job_cause *cause = &v->job->cause[i];
        grid_put_job_wait(&g, &v->job->name[cause->name], cause->host);
    }
    int failed = grid_print(&g, v->out, 0);
    if (v->job->causes_left_out) {
        text_add(v->out, "(%u more)\n", v->job->causes_left_out);
    }
    text_put(v->out, "\n", 1);
    return failed;
}

static int is_job_excess_more(const void *what, uint32_t a, uint32_t b) {
    const uint64_t *excess = what;
    return excess[a] > excess[b];
}

static int put_job_excess(struct job_view *v, const struct job_cause *cause) {
    static const char *const titles[] = {"longer than the median rank in", "own time", "by", NULL};
    uint64_t least = u64_max(cause->verdict.least_ns, 1);
    uint32_t names = v->job->name_count; /* and in the place after them what is outside */
    struct report_grid g;
    uint32_t put = 0;
    for (uint32_t i = 0; i < names; ++i) {
        const struct job_name *name = &v->job->name[i];
        v->excess[i] = 0;
        if (!name->role) {
            v->excess[i] = saturating_subtract(cause->self_ns[i], name->median_self_ns);
        }
    }
    v->excess[names] = saturating_subtract(cause->self_ns[names], v->job->median_outside_ns);
    const uint32_t *order = order_by(&v->memory, names + 1, is_job_excess_more, v->excess);
    if (!order) {
        return -1;
    }
    grid_start(&g, titles, 1);
    for (; put <= names && put < RANK_EXCESS_MOST && v->excess[order[put]] >= least; ++put) {
        if (order[put] < names) {
            grid_put_job_name(&g, &v->job->name[order[put]]);
        } else {
            grid_add(&g, RANK_OUTSIDE);
        }
        grid_time(&g, cause->self_ns[order[put]]);
        grid_time(&g, v->excess[order[put]]);
    }
    int failed = grid_print(&g, v->out, 4);
    if (!put) {
        text_add(v->out, "    (none by a twentieth of its lateness)\n");
    }
    return failed;
}

static int put_job_cause(struct job_view *v, const struct job_cause *cause) {
    const struct job_name *name = &v->job->name[cause->name];
    char named[RANK_SET_TEXT];
    rank_set_text(named, cause->verdict.rank, cause->verdict.count);
    text_name(v->out, name->name, strlen(name->name), 0);
    if (*name->set) {
        text_add(v->out, " @%s", name->set);
    }
    report_rank_verdict(v->out, &cause->verdict, named);
    return cause->verdict.why == RANK_WHY_CAUSE ? put_job_excess(v, cause) : 0;
}

static int put_job_causes(struct job_view *v) {
    uint32_t put = 0;
    for (uint32_t i = 0; i < v->job->cause_count; ++i) {
        const struct job_cause *cause = &v->job->cause[i];
        if (cause->verdict.why == RANK_WHY_NO_COST) {
            continue;
        }
        if (put_job_cause(v, cause)) {
            return -1;
        }
        ++put;
    }
    if (put) {
        text_put(v->out, "\n", 1);
    }
    return 0;
}

static int is_job_lost_more(const void *what, uint32_t a, uint32_t b) {
    const struct job_name *name = what;
    const struct rank_spread *x = &name[a].wait.spread, *y = &name[b].wait.spread;
    if (x->lost_ns != y->lost_ns) {
        return x->lost_ns > y->lost_ns;
    }
    return x->total_ns > y->total_ns;
}

static int put_job_spreads(struct job_view *v) {
    static const char *const titles[] = {"name",        "ranks",   "total", "lost",
                                         "% imbalance", "longest", "max",   "shortest",
                                         "min",         "median",  "mean",  NULL};
    const uint32_t *order =
        order_by(&v->memory, v->job->name_count, is_job_lost_more, v->job->name);
    struct report_grid g;
    if (!order) {
        return -1;
    }
    grid_start(&g, titles, 1u | 1u << 5 | 1u << 7);
    for (uint32_t i = 0; i < v->job->name_count && i < JOB_ROWS; ++i) {
        const struct rank_spread *spread = &v->job->name[order[i]].wait.spread;
        grid_put_job_name(&g, &v->job->name[order[i]]);
        grid_add(&g, "%u", spread->ranks);
        grid_time(&g, spread->total_ns);
        grid_time(&g, spread->lost_ns);
        grid_share(&g, spread->imbalance_ppm, 1000000);
        grid_add(&g, "rank %u", spread->max_rank);
        grid_time(&g, spread->max_ns);
        grid_add(&g, "rank %u", spread->min_rank);
        grid_time(&g, spread->min_ns);
        grid_time(&g, spread->median_ns);
        grid_time(&g, spread->mean_ns);
    }
    int failed = grid_print(&g, v->out, 0);
    if (v->job->name_count > JOB_ROWS) {
        text_add(v->out, "(%u more)\n", v->job->name_count - JOB_ROWS);
    }
    return failed;
}

int report_job(struct text *out, const struct job_summary *job) {
    struct job_view v = {.job = job, .out = out};
    text_add(out, "stint job: ");
    text_name(out, job->program, strlen(job->program), 0);
    text_add(out, ", %u rank%s\n\n", job->size, text_plural(job->size));
    v.excess = scratch_array(&v.memory, (size_t)job->name_count + 2, sizeof *v.excess);
    int failed = !v.excess || put_job_waits(&v) || put_job_causes(&v) || put_job_spreads(&v);
    if (job->left_out) {
        text_add(out, "\n%llu name%s left out\n", (unsigned long long)job->left_out,
                 text_plural(job->left_out));
    }
    scratch_free(&v.memory);
    return failed || out->failed ? -1 : 0;
}
