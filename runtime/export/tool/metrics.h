/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as metrics: a histogram per scope and counters, cumulative since the run began, or the
 * difference of two readings. OTLP is written from them. All times are computed with the length of
 * a tick that the program measured at its start, so that no number falls from one reading to the
 * next.
 */
#ifndef STINT_VIEWERS_METRICS_H
#define STINT_VIEWERS_METRICS_H

#include "base/hash_map.h"
#include "base/histogram.h"
#include "base/scratch.h"
#include "base/sink.h"
#include "export/export_names.h"
#include "model/rows.h"
#include "model/run.h"

/* The series of a run; from METRIC_OF_SCOPE on there is a counter for each column with `metric`. */
enum metric_kind {
    METRIC_DURATION, /* histograms: nanoseconds */
    METRIC_GPU_DURATION,
    METRIC_LOST, /* all others are counters */
    METRIC_STEPS,
    METRIC_OF_SCOPE
};

struct metric_about {
    const char *name;
    const char *description;
    const char *unit;
    struct row_field field; /* of a row, of a counter of scopes, */
    uint64_t needs;         /* if the row has this: ROW_* */
};

/* NULL past the last kind. */
const struct metric_about *metric_about(uint32_t kind);

/* Which series a number belongs to. Pointers are into the memory of the struct metrics. */
struct metric_label {
    const char *name; /* of the scope, or what was lost */
    const char *set;
    const char *parent; /* the names around it: "main;step"; NULL: of all paths */
    const char *thread; /* its name; NULL: of all threads */
    uint32_t tid;
    uint32_t set_id; /* 0: the default set */
    uint32_t kind;
    uint32_t hash;
};

struct metric_series {
    struct metric_label label;
    u128 count; /* of calls, or the number of a counter */
    u128 sum_ns;
    uint64_t min_ns;
    uint64_t max_ns;
    const char *note;              /* of the slowest call; NULL: none */
    struct histogram_list buckets; /* in_ns: of nanoseconds, else ticks */
    uint32_t row;                  /* of rows_flat */
    int bounded;                   /* min_ns and max_ns are known */
    int noted;                     /* an earlier reading has the same slowest call */
    int hidden; /* a histogram of earlier readings, which this one has left out */
};

static inline int metric_is_histogram(const struct metric_series *s) {
    return s->label.kind <= METRIC_GPU_DURATION;
}

static inline int metric_is_gpu(const struct metric_series *s) {
    return s->label.kind == METRIC_GPU_DURATION;
}

struct metrics {
    struct scratch memory;
    struct metric_series *series;
    uint32_t count;
    uint32_t room;
    uint32_t hidden;           /* series */
    struct hash_map series_of; /* hashes of labels to series */
    double ns_per_tick;
    const char *program;
    const char *host;
    uint32_t pid;
    uint32_t rank;     /* + 1; 0: not known */
    uint64_t start_ns; /* since 1970, of the run or of the interval */
    uint64_t time_ns;  /* of the reading */
    int delta;
};

/* The series of that label; NULL: there is none. */
struct metric_series *metrics_find(const struct metrics *m, const struct metric_label *wanted);
/* A copy of the series, whose label is new and has its hash. NULL without memory. */
struct metric_series *metrics_add(struct metrics *m, const struct metric_series *series);

/* The histogram of a row, on the GPU or not. -1: it has none, or memory for it was refused, so that
 * some calls are in no bucket: no series, rather than one that is too small. */
int metric_histogram_read(struct histogram *out, const struct rows *rows, uint32_t row, int gpu);

/* Reads the rows of a run and sets its snapshot's length of a tick. 0, or -1 without memory and
 * with nothing to free. */
int metrics_read(struct metrics *out, struct run *r, int each_thread);
/* Raises the numbers of `now` that are below those of `then`, an earlier reading of the same run:
 * a call that ends while it is read may be counted in one place and not yet in another. What `now`
 * has left out is kept for the next difference; its time is a millisecond after that of `then`, at
 * least. 0, or -1 without memory. */
int metrics_raise(struct metrics *now, const struct metrics *then);
/* Gets the increase from `then` to `now`, which was raised, without series that have not changed.
 * Returns 0, or -1 without memory and with nothing to free. The result refers to texts of `now`. */
int metrics_since(struct metrics *out, const struct metrics *now, const struct metrics *then);
void metrics_free(struct metrics *m);

/* The value that the samples of a bucket count as, of an open one the least that they are, and the
 * bound above which no sample of it is: both in nanoseconds. */
double metric_middle(const struct metrics *m, const struct metric_series *h, uint32_t bucket);
double metric_bound(const struct metrics *m, const struct metric_series *h, uint32_t bucket);

/* The nanoseconds that `permille` of 1000 samples do not exceed, by the same rule as in reports:
 * the middle of the bucket that has the sample of that rank. 0 without a sample. */
uint64_t metric_percentile(const struct metrics *m, const struct metric_series *h,
                           uint32_t permille);

/* Whether that percentile is a lower bound: it falls on a call that no bucket tells apart. */
int metric_is_beyond(const struct metric_series *h, uint32_t permille);

#endif
