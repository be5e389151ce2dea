/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sides of runs, and for each statistic what changed between them. diff_read.c reads the runs,
 * diff.c judges them, diff_show.c prints the result; docs/diff.md describes the method.
 */
#ifndef STINT_TOOL_DIFF_H
#define STINT_TOOL_DIFF_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/scratch.h"
#include "base/sink.h"
#include "base/text.h"
#include "diff_math.h"
#include "model/rows.h"
#include "tool/common/options.h"

#define DIFF_RUNS 1024u /* per side, at most */
#define DIFF_ENOUGH 3u  /* runs per side that show how far runs differ among themselves */

/* A number of a scope that is compared as it is. */
struct diff_number {
    const char *word; /* of --metric */
    struct row_field field;
    int of_call; /* else of a run */
    int bytes;
};

#include "diff_numbers.inc"

/* In the order of the words of --metric, then those that it does not name. */
enum diff_metric {
    DIFF_TIME, /* of a call: the average or the typical one, whichever shows more */
    DIFF_TOTAL,
    DIFF_SELF,
    DIFF_AVG,
    DIFF_P50,
    DIFF_P99,
    DIFF_MAX,
    DIFF_CALLS,
    DIFF_NUMBER_LIST,
    DIFF_GPU,
    DIFF_TYPICAL,
    DIFF_OWN, /* exclusive time of a call: the column self */
    DIFF_METRICS
};

#define DIFF_FIRST_NUMBER (DIFF_CALLS + 1u)

/* NULL: the metric is none of them. */
static inline const struct diff_number *diff_number(enum diff_metric m) {
    return m > DIFF_CALLS && m < DIFF_GPU ? &diff_numbers[m - DIFF_FIRST_NUMBER] : NULL;
}

static inline int diff_is_bytes(enum diff_metric m) {
    return diff_number(m) && diff_number(m)->bytes;
}

/* In the order they are shown. */
enum diff_verdict {
    DIFF_SLOWER,
    DIFF_UNSURE,
    DIFF_FASTER,
    DIFF_APPEARED,
    DIFF_GONE,
    DIFF_SAME,
    DIFF_VERDICTS
};

struct diff_times {
    double count; /* calls that the total is of */
    double total; /* nanoseconds */
    double max;
    struct diff_histogram histogram;
};

/* A statistic in one run. */
struct diff_sample {
    int there;
    double calls;
    double number[DIFF_NUMBERS];
    double self; /* nanoseconds */
    struct diff_times cpu;
    struct diff_times gpu;
};

struct diff_item {
    const char *name; /* of activities with the prefix "[gpu] " or "[api] " */
    const char *set;  /* "" = the default one */
    size_t length;
    struct diff_sample *run[2]; /* an array per side, as long as diff.runs */
    int gpu;                    /* work of a GPU: its times are in `cpu` */
    int partial;                /* in some runs, without times: calls were not timed */
    unsigned watched;           /* of paired runs: bit 0 is its row, bit 1 its row of GPU time */
};

struct diff_run {
    const char *program;
    const char *host;
    double wall;            /* nanoseconds */
    int at_least;           /* the wall time: the run was killed */
    uint64_t lost;          /* counts of losses that rows may miss something for */
    double missing;         /* calls that they may miss, at most; may be infinite */
    double reference;       /* picoseconds per iteration of the reference loop, 0 = unknown */
    uint64_t start_real_ns; /* 0 = unknown */
    /* All equal in two runs: the same file, or a copy of it. */
    uint64_t bytes; /* 0 = not of a file */
    uint64_t start_ticks;
    uint32_t pid;
    uint32_t cpus;
    const char *cpu;
    const char *conditions; /* as in docs/format.md; "" = not known */
};

/* A number that is compared: its mean on both sides, by how much it changed, and how well that is
 * known. Two kinds: logarithms are compared and the means are geometric; or, if one of the numbers
 * is 0 or they are counts, the numbers themselves (linear) and the means are arithmetic. Either way
 * the change that is shown is the one of the two means. */
struct diff_change {
    int known; /* both sides have a value */
    int linear;
    uint32_t values[2]; /* runs that have a value */
    double side[2];
    double size;     /* logarithm of a ratio, or a difference; without the part `machine` */
    double machine;  /* logarithm: the part of the change that the machines' speed explains */
    double error;    /* half of the 95 % interval of size; < 0: unknown */
    double p;        /* the probability of such a change by chance */
    double least;    /* size of a finding */
    double standard; /* standard error of size; 0: unknown */
    double freedom;  /* of it */
    const char *of;  /* "avg", "typical" … */
};

struct diff_row {
    const struct diff_item *item;
    enum diff_metric metric;
    int gpu;
    int wall; /* it is the wall time of the program */
    enum diff_verdict verdict;
    int lost; /* UNSURE, because scopes were lost on a side */
    struct diff_change change;
    double shows;            /* percent: such a change is found in 4 of 5 cases; 0: unknown */
    struct diff_change self; /* of the exclusive time of a call; known only where it is a finding */
    double calls[2];         /* of a run, on average over all runs of the side; also the next */
    double number[DIFF_NUMBERS][2];
    double total[2];
    double weight;    /* nanoseconds by which a run takes longer because of it */
    uint32_t seen[2]; /* runs that have it */
};

/* A run, in the order in which they started. */
struct diff_place {
    uint64_t start; /* real time, ns */
    double at;      /* since the first one, in usual distances of runs */
    uint32_t number;
    int side;
};

/* Whether a side has the row, and a value of it. */
static inline int diff_side_is_known(const struct diff_row *row, int side) {
    return row->seen[side] && row->change.values[side];
}

/* Runs made in pairs (`stint ab`): run i of both sides is pair i. */
struct diff_pairing {
    double alpha;     /* the probability of a false SLOWER or FASTER in the whole comparison */
    double least;     /* the smallest difference of interest; 0.01 = 1 % */
    uint64_t seed;    /* of the order within the pairs */
    uint32_t warmups; /* pairs that were run before, and are not in the comparison */
    uint32_t watched; /* rows of interest: each is judged with its part of alpha */
    uint32_t left;    /* statistics of the first pair that are not of interest */
    int aslr;         /* 1 on, 0 off, -1 not known */
    const char *end;  /* why no more pairs were run */
};

/* Findings that make a comparison fail, in the order of the words of --fail-on. */
enum diff_fail_on {
    DIFF_FAIL_SLOWER = 1,
    DIFF_FAIL_WALL = 2,
    DIFF_FAIL_NEW = 4,
    DIFF_FAIL_GONE = 8
};

struct diff_fail {
    unsigned on;     /* enum diff_fail_on; 0: nothing */
    double least[2]; /* of a scope and of the wall time, from which it is a failure; 0.05 = 5 % */
};

/* Why a comparison without a row fails. */
#define DIFF_NOTHING "no name matches the filter, or no run has the metric: nothing is compared"

struct diff_options {
    enum diff_metric metric;
    struct diff_fail fail;
    const struct diff_pairing *paired; /* NULL: the runs of the two sides are independent */
    double threshold;                  /* smaller changes are ignored; 0.02 = 2 % */
    int raw;                           /* the machines' speed is not corrected for */
    int filtered;                      /* names were left out */
};

struct diff {
    struct scratch memory;
    struct diff_run *run[2];
    uint32_t runs[2];
    struct diff_item *item;
    uint32_t items;
    uint32_t room;
    struct hash_map item_of;      /* hashes of names to items */
    struct diff_place *order;     /* all runs */
    struct diff_ordered *ordered; /* those with a value of a row: room */
    int order_is_known;
    int alternated; /* the sides in the order, so that drift of the machine cancels */
    struct diff_row *row;
    uint32_t rows;
    uint32_t verdicts[DIFF_VERDICTS];
    double reference[2];   /* picoseconds, 0 = unknown */
    double machine;        /* logarithm: how much slower side 1's machine is; 0 = not */
    double floor;          /* logarithm: with few runs, smaller changes are not findings */
    uint32_t few;          /* rows with values of few runs */
    uint32_t lost;         /* rows that are UNSURE because scopes were lost */
    uint64_t side_lost[2]; /* the losses of all runs */
    uint32_t same;         /* runs of side 0 whose file is on side 1, too */
    struct diff_row wall;  /* not corrected for the machines' speed */
};

/* Starts with two empty sides for so many runs. 0, or -1 without memory. */
int diff_start(struct diff *d, uint32_t a_runs, uint32_t b_runs);
/* The statistic of that name, added if it is new. NULL without memory. */
struct diff_item *diff_item(struct diff *d, const char *name, size_t length, const char *set);
/* Reads a run file as run `number` of a side, without the rows that the filter excludes. 0;
 * 1 after a warning: not all of it can be read; -1 after one line: nothing of it. */
int diff_read(struct diff *d, int side, uint32_t number, const char *path);
/* Chooses the rows of interest of paired runs by the first pair: those that take at least that
 * share of the wall time on the mean of both sides, so that the choice favours no side. */
void diff_watch(struct diff *d, struct diff_pairing *p, double share);
/* Sorts the runs by their start times, or as they were given: first all of side 0. 0, or -1 without
 * memory. */
int diff_order_find(struct diff *d);
/* Fills row, worst first. 0, or -1 without memory. */
int diff_judge(struct diff *d, const struct diff_options *o);
/* Prints a judged diff, as text or as Markdown. top: at most so many rows, 0 = all. */
void diff_show(struct diff *d, const struct diff_options *o, uint32_t top, int markdown,
               struct text *out);
/* The logarithm of side 1 / side 0: 0 if both are 0, infinite if one is. */
double diff_change_log(const struct diff_change *c);
/* How far a change may be off, in percent of side 0: at the further end of its interval. The
 * interval of a ratio has a nearer end, too, and no decrease can reach 100 %. Infinite if side 0 is
 * 0. */
double diff_error_percent(const struct diff_change *c);
/* Whether the row, or any, is what --fail-on names. A comparison without a row fails, too. */
int diff_row_fails(const struct diff_options *o, const struct diff_row *row);
int diff_fails(const struct diff *d, const struct diff_options *o);
/* Whether it is a number of calls or bytes, compared as it is. */
int diff_metric_counts(enum diff_metric m);
/* SLOWER, or of a metric that counts MORE ... */
const char *diff_verdict_word(enum diff_metric metric, enum diff_verdict v);

/* ---- diff_formats.c: a judged diff for other programs. */

/* format: one for programs. Failures are what --fail-on says, in the formats that know failures;
 * without it everything SLOWER. */
void diff_write(const struct diff *d, const struct diff_options *o, enum option_format format,
                uint32_t top, struct sink *out);
void diff_end(struct diff *d);

#endif
