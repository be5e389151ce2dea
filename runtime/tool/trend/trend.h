/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A series of runs, and for each scope where it changed. cmd_trend.c reads the runs with
 * trend_read; trend_show.c and trend_html.c print what trend_judge found.
 */
#ifndef STINT_TOOL_TREND_H
#define STINT_TOOL_TREND_H

#include "base/sink.h"
#include "base/text.h"
#include "tool/diff/diff.h"
#include "trend_math.h"

#define TREND_RUNS 10000u

enum trend_order { TREND_BY_TIME, TREND_BY_COMMIT };

/* A place on the time axis: a run, or the runs of a commit. */
struct trend_point {
    uint32_t first; /* in trend.order */
    uint32_t runs;
};

/* The time that a run spends in a scope itself, point by point. */
struct trend_series {
    const char *name;
    const char *set;
    size_t length;
    uint32_t count;      /* points that have it */
    const uint32_t *at;  /* their numbers */
    const double *value; /* logarithms of nanoseconds */
    const struct trend_change *change;
    uint32_t changes;
    double weight; /* nanoseconds of its largest change */
    uint32_t item; /* of diff.item; UINT32_MAX: the wall time */
};

/* A scope that lost what another one gained at about the same point. */
struct trend_move {
    uint32_t from, to;   /* series */
    uint32_t at, to_at;  /* points of the two changes */
    double lost, gained; /* nanoseconds per run */
};

struct trend {
    struct diff d;   /* its side 0 has the runs */
    uint32_t *order; /* of the runs: by time */
    uint32_t files;  /* read, or not */
    uint32_t runs;   /* of them, those that are in the series */
    struct trend_point *point;
    uint32_t points;
    struct trend_series *series; /* those with changes first, the largest first */
    uint32_t count;
    uint32_t changed; /* series */
    uint32_t brief;   /* series with fewer points than a test needs */
    struct trend_move *move;
    uint32_t moves;
};

/* Starts with room for so many runs. 0, or -1 without memory. */
int trend_start(struct trend *t, uint32_t runs);
/* Reads a run. 0, or -1 after one line: it is left out. */
int trend_read(struct trend *t, const char *path);
/* Orders the runs, in the same way whatever order they were read in. 0, or -1 after one line: no
 * series can be made of them. */
int trend_arrange(struct trend *t, enum trend_order by);
/* Finds the changes. 0, or -1 without memory. */
int trend_judge(struct trend *t);
void trend_end(struct trend *t);

/* Whether the change is half of a move. */
int trend_is_moved(const struct trend *t, uint32_t series, uint32_t point);
void trend_show(const struct trend *t, struct text *out);
void trend_write_json(const struct trend *t, struct sink *out);
void trend_write_html(const struct trend *t, struct sink *out);

#endif
