/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over the statistics of a run once and hands each family and series to an exposition, which
 * writes them as text. Called by the tool: for the export prometheus and, for each of several runs,
 * by the commands that follow them. The histograms are in export_prometheus_histogram.c, the GPU
 * activities in export_prometheus_gpu.c.
 */
#include "export_prometheus.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "export/export_columns.h"
#include "formats.h"
#include "metrics.h"

#define SECONDS EXPOSITION_SECONDS
#define NUMBER EXPOSITION_NUMBER

struct family {
    const char *name;
    const char *type;
    const char *help;
    enum exposition_unit unit;
    struct row_field field;
    uint64_t needs;
    int optional; /* no series where it is zero */
};

#include "prometheus_columns.inc" /* column_families: the columns of reports that are families */

struct summary {
    const char *name;
    const char *help;
    struct row_field sum;
    struct row_field count;
    uint64_t needs;
    uint64_t needs_quantiles;
    struct row_field percentiles; /* of PERCENTILE_COUNT */
};

static const struct summary summaries[] = {
    {"stint_scope_seconds", "Time in a scope, with what is nested in it.", ROW_FIELD(total_ns),
     ROW_FIELD(samples), ROW_SAMPLES, ROW_HISTOGRAM, ROW_FIELD(percentile_ns)},
    {"stint_scope_gpu_seconds", "Time of a scope on the GPU.", ROW_EXTRA_FIELD(gpu_total_ns),
     ROW_EXTRA_FIELD(gpu_calls), ROW_GPU, ROW_GPU_HISTOGRAM, ROW_EXTRA_FIELD(gpu_percentile_ns)},
};

struct exposition_labels prometheus_scope(const struct prometheus *p, const struct stint_row *r) {
    struct exposition_labels l = p->x->process;
    exposition_label_add(&l, "name", export_row_name(r));
    exposition_label_add(&l, "set", export_field(export_set(p->s, r), EXPORT_NAME_BYTES));
    return l;
}

static void prometheus_put_family(const struct prometheus *p, const struct family *f) {
    exposition_family(p->x, f->name, f->type, f->help);
    for (uint32_t i = 0; i < p->rows->count; ++i) {
        const struct stint_row *r = &p->rows->row[p->order[i]];
        u128 value = row_number(r, f->field);
        if (row_knows(r, f->field, f->needs) && (value || !f->optional)) {
            const struct exposition_labels l = prometheus_scope(p, r);
            exposition_number(p->x, &l, value, f->unit);
        }
    }
}

/* A percentile that is a lower bound is left out: nothing here could say so. */
static uint32_t count_known(const struct stint_row *r, struct row_field percentiles) {
    uint32_t known = 0;
    while (known < PERCENTILE_COUNT && !row_is_beyond(r, percentiles)) {
        percentiles.at += sizeof(uint64_t);
        ++known;
    }
    return known;
}

static void prometheus_put_summary(const struct prometheus *p, const struct summary *m) {
    exposition_family(p->x, m->name, "summary", m->help);
    for (uint32_t i = 0; i < p->rows->count; ++i) {
        const struct stint_row *r = &p->rows->row[p->order[i]];
        if (m->needs & ~r->has) {
            continue;
        }
        const struct exposition_labels l = prometheus_scope(p, r);
        struct exposition_summary value = {.percentile_ns = row_field(r, m->percentiles),
                                           .sum_ns = row_number(r, m->sum),
                                           .count = row_number(r, m->count)};
        if (r->has & m->needs_quantiles) {
            value.percentiles = count_known(r, m->percentiles);
        }
        exposition_summary(p->x, &l, &value);
    }
}

/* Its labels include the process's. */
static void prometheus_put_info(struct exposition *x, const struct run *r) {
    char pid[16];
    struct exposition_labels l = x->process;
    snprintf(pid, sizeof pid, "%u", r->pid);
    l.count = 0;
    exposition_label_add(&l, "program", export_text(r->program));
    exposition_label_add(&l, "host", export_text(r->host));
    exposition_label_add(&l, "cpu", export_text(r->cpu));
    exposition_label_add(&l, "clock", export_text(r->clock));
    exposition_label_add(&l, "state", export_text(export_state(r)));
    exposition_label_add(&l, "pid", export_text(pid));
    exposition_family(x, "stint_run_info", "gauge", "The run these numbers are of.");
    exposition_number(x, &l, 1, NUMBER);
}

static void prometheus_put_run(struct exposition *x, const struct snapshot *s) {
    exposition_family(x, "stint_run_seconds", "gauge", "Wall time of the run so far.");
    exposition_number(x, &x->process, s->wall_ns, SECONDS);
    exposition_family(x, "stint_steps_total", "counter", "Calls of stint_step.");
    exposition_number(x, &x->process, s->steps, NUMBER);
    exposition_family(x, "stint_lost_total", "counter", "What was lost, skipped or abandoned.");
    for (uint32_t i = 0; i < STINT_STATUS_COUNT; ++i) {
        struct exposition_labels l = x->process;
        exposition_label_add(&l, "what", export_field(status_text(i)->key, EXPORT_NAME_BYTES));
        exposition_number(x, &l, s->lost[i], NUMBER);
    }
}

static int prometheus_walk(struct exposition *x, struct run *r) {
    struct rows rows;
    struct prometheus p = {x, &r->snapshot, &rows, export_rows(&rows, &r->snapshot, 0)};
    if (!p.order) {
        return -1;
    }
    prometheus_put_info(x, r);
    prometheus_put_run(x, p.s);
    for (size_t i = 0; i < sizeof summaries / sizeof *summaries; ++i) {
        prometheus_put_summary(&p, &summaries[i]);
    }
    prometheus_histograms(&p);
    for (size_t i = 0; i < sizeof column_families / sizeof *column_families; ++i) {
        prometheus_put_family(&p, &column_families[i]);
    }
    return prometheus_gpu(x, &r->snapshot) || x->failed ? -1 : 0;
}

int prometheus_add_run(struct exposition *x, struct run *r, int processes) {
    char pid[16], rank[16];
    r->snapshot.ns_per_tick = snapshot_steady_tick(&r->snapshot);
    if (processes) {
        snprintf(pid, sizeof pid, "%u", r->pid);
        exposition_label_add(&x->process, "host", export_text(r->host));
        exposition_label_add(&x->process, "pid", export_text(pid));
    }
    if (processes && r->rank) {
        snprintf(rank, sizeof rank, "%u", r->rank - 1);
        exposition_label_add(&x->process, "rank", export_text(rank));
    }
    int failed = prometheus_walk(x, r);
    x->process.count = 0;
    x->failed |= failed;
    return failed;
}

int export_prometheus(struct sink *out, struct run *r) {
    struct exposition x;
    exposition_start(&x, out);
    x.process.terminal = out->terminal;
    int failed = prometheus_walk(&x, r);
    exposition_free(&x);
    return failed;
}
