/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implementation notes
 * - Changes are logarithms: twice as long and half as long are equally far from nothing.
 * - Three runs a side or more tell how far runs differ among themselves: Welch's test over runs.
 *   Fewer do not, however many calls they hold: then the calls' ranks are tested, and only changes
 *   beyond what runs commonly differ by are findings.
 * - The typical call is the mean of the fastest 95 %: unlike the median of a histogram it does not
 *   jump from bucket to bucket, and unlike the mean it is not at the mercy of one preemption.
 */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

#define TYPICAL 0.95
#define FALSE_FINDINGS 0.02 /* the share of them among findings that is accepted */
#define BUCKET 0.065        /* what percentiles of a histogram are good to */
#define FEW_LEAST 0.10      /* runs of one program on one machine commonly differ by that */
#define FEW_MOST 0.2624     /* and hardly ever by more */
#define FEW_ROWS 8u         /* that show how far runs differ here */
#define SAME_MARGIN 2.5     /* thresholds: no change larger than that, for SAME */
#define APART_RUNS 4u       /* a side: 3 and 3 are apart by accident too often */
#define APART_LEAST 0.2231  /* and so are the runs of a noisy machine, but not by 25 % */
#define MACHINE_LEAST 0.05  /* a smaller difference of the machines' speed is noise */
#define MAD_TO_SIGMA 1.4826

/* What is judged: a side's values of a metric, run by run. */
struct series {
    double value[DIFF_RUNS]; /* logarithms */
    double mean;             /* of the values themselves */
    double error;            /* squared relative, what the calls of a run leave */
    uint32_t count;
    struct diff_histogram *histogram;
};

struct judge {
    struct diff *d;
    const struct diff_options *o;
    struct series side[2];
};

static const char *const metric_words[] = {
    [DIFF_TIME] = "time",   [DIFF_TYPICAL] = "typical", [DIFF_AVG] = "avg",
    [DIFF_P50] = "p50",     [DIFF_P99] = "p99",         [DIFF_MAX] = "max",
    [DIFF_TOTAL] = "total", [DIFF_SELF] = "self",       [DIFF_CALLS] = "calls",
    [DIFF_BYTES] = "bytes", [DIFF_GPU] = "gpu",
};

static double typical(const struct diff_times *t) {
    double mean = t->count > 0 ? t->total / t->count : 0;
    double n = diff_count(&t->histogram);
    /* Not of these calls: without percentiles, or of a scope inside one of its own name. */
    return fabs(n - t->count) > t->count / 100 ? mean : diff_fastest(&t->histogram, TYPICAL, mean);
}

static double value_of(const struct diff_sample *s, int gpu, enum diff_metric m) {
    const struct diff_times *t = gpu ? &s->gpu : &s->cpu;
    switch (m) {
    case DIFF_AVG:
        return t->count > 0 ? t->total / t->count : 0;
    case DIFF_P50:
        return diff_percentile(&t->histogram, 0.5);
    case DIFF_P99:
        return diff_percentile(&t->histogram, 0.99);
    case DIFF_MAX:
        return t->max;
    case DIFF_TOTAL:
        return t->total;
    case DIFF_SELF:
        return s->self;
    case DIFF_CALLS:
        return s->calls;
    case DIFF_BYTES:
        return s->bytes;
    default:
        return typical(t);
    }
}

static int is_count(enum diff_metric m) {
    return m == DIFF_CALLS || m == DIFF_BYTES;
}

static double sampling_error(const struct diff_times *t, enum diff_metric m) {
    return m == DIFF_TYPICAL || m == DIFF_GPU ? diff_mean_error(&t->histogram, TYPICAL)
           : m == DIFF_AVG                    ? diff_mean_error(&t->histogram, 1)
                                              : 0;
}

static void collect(struct judge *j, const struct diff_row *row, int side, enum diff_metric m) {
    struct series *to = &j->side[side];
    to->count = 0;
    to->mean = to->error = 0;
    for (uint32_t i = 0; i < j->d->runs[side]; ++i) {
        const struct diff_sample *s = &row->item->run[side][i];
        double v = s->there ? value_of(s, row->gpu, m) : 0;
        if (v > 0) {
            const struct diff_times *t = row->gpu ? &s->gpu : &s->cpu;
            to->histogram[to->count] = t->histogram;
            to->value[to->count++] = log(v);
            to->mean += v;
            to->error += sampling_error(t, m);
        }
    }
    to->mean /= to->count ? to->count : 1;
    to->error /= to->count ? to->count : 1;
}

/* A change counts only as far as the machines' speed does not explain it. */
static double unexplained(const struct judge *j, const struct diff_row *row, enum diff_metric m,
                          double log) {
    int host = !row->gpu && !row->item->gpu && !is_count(m);
    double machine = host && !j->o->raw ? j->d->machine : 0;
    double most = machine > 0 ? machine : 0, least = machine < 0 ? machine : 0;
    return log - (log > most ? most : log < least ? least : log);
}

static void find_extremes(const struct series *s, double *low, double *high) {
    *low = *high = s->value[0];
    for (uint32_t i = 1; i < s->count; ++i) {
        *low = s->value[i] < *low ? s->value[i] : *low;
        *high = s->value[i] > *high ? s->value[i] : *high;
    }
}

/* Whether the slowest run of one side is faster than the fastest of the other by half of what the
 * runs of a side differ by, or more. */
static int runs_are_apart(const struct series *a, const struct series *b) {
    double low[2], high[2];
    find_extremes(a, &low[0], &high[0]);
    find_extremes(b, &low[1], &high[1]);
    double width = high[0] - low[0] > high[1] - low[1] ? high[0] - low[0] : high[1] - low[1];
    double gap = low[1] > high[0] ? low[1] - high[0] : low[0] - high[1];
    return gap > 0 && gap >= width / 2;
}

/* Where all runs of one side are far from all of the other, the runs themselves have shown how much
 * they differ. Then what their calls leave uncertain does not count (calls of very different lengths,
 * the same ones in each run, leave much), and the question is whether the runs are of one kind:
 * Student's test, whose freedom a single side that differs more cannot take away as it can Welch's. */
static void compare_enough(const struct judge *j, struct diff_change *c, enum diff_metric m) {
    const struct series *a = &j->side[0], *b = &j->side[1];
    struct diff_welch w;
    int apart = a->count >= APART_RUNS && b->count >= APART_RUNS && fabs(c->log) >= APART_LEAST &&
                runs_are_apart(a, b);
    double error = apart ? 0 : (a->error + b->error) / 2;
    diff_welch(&w, a->value, a->count, b->value, b->count, error > 1e-8 ? error : 1e-8);
    double freedom = apart ? a->count + b->count - 2 : w.freedom;
    c->p = diff_student_p(c->log / w.error, freedom);
    c->error = diff_student_t(0.05, freedom) * w.error;
    c->least = log1p(j->o->threshold);
    if ((m == DIFF_P50 || m == DIFF_P99) && c->least < BUCKET) {
        c->least = BUCKET;
    }
}

/* The rank test speaks of a call's time; of a tail one run says nothing. */
static void compare_few(const struct judge *j, struct diff_change *c, enum diff_metric m) {
    const struct series *a = &j->side[0], *b = &j->side[1];
    double error = sqrt(a->error / a->count + b->error / b->count);
    c->least = j->d->floor;
    c->error = -1;
    if (is_count(m)) {
        c->p = c->error = 0;
        c->least = log1p(j->o->threshold);
    } else if (m == DIFF_MAX || m == DIFF_P99) {
        c->p = 1;
    } else {
        c->p = diff_rank_p(a->histogram, a->count, b->histogram, b->count);
        c->error = error > 0 ? 2 * error : -1;
    }
}

static void compare(struct judge *j, const struct diff_row *row, enum diff_metric m,
                    struct diff_change *c) {
    memset(c, 0, sizeof *c);
    c->of = metric_words[m];
    c->p = 1;
    for (int side = 0; side < 2; ++side) {
        collect(j, row, side, m);
        c->side[side] = j->side[side].mean;
    }
    c->known = j->side[0].count && j->side[1].count;
    if (!c->known) {
        return;
    }
    struct diff_welch w;
    diff_welch(&w, j->side[0].value, j->side[0].count, j->side[1].value, j->side[1].count, 0);
    c->log = unexplained(j, row, m, w.difference);
    if (j->side[0].count >= DIFF_ENOUGH && j->side[1].count >= DIFF_ENOUGH) {
        compare_enough(j, c, m);
    } else {
        j->d->few = 1;
        compare_few(j, c, m);
    }
}

static int may_be_finding(const struct diff_change *c) {
    return c->known && fabs(c->log) >= c->least && c->p < 0.05;
}

/* Of two tests that ask the same: the finding, the surer one of two; else the exacter one. */
static void compare_time(struct judge *j, const struct diff_row *row, struct diff_change *c) {
    struct diff_change avg;
    compare(j, row, DIFF_TYPICAL, c);
    compare(j, row, DIFF_AVG, &avg);
    double p = avg.p < c->p ? avg.p : c->p;
    int found = may_be_finding(c), avg_found = may_be_finding(&avg);
    int exacter = avg.error >= 0 && (c->error < 0 || avg.error < c->error);
    if (found && avg_found && (c->log > 0) != (avg.log > 0)) {
        p = 1; /* most calls say this, the tail says that */
        c->error = -1;
    } else if (avg_found ? !found || avg.p < c->p : !found && exacter) {
        *c = avg;
    }
    c->p = p < 0.5 ? 2 * p : 1;
}

/* ---- Rows. */

static void sum_up(const struct diff *d, struct diff_row *row) {
    for (int side = 0; side < 2; ++side) {
        double self = 0, calls = 0;
        for (uint32_t i = 0; i < d->runs[side]; ++i) {
            const struct diff_sample *s = &row->item->run[side][i];
            row->seen[side] += s->there != 0;
            calls += row->gpu ? s->gpu.count : s->calls;
            row->bytes[side] += s->bytes;
            row->total[side] += row->gpu ? s->gpu.total : s->cpu.total;
            self += s->self;
        }
        double runs = row->seen[side] ? row->seen[side] : 1;
        row->calls[side] = calls / runs;
        row->bytes[side] /= runs;
        row->total[side] /= runs;
        row->self[side] = row->total[side] > 0 && !row->gpu ? self / runs / row->total[side] : 0;
    }
}

static void row_add(struct judge *j, const struct diff_item *item, int gpu) {
    struct diff_row *row = &j->d->row[j->d->rows];
    enum diff_metric m = j->o->metric;
    memset(row, 0, sizeof *row);
    row->item = item;
    row->gpu = gpu;
    sum_up(j->d, row);
    int nothing =
        m == DIFF_BYTES ? row->bytes[0] + row->bytes[1] <= 0 : row->calls[0] + row->calls[1] <= 0;
    if (nothing || row->seen[0] + row->seen[1] == 0) {
        return;
    }
    if (m == DIFF_TIME || m == DIFF_GPU) {
        compare_time(j, row, &row->change);
    } else {
        compare(j, row, m, &row->change);
    }
    for (int side = 0; side < 2; ++side) {
        row->self[side] *= row->change.side[side];
    }
    row->weight =
        row->change.known ? expm1(row->change.log) * row->total[0] : row->total[1] - row->total[0];
    ++j->d->rows;
}

static void rows_fill(struct judge *j) {
    j->d->rows = 0;
    j->d->few = 0;
    for (uint32_t i = 0; i < j->d->items; ++i) {
        if (j->o->metric != DIFF_GPU || j->d->item[i].gpu) {
            row_add(j, &j->d->item[i], 0);
        }
        if (j->o->metric == DIFF_GPU || j->o->metric == DIFF_TIME) {
            row_add(j, &j->d->item[i], 1);
        }
    }
}

/* With few runs the rows are what there is to see how far runs differ: as a whole, and each from
 * the others. */
static void find_floor(struct diff *d, double *scratch) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->rows; ++i) {
        if (d->row[i].change.known) {
            scratch[count++] = d->row[i].change.log;
        }
    }
    double middle = diff_median(scratch, count);
    for (uint32_t i = 0; i < count; ++i) {
        scratch[i] = fabs(scratch[i] - middle);
    }
    double noise = 3.5 * MAD_TO_SIGMA * diff_median(scratch, count) + fabs(middle);
    noise = count < FEW_ROWS ? 0 : noise;
    noise = noise < FEW_MOST ? noise : FEW_MOST;
    d->floor = d->floor > noise ? d->floor : noise;
}

static enum diff_verdict verdict_of(const struct diff *d, const struct diff_options *o,
                                    const struct diff_row *row, double limit) {
    const struct diff_change *c = &row->change;
    double size = fabs(c->log), threshold = log1p(o->threshold);
    if (!row->seen[0] || !row->seen[1]) {
        return row->seen[1] ? DIFF_APPEARED : DIFF_GONE;
    }
    if (!c->known) {
        return c->side[0] + c->side[1] > 0 ? DIFF_UNSURE : DIFF_SAME;
    }
    if (c->p <= limit && size >= c->least) {
        return c->log > 0 ? DIFF_SLOWER : DIFF_FASTER;
    }
    int few = row->seen[0] < DIFF_ENOUGH || row->seen[1] < DIFF_ENOUGH;
    int same = few ? size <= threshold && c->error <= d->floor
                   : size + c->error <= SAME_MARGIN * threshold;
    return c->error >= 0 && same ? DIFF_SAME : DIFF_UNSURE;
}

static int worst_first(const void *left, const void *right) {
    const struct diff_row *a = left, *b = right;
    double wa = fabs(a->weight), wb = fabs(b->weight);
    if (a->verdict != b->verdict) {
        return a->verdict < b->verdict ? -1 : 1;
    }
    if (wa < wb || wa > wb) {
        return wa > wb ? -1 : 1;
    }
    int names = name_compare(a->item->name, a->item->length, b->item->name, b->item->length);
    return names ? names : a->gpu - b->gpu;
}

static void find_machine(struct diff *d, double *scratch) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    for (int side = 0; side < 2; ++side) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < d->runs[side]; ++i) {
            double v = d->run[side][i].reference;
            if (v > 0) {
                scratch[count++] = v;
                low[side] = v < low[side] ? v : low[side];
                high[side] = v > high[side] ? v : high[side];
            }
        }
        d->reference[side] = diff_median(scratch, count);
    }
    d->machine = 0;
    if (d->reference[0] > 0 && d->reference[1] > 0 && (low[1] > high[0] || low[0] > high[1])) {
        double change = log(d->reference[1] / d->reference[0]);
        d->machine = fabs(change) > MACHINE_LEAST ? change : 0;
    }
}

static void judge_rows(struct judge *j, double *scratch) {
    struct diff *d = j->d;
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->rows; ++i) {
        if (d->row[i].change.known) {
            scratch[count++] = d->row[i].change.p;
        }
    }
    double limit = diff_finding_p(scratch, count, FALSE_FINDINGS);
    memset(d->verdicts, 0, sizeof d->verdicts);
    for (uint32_t i = 0; i < d->rows; ++i) {
        d->row[i].verdict = verdict_of(d, j->o, &d->row[i], limit);
        ++d->verdicts[d->row[i].verdict];
    }
    qsort(d->row, d->rows, sizeof *d->row, worst_first);
}

int diff_judge(struct diff *d, const struct diff_options *o) {
    size_t most = 2 * (size_t)d->items + DIFF_RUNS;
    struct judge *j = scratch_get(&d->memory, sizeof *j);
    double *scratch = scratch_array(&d->memory, most, sizeof *scratch);
    d->row = scratch_array(&d->memory, most, sizeof *d->row);
    if (!j || !scratch || !d->row) {
        return -1;
    }
    j->d = d;
    j->o = o;
    for (int side = 0; side < 2; ++side) {
        j->side[side].histogram =
            scratch_array(&d->memory, DIFF_RUNS, sizeof *j->side[side].histogram);
        if (!j->side[side].histogram) {
            return -1;
        }
    }
    find_machine(d, scratch);
    d->floor = log1p(o->threshold > FEW_LEAST ? o->threshold : FEW_LEAST);
    rows_fill(j);
    if (d->few && !is_count(o->metric)) {
        find_floor(d, scratch);
        rows_fill(j); /* again, now that it is known */
    }
    judge_rows(j, scratch);
    return 0;
}
