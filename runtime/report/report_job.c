/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats the summary of a job: the scopes that wait, with the process that comes last and what
 * that costs the others, then the spread of all names. The columns are as in the view `ranks`, as
 * far as reductions give them. Whether a process is the cause takes the windows, which the view
 * has. The session calls this in the process that prints.
 */
#include "report_job.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/order.h"
#include "base/scratch.h"
#include "model/ranks.h"
#include "report.h"
#include "stint/stint.h"

#define JOB_ROWS 40u /* of the last table */
#define JOB_NAME_COLUMNS 40u

struct job_view {
    const struct job_summary *job;
    struct text *out;
    struct scratch memory;
};

void grid_alone(struct report_grid *g, const struct rank_wait *wait) {
    if (wait->spread.ranks == 2) {
        grid_dashes(g, 1);
    } else {
        grid_share(g, wait->covered_ppm, 1000000);
    }
}

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
    if (wait->late == RANK_NONE) {
        grid_dashes(g, 8);
        return;
    }
    grid_time(g, wait->cost_ns);
    grid_add(g, "rank %u", wait->late);
    grid_name(g, host, strlen(host), JOB_NAME_COLUMNS);
    grid_time(g, wait->late_ns);
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
    if (!v->job->wait_count) {
        text_add(v->out, "(no scope that several ranks have waits for others)\n\n");
        return 0;
    }
    grid_start(&g, titles, 1u | 1u << 5 | 1u << 6);
    for (uint32_t i = 0; i < v->job->wait_count; ++i) {
        const struct job_wait *wait = &v->job->wait[i];
        grid_put_job_wait(&g, &v->job->name[wait->name], wait->host);
    }
    int failed = grid_print(&g, v->out, 0);
    if (v->job->waits_left_out) {
        text_add(v->out, "(%u more)\n", v->job->waits_left_out);
    }
    text_add(v->out, "(stint merge of the run files tells whether a rank is the cause)\n\n");
    return failed;
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

int report_ranks(const struct report *r) {
    struct ranks ranks;
    if (r->about->ranks && !ranks_read(&ranks, r->snapshot)) {
        return r->about->ranks(r, &ranks);
    }
    text_add(r->out, "(the run of one process: `stint merge` makes one of several ranks)\n");
    return 0;
}

int report_job(struct text *out, const struct job_summary *job) {
    struct job_view v = {.job = job, .out = out};
    text_add(out, "stint job: ");
    text_name(out, job->program, strlen(job->program), 0);
    text_add(out, ", %u rank%s\n\n", job->size, text_plural(job->size));
    int failed = put_job_waits(&v) || put_job_spreads(&v);
    if (job->left_out) {
        text_add(out, "\n%llu name%s left out\n", (unsigned long long)job->left_out,
                 text_plural(job->left_out));
    }
    scratch_free(&v.memory);
    return failed || out->failed ? -1 : 0;
}
