/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges the statistics of two sides of runs: for each of them what changed, and whether that is
 * more than runs differ without a change. cmd_diff.c calls diff_judge once after all runs were
 * read; diff_show.c prints the result. The order of steps matters: the machines' speed first, which
 * explains a part of each change; with few runs the rows are computed twice, because the rows
 * themselves show how far runs differ.
 * - Changes are logarithms: twice as long and half as long are equally far from no change.
 * - Three runs a side or more show how far runs differ among themselves: Welch's test over runs.
 *   Fewer do not, however many calls they hold: then the calls' ranks are tested, and only changes
 *   larger than runs commonly differ by are findings.
 * - The typical call is the mean of the fastest 95 %: unlike the median of a histogram it does not
 *   jump from bucket to bucket, and unlike the mean a single preemption does not change it.
 */
#include "diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/name.h"
#include "diff_math.h"

#define TYPICAL 0.95
#define FALSE_FINDINGS 0.02 /* the share of false findings that is accepted */
#define BUCKET 0.065        /* the relative width of a bucket, and so the error of a percentile */
#define FEW_LEAST 0.10      /* runs of one program on one machine commonly differ by this much */
#define FEW_MOST 0.2624     /* and rarely by more */
#define FEW_ROWS 8u         /* with fewer rows their spread is not used */
#define SAME_MARGIN 2.5     /* times the threshold: the largest possible change of a SAME */
#define APART_RUNS 4u       /* per side: 3 and 3 are apart by accident too often */
#define APART_LEAST 0.2231  /* runs of a noisy machine are apart, too, but not by 25 % */
#define MACHINE_LEAST 0.05  /* a smaller difference of the machines' speed is noise */
#define MAD_TO_SIGMA 1.4826

/* The values of a metric on one side, run by run. */
struct series {
    double value[DIFF_RUNS]; /* logarithms */
    double mean;             /* of the values, not of their logarithms */
    double error;            /* squared relative error of a run, because its calls are a sample */
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
    [DIFF_BYTES] = "bytes", [DIFF_MEMORY] = "memory",   [DIFF_GPU] = "gpu",
};

static double compute_share(double sum, double count) {
    return count > 0 ? sum / count : 0;
}

static double compute_average(const struct diff_times *t) {
    return compute_share(t->total, t->count);
}

static double compute_typical(const struct diff_times *t) {
    double mean = compute_average(t);
    double n = diff_count(&t->histogram);
    /* The histogram is not of these calls: without percentiles, or of a scope within one of its
     * name. */
    if (fabs(n - t->count) > t->count / 100) {
        return mean;
    }
    return diff_fastest(&t->histogram, TYPICAL, mean);
}

static const struct diff_times *sample_times(const struct diff_sample *s, int gpu) {
    return gpu ? &s->gpu : &s->cpu;
}

static double compute_metric(const struct diff_sample *s, int gpu, enum diff_metric m) {
    const struct diff_times *t = sample_times(s, gpu);
    switch (m) {
    case DIFF_AVG:
        return compute_average(t);
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
    case DIFF_MEMORY:
        return compute_share(s->memory, s->calls);
    default:
        return compute_typical(t);
    }
}

static int is_count(enum diff_metric m) {
    return m == DIFF_CALLS || m == DIFF_BYTES || m == DIFF_MEMORY;
}

static double sampling_error(const struct diff_times *t, enum diff_metric m) {
    switch (m) {
    case DIFF_TYPICAL:
    case DIFF_GPU:
        return diff_mean_error(&t->histogram, TYPICAL);
    case DIFF_AVG:
        return diff_mean_error(&t->histogram, 1);
    default:
        return 0;
    }
}

/* Fills the side's series with the runs that have a value. */
static void collect_series(struct judge *j, const struct diff_row *row, int side,
                           enum diff_metric m) {
    struct series *to = &j->side[side];
    to->count = 0;
    to->mean = to->error = 0;
    for (uint32_t i = 0; i < j->d->runs[side]; ++i) {
        const struct diff_sample *s = &row->item->run[side][i];
        if (!s->there) {
            continue;
        }
        const struct diff_times *t = sample_times(s, row->gpu);
        double value = compute_metric(s, row->gpu, m);
        if (value > 0) {
            to->histogram[to->count] = t->histogram;
            to->value[to->count++] = log(value);
            to->mean += value;
            to->error += sampling_error(t, m);
        }
    }
    if (to->count) {
        to->mean /= to->count;
        to->error /= to->count;
    }
}

/* The part of a change that the machines' speed does not explain. */
static double subtract_machine(const struct judge *j, const struct diff_row *row,
                               enum diff_metric m, double log) {
    int host = !row->gpu && !row->item->gpu && !is_count(m);
    if (!host || j->o->raw) {
        return log;
    }
    double explained; /* up to the machines' difference, and in its direction */
    if (j->d->machine > 0) {
        explained = double_min(double_max(log, 0), j->d->machine);
    } else {
        explained = double_max(double_min(log, 0), j->d->machine);
    }
    return log - explained;
}

static void find_extremes(const struct series *s, double *low, double *high) {
    *low = *high = s->value[0];
    for (uint32_t i = 1; i < s->count; ++i) {
        *low = double_min(*low, s->value[i]);
        *high = double_max(*high, s->value[i]);
    }
}

/* Whether the slowest run of one side is faster than the fastest of the other by half of what the
 * runs of a side differ by, or more. */
static int runs_are_apart(const struct series *a, const struct series *b) {
    double low[2], high[2];
    find_extremes(a, &low[0], &high[0]);
    find_extremes(b, &low[1], &high[1]);
    double width = double_max(high[0] - low[0], high[1] - low[1]);
    double gap = double_max(low[1] - high[0], low[0] - high[1]);
    return gap > 0 && gap >= width / 2;
}

/* If all runs of one side are far from all of the other, the runs themselves have shown how much
 * they differ. Then the uncertainty that their calls leave does not count (calls of very different
 * lengths, the same ones in each run, leave much), and the question is whether the runs are of one
 * kind: Student's test, whose freedom one side that varies more does not reduce as it does Welch's.
 */
static void compare_enough(const struct judge *j, struct diff_change *c, enum diff_metric m) {
    const struct series *a = &j->side[0], *b = &j->side[1];
    struct diff_welch w;
    int apart = a->count >= APART_RUNS && b->count >= APART_RUNS && fabs(c->log) >= APART_LEAST &&
                runs_are_apart(a, b);
    double error = apart ? 0 : (a->error + b->error) / 2;
    diff_welch(&w, a->value, a->count, b->value, b->count, double_max(error, 1e-8));
    double freedom = apart ? a->count + b->count - 2 : w.freedom;
    c->p = diff_student_p(c->log / w.error, freedom);
    c->error = diff_student_t(0.05, freedom) * w.error;
    c->least = log1p(j->o->threshold);
    if ((m == DIFF_P50 || m == DIFF_P99) && c->least < BUCKET) {
        c->least = BUCKET;
    }
}

/* The rank test is about the time of a call; the tail of one run shows nothing. */
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
        if (error > 0) {
            c->error = 2 * error;
        }
    }
}

static void compare_metric(struct judge *j, const struct diff_row *row, enum diff_metric m,
                           struct diff_change *c) {
    memset(c, 0, sizeof *c);
    c->of = metric_words[m];
    c->p = 1;
    for (int side = 0; side < 2; ++side) {
        collect_series(j, row, side, m);
        c->side[side] = j->side[side].mean;
    }
    c->known = j->side[0].count && j->side[1].count;
    if (!c->known) {
        return;
    }
    struct diff_welch w;
    diff_welch(&w, j->side[0].value, j->side[0].count, j->side[1].value, j->side[1].count, 0);
    c->log = subtract_machine(j, row, m, w.difference);
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

/* Whether the average tells more than the typical call: if it is the only finding, or the surer one
 * of two; without a finding, if it is known more exactly. */
static int average_is_better(const struct diff_change *typical, const struct diff_change *avg) {
    int found = may_be_finding(typical), avg_found = may_be_finding(avg);
    if (found && avg_found) {
        return avg->p < typical->p;
    }
    if (found || avg_found) {
        return avg_found;
    }
    return avg->error >= 0 && (typical->error < 0 || avg->error < typical->error);
}

static void compare_time(struct judge *j, const struct diff_row *row, struct diff_change *c) {
    struct diff_change avg;
    compare_metric(j, row, DIFF_TYPICAL, c);
    compare_metric(j, row, DIFF_AVG, &avg);
    double p = double_min(avg.p, c->p);
    if (may_be_finding(c) && may_be_finding(&avg) && (c->log > 0) != (avg.log > 0)) {
        p = 1; /* most calls changed in one direction, the tail in the other */
        c->error = -1;
    } else if (average_is_better(c, &avg)) {
        *c = avg;
    }
    c->p = double_min(2 * p, 1); /* of two tests */
}

/* ---- Pairs. */

/* The changes of the pairs in which both runs have a value; their number. */
static uint32_t collect_pairs(struct judge *j, const struct diff_row *row, struct diff_change *c) {
    double *change = j->side[0].value;
    uint32_t pairs = j->d->runs[0], n = 0;
    for (uint32_t i = 0; i < pairs; ++i) {
        double value[2];
        for (int side = 0; side < 2; ++side) {
            const struct diff_sample *s = &row->item->run[side][i];
            value[side] = s->there ? compute_metric(s, row->gpu, DIFF_TYPICAL) : 0;
        }
        if (value[0] > 0 && value[1] > 0) {
            c->side[0] += value[0];
            c->side[1] += value[1];
            change[n++] = log(value[1] / value[0]);
        }
    }
    return n;
}

static void set_paired_change(struct diff_change *c, const double *change, uint32_t n,
                              double alpha) {
    struct pairs_interval interval;
    pairs_compare(&interval, change, n, alpha);
    c->known = n > 0;
    c->log = interval.mean;
    c->error = interval.half;
    c->p = interval.p;
}

static void compare_pairs(struct judge *j, const struct diff_row *row, struct diff_change *c) {
    const struct diff_pairing *p = j->o->paired;
    memset(c, 0, sizeof *c);
    c->of = metric_words[DIFF_TYPICAL];
    c->least = log1p(p->least);
    uint32_t n = collect_pairs(j, row, c);
    set_paired_change(c, j->side[0].value, n, p->alpha / double_max(p->watched, 1));
    for (int side = 0; side < 2; ++side) {
        c->side[side] /= double_max(n, 1);
    }
}

static double share_of_first_pair(const struct diff *d, const struct diff_item *item, int gpu) {
    double total = 0, wall = 0;
    for (int side = 0; side < 2; ++side) {
        const struct diff_sample *s = &item->run[side][0];
        if (s->there) {
            total += sample_times(s, gpu)->total;
        }
        wall += d->run[side][0].wall;
    }
    return total > 0 && wall > 0 ? total / wall : -1;
}

void diff_watch(struct diff *d, struct diff_pairing *p, double share) {
    p->watched = p->left = 0;
    for (uint32_t i = 0; i < d->items; ++i) {
        struct diff_item *item = &d->item[i];
        item->watched = 0;
        for (int gpu = 0; gpu < 2; ++gpu) {
            double taken = share_of_first_pair(d, item, gpu);
            if (taken >= share) {
                item->watched |= 1u << gpu;
                ++p->watched;
            } else if (taken >= 0) {
                ++p->left;
            }
        }
    }
}

static int row_is_left_out(const struct judge *j, const struct diff_item *item, int gpu) {
    return j->o->paired && !(item->watched & 1u << gpu);
}

/* ---- Rows. */

/* The means of a side's runs that have the statistic. */
static void row_sum_side(const struct diff *d, struct diff_row *row, int side) {
    double self = 0, calls = 0;
    for (uint32_t i = 0; i < d->runs[side]; ++i) {
        const struct diff_sample *s = &row->item->run[side][i];
        row->seen[side] += s->there != 0;
        row->bytes[side] += s->bytes;
        row->memory[side] += s->memory;
        row->total[side] += sample_times(s, row->gpu)->total;
        calls += row->gpu ? s->gpu.count : s->calls;
        self += s->self;
    }
    double runs = double_max(row->seen[side], 1);
    row->calls[side] = calls / runs;
    row->bytes[side] /= runs;
    row->memory[side] /= runs;
    row->total[side] /= runs;
    row->self[side] = 0;
    if (row->total[side] > 0 && !row->gpu) {
        row->self[side] = self / runs / row->total[side];
    }
}

static int row_is_empty(const struct diff_row *row, enum diff_metric m) {
    if (row->seen[0] + row->seen[1] == 0) {
        return 1;
    }
    if (m == DIFF_BYTES) {
        return row->bytes[0] + row->bytes[1] <= 0;
    }
    if (m == DIFF_MEMORY) {
        return row->memory[0] + row->memory[1] <= 0;
    }
    return row->calls[0] + row->calls[1] <= 0;
}

static void row_add(struct judge *j, const struct diff_item *item, int gpu) {
    struct diff_row *row = &j->d->row[j->d->rows];
    enum diff_metric m = j->o->metric;
    if (row_is_left_out(j, item, gpu)) {
        return;
    }
    memset(row, 0, sizeof *row);
    row->item = item;
    row->gpu = gpu;
    row_sum_side(j->d, row, 0);
    row_sum_side(j->d, row, 1);
    if (row_is_empty(row, m)) {
        return;
    }
    if (j->o->paired) {
        compare_pairs(j, row, &row->change);
    } else if (m == DIFF_TIME || m == DIFF_GPU) {
        compare_time(j, row, &row->change);
    } else {
        compare_metric(j, row, m, &row->change);
    }
    for (int side = 0; side < 2; ++side) {
        row->self[side] *= row->change.side[side];
    }
    row->weight = row->total[1] - row->total[0];
    if (row->change.known) {
        row->weight = expm1(row->change.log) * row->total[0];
    }
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

/* With few runs only the rows show how far runs differ: all of them together, and each from the
 * others. */
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
    if (count >= FEW_ROWS) {
        d->floor = double_max(d->floor, double_min(noise, FEW_MOST));
    }
}

/* Whether the intervals of the runs, or of the calls of few runs, exclude a larger change. */
static int change_is_none(const struct diff *d, const struct diff_row *row, double threshold) {
    const struct diff_change *c = &row->change;
    double size = fabs(c->log);
    if (c->error < 0) {
        return 0;
    }
    if (row->seen[0] < DIFF_ENOUGH || row->seen[1] < DIFF_ENOUGH) {
        return size <= threshold && c->error <= d->floor;
    }
    return size + c->error <= SAME_MARGIN * threshold;
}

static enum diff_verdict find_paired_verdict(const struct diff_change *c) {
    static const enum diff_verdict verdicts[] = {[PAIRS_UNDECIDED] = DIFF_UNSURE,
                                                 [PAIRS_SLOWER] = DIFF_SLOWER,
                                                 [PAIRS_FASTER] = DIFF_FASTER,
                                                 [PAIRS_WITHIN] = DIFF_SAME};
    struct pairs_interval interval = {.mean = c->log, .half = c->error};
    return verdicts[pairs_verdict(&interval, c->least)];
}

static enum diff_verdict find_verdict(const struct diff *d, const struct diff_options *o,
                                      const struct diff_row *row, double limit) {
    const struct diff_change *c = &row->change;
    if (!row->seen[0] || !row->seen[1]) {
        return row->seen[1] ? DIFF_APPEARED : DIFF_GONE;
    }
    if (!c->known) {
        return c->side[0] + c->side[1] > 0 || row->item->partial ? DIFF_UNSURE : DIFF_SAME;
    }
    if (o->paired) {
        return find_paired_verdict(c);
    }
    if (c->p <= limit && fabs(c->log) >= c->least) {
        return c->log > 0 ? DIFF_SLOWER : DIFF_FASTER;
    }
    return change_is_none(d, row, log1p(o->threshold)) ? DIFF_SAME : DIFF_UNSURE;
}

double diff_error_percent(const struct diff_change *c) {
    return 100 * exp(c->log) * expm1(c->error);
}

static int compare_badness(const void *left, const void *right) {
    const struct diff_row *a = left, *b = right;
    double wa = fabs(a->weight), wb = fabs(b->weight);
    if (a->verdict != b->verdict) {
        return (int)a->verdict - (int)b->verdict;
    }
    if (wa < wb || wa > wb) {
        return (wa < wb) - (wa > wb);
    }
    int names = name_compare(a->item->name, a->item->length, b->item->name, b->item->length);
    if (names) {
        return names;
    }
    return a->gpu - b->gpu;
}

static void find_machine(struct diff *d, double *scratch) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {0, 0};
    for (int side = 0; side < 2; ++side) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < d->runs[side]; ++i) {
            double reference = d->run[side][i].reference;
            if (reference > 0) {
                scratch[count++] = reference;
                low[side] = double_min(low[side], reference);
                high[side] = double_max(high[side], reference);
            }
        }
        d->reference[side] = diff_median(scratch, count);
    }
    d->machine = 0;
    if (d->reference[0] > 0 && d->reference[1] > 0 && (low[1] > high[0] || low[0] > high[1])) {
        double change = log(d->reference[1] / d->reference[0]);
        if (fabs(change) > MACHINE_LEAST) {
            d->machine = change;
        }
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
        d->row[i].verdict = find_verdict(d, j->o, &d->row[i], limit);
        ++d->verdicts[d->row[i].verdict];
    }
    qsort(d->row, d->rows, sizeof *d->row, compare_badness);
}

/* ---- All of the runs. */

static int is_same_file(const struct diff_run *a, const struct diff_run *b) {
    int same_run = a->pid == b->pid && a->start_ticks == b->start_ticks;
    return a->bytes && a->bytes == b->bytes && same_run && !strcmp(a->host, b->host);
}

static uint32_t count_same_files(const struct diff *d) {
    uint32_t same = 0;
    for (uint32_t a = 0; a < d->runs[0]; ++a) {
        uint32_t b = 0;
        while (b < d->runs[1] && !is_same_file(&d->run[0][a], &d->run[1][b])) {
            ++b;
        }
        same += b < d->runs[1];
    }
    return same;
}

/* By the pairs; with a probability of its own, because it is not one of the rows. */
static void judge_wall_pairs(struct judge *j) {
    double *change = j->side[0].value;
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->d->runs[0]; ++i) {
        double a = j->d->run[0][i].wall, b = j->d->run[1][i].wall;
        if (a > 0 && b > 0) {
            change[n++] = log(b / a);
        }
    }
    set_paired_change(&j->d->wall, change, n, j->o->paired->alpha);
}

static void judge_wall(struct judge *j) {
    struct diff_change *c = &j->d->wall;
    memset(c, 0, sizeof *c);
    for (int side = 0; side < 2; ++side) {
        struct series *to = &j->side[side];
        to->count = 0;
        to->error = 0;
        for (uint32_t i = 0; i < j->d->runs[side]; ++i) {
            double wall = j->d->run[side][i].wall;
            c->side[side] += wall / j->d->runs[side];
            if (wall > 0) {
                to->value[to->count++] = log(wall);
            }
        }
    }
    if (j->o->paired) {
        judge_wall_pairs(j);
        return;
    }
    c->known = j->side[0].count && j->side[1].count;
    if (!c->known) {
        return;
    }
    struct diff_welch w;
    diff_welch(&w, j->side[0].value, j->side[0].count, j->side[1].value, j->side[1].count, 0);
    c->log = w.difference;
    c->error = -1;
    if (j->side[0].count >= DIFF_ENOUGH && j->side[1].count >= DIFF_ENOUGH) {
        compare_enough(j, c, DIFF_TOTAL);
    }
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
    d->floor = log1p(double_max(o->threshold, FEW_LEAST));
    rows_fill(j);
    if (d->few && !is_count(o->metric) && !o->paired) {
        find_floor(d, scratch);
        rows_fill(j); /* again, with the floor */
    }
    judge_rows(j, scratch);
    judge_wall(j);
    d->same = count_same_files(d);
    return 0;
}
