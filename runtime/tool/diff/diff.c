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
#define MISSED 0.2          /* a change that runs can show is missed with this probability */
#define LEAST_VARIANCE 1e-8 /* relative: runs that agree by accident are not more certain */

/* The values of a metric on one side, run by run. */
struct series {
    double value[DIFF_RUNS]; /* or their logarithms */
    double mean;             /* of `value` */
    double error;            /* squared relative error of a run, because its calls are a sample */
    uint32_t count;
    uint32_t place[DIFF_RUNS]; /* by run: where its value is, + 1; 0 = it has none */
    struct diff_histogram histogram[DIFF_RUNS];
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
    [DIFF_GPU] = "gpu",     [DIFF_OWN] = "self",
};

static const char *word_of(enum diff_metric m) {
    const struct diff_number *n = diff_number(m);
    return n ? n->word : metric_words[m];
}

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
    const struct diff_number *n = diff_number(m);
    if (n) {
        double sum = s->number[n - diff_numbers];
        return n->of_call ? compute_share(sum, s->calls) : sum;
    }
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
    case DIFF_OWN:
        return compute_share(s->self, s->cpu.count);
    default:
        return compute_typical(t);
    }
}

int diff_metric_counts(enum diff_metric m) {
    return m == DIFF_CALLS || diff_number(m);
}

/* Whether it is of a run, not of a call: a run without a call has 0 of it. */
static int is_sum(enum diff_metric m) {
    return m == DIFF_TOTAL || m == DIFF_SELF;
}

/* Whether the run has a value of the metric. It has no time if none of its calls was timed. */
static int has_value(const struct diff_sample *s, int gpu, enum diff_metric m) {
    const struct diff_times *t = sample_times(s, gpu);
    if (m == DIFF_P50 || m == DIFF_P99) {
        return t->histogram.used > 0;
    }
    if (diff_metric_counts(m)) {
        return !diff_number(m) || !diff_number(m)->of_call || s->calls > 0;
    }
    return t->count > 0 || (is_sum(m) && s->calls <= 0);
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

/* ---- Changes. */

double diff_change_log(const struct diff_change *c) {
    if (c->side[0] <= 0 && c->side[1] <= 0) {
        return 0;
    }
    return log(c->side[1] / c->side[0]);
}

/* In percent of side 0. */
double diff_error_percent(const struct diff_change *c) {
    if (c->linear) {
        return 100 * c->error / c->side[0];
    }
    return 100 * exp(diff_change_log(c)) * expm1(c->error);
}

/* The part of the change that counts, as the logarithm of a ratio. */
static double judged_log(const struct diff_change *c) {
    return diff_change_log(c) - c->machine;
}

/* A logarithm in the units of a change's size. */
static double in_units(const struct diff_change *c, double log) {
    return c->linear ? expm1(log) * c->side[0] : log;
}

/* The size of a relative error of 1. */
static double change_unit(const struct diff_change *c) {
    return c->linear ? double_max(c->side[0], c->side[1]) : 1;
}

/* Fills the side's series with the values of its runs; paired: of the pairs that have both. */
static void collect_series(struct judge *j, const struct diff_row *row, int side,
                           enum diff_metric m, int paired) {
    struct series *to = &j->side[side];
    to->count = 0;
    to->error = 0;
    for (uint32_t i = 0; i < j->d->runs[side]; ++i) {
        const struct diff_sample *s = &row->item->run[side][i];
        to->place[i] = 0;
        if (has_value(s, row->gpu, m) &&
            (!paired || has_value(&row->item->run[!side][i], row->gpu, m))) {
            to->place[i] = to->count + 1;
            const struct diff_times *t = sample_times(s, row->gpu);
            to->histogram[to->count] = t->histogram;
            to->value[to->count++] = compute_metric(s, row->gpu, m);
            to->error += sampling_error(t, m);
        }
    }
    to->error /= double_max(to->count, 1);
}

static int has_zero(const struct series *s) {
    for (uint32_t i = 0; i < s->count; ++i) {
        if (s->value[i] <= 0) {
            return 1;
        }
    }
    return 0;
}

/* Takes the values of both series: their means, and by how much these differ. */
static void take_means(struct judge *j, struct diff_change *c, int linear) {
    c->linear = linear || has_zero(&j->side[0]) || has_zero(&j->side[1]);
    for (int side = 0; side < 2; ++side) {
        struct series *s = &j->side[side];
        double sum = 0;
        for (uint32_t i = 0; i < s->count; ++i) {
            if (!c->linear) {
                s->value[i] = log(s->value[i]);
            }
            sum += s->value[i];
        }
        s->mean = sum / double_max(s->count, 1);
        c->side[side] = s->mean;
        if (!c->linear && s->count) {
            c->side[side] = exp(s->mean);
        }
        c->values[side] = s->count;
    }
    c->size = j->side[1].mean - j->side[0].mean;
}

/* Leaves the part of a change that the machines' speed does not explain. */
static void subtract_machine(const struct judge *j, const struct diff_row *row,
                             struct diff_change *c) {
    int host = !row->gpu && !row->item->gpu && !c->linear;
    double log = c->size;
    if (!host || j->o->raw) {
        return;
    }
    /* Up to the machines' difference, and in its direction. */
    if (j->d->machine > 0) {
        c->machine = double_min(double_max(log, 0), j->d->machine);
    } else {
        c->machine = double_max(double_min(log, 0), j->d->machine);
    }
    c->size -= c->machine;
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

/* By how much the interval is wider because of the order of the runs. */
static double find_widening(const struct judge *j) {
    struct diff *d = j->d;
    uint32_t n = 0;
    double last = 0;
    for (uint32_t i = 0; i < d->runs[0] + d->runs[1]; ++i) {
        const struct diff_place *p = &d->order[i];
        const struct series *s = &j->side[p->side];
        if (s->place[p->number]) {
            d->ordered[n++] = (struct diff_ordered){.value = s->value[s->place[p->number] - 1],
                                                    .kept = diff_order_kept(p->at - last),
                                                    .side = p->side};
            last = p->at;
        }
    }
    return diff_order_widen(d->ordered, n);
}

/* If all runs of one side are far from all of the other, the runs themselves have shown how much
 * they differ. Then the uncertainty that their calls leave does not count (calls of very different
 * lengths, the same ones in each run, leave much), and the question is whether the runs are of one
 * kind: Student's test, whose freedom one side that varies more does not reduce as it does Welch's.
 * Nor does drift move all runs of a side so far at once (1 in 1 000 comparisons of recorded runs).
 */
static void compare_enough(const struct judge *j, struct diff_change *c, enum diff_metric m) {
    const struct series *a = &j->side[0], *b = &j->side[1];
    struct diff_welch w;
    int apart = a->count >= APART_RUNS && b->count >= APART_RUNS &&
                fabs(judged_log(c)) >= APART_LEAST && runs_are_apart(a, b);
    double error = apart ? 0 : (a->error + b->error) / 2;
    error = double_max(error, LEAST_VARIANCE) * change_unit(c) * change_unit(c);
    diff_welch(&w, a->value, a->count, b->value, b->count, 0);
    double drifted = w.error * find_widening(j);
    diff_welch(&w, a->value, a->count, b->value, b->count, error);
    double wide = double_max(w.error, drifted);
    double freedom = apart ? a->count + b->count - 2 : w.freedom;
    double least = log1p(j->o->threshold);
    if (m == DIFF_P50 || m == DIFF_P99) {
        least = double_max(least, BUCKET);
    }
    c->p = diff_student_p(c->size / (apart ? w.error : wide), freedom);
    c->error = diff_student_t(0.05, freedom) * wide;
    c->standard = wide;
    c->freedom = freedom;
    c->least = in_units(c, least);
}

/* The rank test is about the time of a call; the tail of one run shows nothing. */
static void compare_few(const struct judge *j, struct diff_change *c, enum diff_metric m) {
    const struct series *a = &j->side[0], *b = &j->side[1];
    double error = sqrt(a->error / a->count + b->error / b->count) * change_unit(c);
    c->least = in_units(c, j->d->floor);
    c->error = -1;
    if (diff_metric_counts(m)) {
        c->p = c->error = 0;
        c->least = in_units(c, log1p(j->o->threshold));
    } else if (m == DIFF_MAX || m == DIFF_P99) {
        c->p = 1;
    } else {
        c->p = diff_rank_p(a->histogram, a->count, b->histogram, b->count);
        if (error > 0) {
            c->error = 2 * error;
        }
    }
}

static int change_has_few(const struct diff_change *c) {
    return c->values[0] < DIFF_ENOUGH || c->values[1] < DIFF_ENOUGH;
}

/* How well the change is known. */
static void compare_series(struct judge *j, struct diff_change *c, enum diff_metric m) {
    if (c->side[0] <= 0 && c->side[1] <= 0) {
        c->p = 1; /* nothing in all runs */
        c->error = c->size = 0;
    } else if (change_has_few(c)) {
        compare_few(j, c, m);
    } else {
        compare_enough(j, c, m);
    }
}

/* The part of alpha that each of the numbers of interest has. The wall time, if it is none of them,
 * has a probability of its own. */
static double paired_alpha(const struct diff_options *o, const struct diff_row *row) {
    uint32_t wall = (o->fail.on & DIFF_FAIL_WALL) != 0;
    if (row->wall && !wall) {
        return o->paired->alpha;
    }
    return o->paired->alpha / double_max(o->paired->watched + wall, 1);
}

/* Both means are moved by half of what pairs far off were moved by. */
static void compare_pairs(struct judge *j, struct diff_change *c, double alpha) {
    struct pairs_interval interval;
    double *a = j->side[0].value, *b = j->side[1].value;
    for (uint32_t i = 0; i < c->values[0]; ++i) {
        a[i] = b[i] - a[i];
    }
    pairs_compare(&interval, a, c->values[0], alpha, c->linear);
    if (!c->linear) {
        double middle = (j->side[0].mean + j->side[1].mean) / 2;
        c->side[0] = exp(middle - interval.mean / 2);
        c->side[1] = exp(middle + interval.mean / 2);
    }
    c->size = interval.mean;
    c->error = interval.half;
    c->standard = interval.error;
    c->freedom = c->values[0] - 1.0;
    c->p = interval.p;
    c->least = in_units(c, log1p(j->o->paired->least));
}

/* Pairs without both values are shown as the means of the runs that have one. */
static void compare_metric(struct judge *j, const struct diff_row *row, enum diff_metric m,
                           struct diff_change *c) {
    int paired = j->o->paired != NULL, known = 0;
    memset(c, 0, sizeof *c);
    c->of = word_of(m);
    c->p = 1;
    c->error = -1;
    for (int both = paired; both >= 0 && !known; --both) {
        collect_series(j, row, 0, m, both);
        collect_series(j, row, 1, m, both);
        known = both == paired && j->side[0].count && j->side[1].count;
    }
    take_means(j, c, diff_metric_counts(m));
    c->known = known;
    if (known && paired) {
        compare_pairs(j, c, paired_alpha(j->o, row));
    } else if (known) {
        subtract_machine(j, row, c);
        compare_series(j, c, m);
    }
}

static int may_be_finding(const struct diff_change *c) {
    return c->known && fabs(c->size) >= c->least && c->p < 0.05;
}

/* Whether the average tells more than the typical call: if it is the only finding, or the surer one
 * of two; without a finding, if it is known more exactly. */
static int average_is_better(const struct diff_change *typical, const struct diff_change *avg) {
    int found = may_be_finding(typical), avg_found = may_be_finding(avg);
    if (typical->linear) {
        return 1; /* it is 0 in a run: most calls, but perhaps not all, took nothing */
    }
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
    if (may_be_finding(c) && may_be_finding(&avg) && (c->size > 0) != (avg.size > 0)) {
        p = 1; /* most calls changed in one direction, the tail in the other */
        c->error = -1;
    } else if (average_is_better(c, &avg)) {
        *c = avg;
    }
    c->p = double_min(2 * p, 1); /* of two tests */
}

/* ---- Pairs. */

/* The share of the wall time; < 0: neither run has the row. */
static double share_of_first_pair(const struct diff *d, const struct diff_item *item, int gpu) {
    double total = 0, calls = 0, wall = 0;
    for (int side = 0; side < 2; ++side) {
        const struct diff_times *t = sample_times(&item->run[side][0], gpu);
        total += t->total;
        calls += t->count;
        wall += d->run[side][0].wall;
    }
    return calls > 0 && wall > 0 ? total / wall : -1;
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

/* ---- Rows. */

/* The means of a side's runs. */
static void row_sum_side(const struct diff *d, struct diff_row *row, int side) {
    double runs = double_max(d->runs[side], 1);
    for (uint32_t i = 0; i < d->runs[side]; ++i) {
        const struct diff_sample *s = &row->item->run[side][i];
        row->seen[side] += s->there != 0;
        for (uint32_t n = 0; n < DIFF_NUMBERS; ++n) {
            row->number[n][side] += s->number[n] / runs;
        }
        row->total[side] += sample_times(s, row->gpu)->total / runs;
        row->calls[side] += (row->gpu ? s->gpu.count : s->calls) / runs;
    }
}

static int row_is_empty(const struct diff_row *row, enum diff_metric m) {
    const double *number = diff_number(m) ? row->number[m - DIFF_FIRST_NUMBER] : row->calls;
    return row->seen[0] + row->seen[1] == 0 || number[0] + number[1] <= 0;
}

static void row_compare(struct judge *j, struct diff_row *row) {
    enum diff_metric m = row->metric;
    if (m == DIFF_TIME || m == DIFF_GPU) {
        compare_time(j, row, &row->change);
    } else {
        compare_metric(j, row, m, &row->change);
    }
    compare_metric(j, row, DIFF_OWN, &row->self);
    row->change.known &= row->seen[0] && row->seen[1];
    row->self.known &= row->change.known && !row->gpu;
    j->d->few += row->change.known && change_has_few(&row->change);
}

static void row_add(struct judge *j, const struct diff_item *item, int gpu) {
    struct diff_row *row = &j->d->row[j->d->rows];
    enum diff_metric m = j->o->metric;
    if (j->o->paired && !(item->watched & 1u << gpu)) {
        return; /* not of interest */
    }
    memset(row, 0, sizeof *row);
    row->item = item;
    row->metric = m;
    row->gpu = gpu;
    row_sum_side(j->d, row, 0);
    row_sum_side(j->d, row, 1);
    if (row_is_empty(row, m)) {
        return;
    }
    row_compare(j, row);
    row->weight = row->total[1] - row->total[0];
    if (row->change.known && !row->change.linear) {
        row->weight = expm1(row->change.size) * row->total[0];
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
        if (d->row[i].change.known && !d->row[i].change.linear) {
            scratch[count++] = d->row[i].change.size;
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
static int change_is_none(const struct diff *d, const struct diff_change *c, double threshold) {
    double size = fabs(c->size), limit = in_units(c, log1p(threshold));
    if (c->error < 0) {
        return 0;
    }
    if (change_has_few(c)) {
        return size <= limit && c->error <= in_units(c, d->floor);
    }
    return size + c->error <= SAME_MARGIN * limit;
}

static enum diff_verdict find_paired_verdict(const struct diff_change *c) {
    static const enum diff_verdict verdicts[] = {[PAIRS_UNDECIDED] = DIFF_UNSURE,
                                                 [PAIRS_SLOWER] = DIFF_SLOWER,
                                                 [PAIRS_FASTER] = DIFF_FASTER,
                                                 [PAIRS_WITHIN] = DIFF_SAME};
    struct pairs_interval interval = {.mean = c->size, .half = c->error};
    if (c->side[0] <= 0 && c->side[1] <= 0) {
        return c->error < 0 ? DIFF_UNSURE : DIFF_SAME;
    }
    return verdicts[pairs_verdict(&interval, c->least)];
}

static int is_finding(const struct diff_change *c, double limit) {
    return c->p <= limit && fabs(c->size) >= c->least;
}

/* The verdict of a change that is known. */
static enum diff_verdict find_change_verdict(const struct diff *d, const struct diff_options *o,
                                             const struct diff_change *c, double limit) {
    if (o->paired) {
        return find_paired_verdict(c);
    }
    if (is_finding(c, limit)) {
        return c->size > 0 ? DIFF_SLOWER : DIFF_FASTER;
    }
    return change_is_none(d, c, o->threshold) ? DIFF_SAME : DIFF_UNSURE;
}

/* A scope that some runs have and some have not is in the runs of one side alone by accident, too,
 * after few pairs. */
static int is_one_sided(const struct diff_options *o, const struct diff_row *row) {
    if (row->seen[0] && row->seen[1]) {
        return 0;
    }
    return !o->paired || pairs_sign_p(row->seen[0], row->seen[1]) <= paired_alpha(o, row);
}

static enum diff_verdict find_verdict(const struct diff *d, const struct diff_options *o,
                                      const struct diff_row *row, double limit) {
    const struct diff_change *c = &row->change;
    if (is_one_sided(o, row)) {
        return row->seen[1] ? DIFF_APPEARED : DIFF_GONE;
    }
    if (!c->known) {
        int none = row->seen[0] && row->seen[1] && !c->values[0] && !c->values[1];
        return none && !row->item->partial ? DIFF_SAME : DIFF_UNSURE;
    }
    return find_change_verdict(d, o, c, limit);
}

/* Sums what was lost. Returns the calls that the rows of a run may miss, on average. */
static double sum_side_losses(struct diff *d, int side) {
    double missing = 0;
    d->side_lost[side] = 0;
    for (uint32_t i = 0; i < d->runs[side]; ++i) {
        missing += d->run[side][i].missing / d->runs[side];
        d->side_lost[side] = saturating_add(d->side_lost[side], d->run[side][i].lost);
    }
    return missing;
}

/* Whether the verdict may be the work of scopes that were lost: a name is missing, or a sum is
 * smaller. Times of a call are from the calls that there are. */
static int is_of_losses(const struct diff_row *row, const double missing[2]) {
    double calls = fabs(row->calls[1] - row->calls[0]), lost = missing[0] + missing[1];
    switch (row->verdict) {
    case DIFF_APPEARED:
        return calls <= missing[0];
    case DIFF_GONE:
        return calls <= missing[1];
    case DIFF_SLOWER:
    case DIFF_FASTER:
        if (row->metric == DIFF_CALLS) {
            return calls <= lost;
        }
        return lost > 0 && (is_sum(row->metric) || diff_metric_counts(row->metric));
    default:
        return 0;
    }
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

/* The largest p of a finding among the changes of the rows, or of their exclusive times. */
static double find_limit(const struct diff *d, double *scratch, int self) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->rows; ++i) {
        const struct diff_change *c = self ? &d->row[i].self : &d->row[i].change;
        if (c->known && c->side[0] + c->side[1] > 0) {
            scratch[count++] = c->p;
        }
    }
    return diff_finding_p(scratch, count, FALSE_FINDINGS);
}

/* The change that would be found, in percent, if it is judged together with so many others. */
static double find_shown(const struct judge *j, const struct diff_change *c, double tests) {
    double limit = c->error;
    if (!c->known || c->error < 0 || c->standard <= 0 || c->freedom <= 0) {
        return 0;
    }
    if (!j->o->paired) {
        limit = diff_student_t(FALSE_FINDINGS / tests, c->freedom) * c->standard;
    }
    limit += diff_student_t(2 * MISSED, c->freedom) * c->standard;
    limit = double_max(limit, c->least);
    return 100 * (c->linear ? limit / c->side[0] : expm1(limit));
}

static void judge_rows(struct judge *j, double *scratch) {
    struct diff *d = j->d;
    double tests = 0;
    for (uint32_t i = 0; i < d->rows; ++i) {
        tests += d->row[i].change.known;
    }
    if (j->o->metric == DIFF_TIME || j->o->metric == DIFF_GPU) {
        tests *= 2; /* the average and the typical call */
    }
    double limit = find_limit(d, scratch, 0), self_limit = find_limit(d, scratch, 1);
    const double missing[2] = {sum_side_losses(d, 0), sum_side_losses(d, 1)};
    memset(d->verdicts, 0, sizeof d->verdicts);
    d->lost = 0;
    for (uint32_t i = 0; i < d->rows; ++i) {
        struct diff_row *row = &d->row[i];
        row->verdict = find_verdict(d, j->o, row, limit);
        row->shows = find_shown(j, &row->change, tests);
        row->lost = is_of_losses(row, missing);
        if (row->lost) {
            row->verdict = DIFF_UNSURE;
            ++d->lost;
        }
        ++d->verdicts[row->verdict];
        if (row->self.known) {
            enum diff_verdict self = find_change_verdict(d, j->o, &row->self, self_limit);
            row->self.known = self == DIFF_SLOWER || self == DIFF_FASTER;
        }
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

/* One more test than the rows. -1 without memory. */
static int judge_wall(struct judge *j) {
    struct diff *d = j->d;
    struct diff_item *item = scratch_get(&d->memory, sizeof *item);
    struct diff_row *row = &d->wall;
    struct diff_sample *runs[2];
    for (int side = 0; side < 2; ++side) {
        runs[side] = scratch_array(&d->memory, d->runs[side], sizeof *runs[side]);
    }
    if (scratch_failed(&d->memory)) {
        return -1;
    }
    /* Not corrected for the speed of the machines, as GPU times are not. */
    *item = (struct diff_item){.name = "wall time", .set = "", .length = 9, .gpu = 1};
    *row = (struct diff_row){.item = item, .metric = DIFF_TOTAL, .wall = 1};
    for (int side = 0; side < 2; ++side) {
        struct diff_sample *run = runs[side];
        item->run[side] = run;
        for (uint32_t i = 0; i < d->runs[side]; ++i) {
            run[i].calls = 1;
            run[i].cpu.count = d->run[side][i].wall > 0;
            run[i].cpu.total = d->run[side][i].wall;
        }
    }
    compare_metric(j, row, DIFF_TOTAL, &row->change);
    row->change.of = "wall";
    row->shows = find_shown(j, &row->change, 1);
    memcpy(row->seen, row->change.values, sizeof row->seen);
    row->verdict = DIFF_UNSURE;
    if (row->change.known) {
        row->verdict = find_change_verdict(d, j->o, &row->change, FALSE_FINDINGS);
    }
    return 0;
}

/* ---- Failures. */

int diff_row_fails(const struct diff_options *o, const struct diff_row *row) {
    static const unsigned named[DIFF_VERDICTS] = {[DIFF_SLOWER] = DIFF_FAIL_SLOWER,
                                                  [DIFF_APPEARED] = DIFF_FAIL_NEW,
                                                  [DIFF_GONE] = DIFF_FAIL_GONE};
    unsigned name = row->wall ? DIFF_FAIL_WALL : named[row->verdict];
    if (row->verdict == DIFF_SLOWER && judged_log(&row->change) < log1p(o->fail.least[row->wall])) {
        return 0;
    }
    return (o->fail.on & name) && named[row->verdict];
}

int diff_fails(const struct diff *d, const struct diff_options *o) {
    int failed = diff_row_fails(o, &d->wall) || (o->fail.on && !d->rows);
    for (uint32_t i = 0; i < d->rows && !failed; ++i) {
        failed = diff_row_fails(o, &d->row[i]);
    }
    return failed;
}

int diff_judge(struct diff *d, const struct diff_options *o) {
    size_t most = 2 * (size_t)d->items + DIFF_RUNS;
    struct judge *j = scratch_get(&d->memory, sizeof *j);
    double *scratch = scratch_array(&d->memory, most, sizeof *scratch);
    d->row = scratch_array(&d->memory, most, sizeof *d->row);
    if (scratch_failed(&d->memory)) {
        return -1;
    }
    j->d = d;
    j->o = o;
    if (diff_order_find(d)) {
        return -1;
    }
    find_machine(d, scratch);
    d->floor = log1p(double_max(o->threshold, FEW_LEAST));
    rows_fill(j);
    if (d->few && !diff_metric_counts(o->metric) && !o->paired) {
        find_floor(d, scratch);
        rows_fill(j); /* again, with the floor */
    }
    judge_rows(j, scratch);
    d->same = count_same_files(d);
    return judge_wall(j);
}
