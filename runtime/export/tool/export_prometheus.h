/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The families and series that a run has for Prometheus.
 */
#ifndef STINT_EXPORT_PROMETHEUS_H
#define STINT_EXPORT_PROMETHEUS_H

#include "base/sink.h"
#include "base/text.h"
#include "export/export_names.h"
#include "model/rows.h"

/* ---- exposition.c: the metrics of one run or of several in Prometheus' text format: each
 * family once. A text that runs out of memory says so itself. */

/* Twice as many as export_prometheus.c has. */
#define EXPOSITION_FAMILIES 128u

enum exposition_unit { EXPOSITION_SECONDS, EXPOSITION_NUMBER };

/* Three of the process, and the six of stint_run_info. */
#define EXPOSITION_LABELS 9u

struct exposition_labels {
    uint32_t count;
    int terminal; /* they are printed on one: a name must not be a command to it */
    struct {
        const char *key;
        struct export_name value;
    } label[EXPOSITION_LABELS];
};

void exposition_label_add(struct exposition_labels *l, const char *key, struct export_name value);

struct exposition_family {
    const char *name;
    const char *type; /* counter, gauge, summary or histogram */
    const char *help;
    struct text series;
};

struct exposition {
    struct sink *sink;                /* takes a series at once; NULL: they are kept by family */
    struct exposition_labels process; /* of the run at hand, the first labels of its series */
    struct exposition_family family[EXPOSITION_FAMILIES];
    uint32_t families;
    uint32_t current;
    int failed;
};

struct exposition_summary {
    const uint64_t *percentile_ns; /* the first `percentiles` of PERCENTILE_COUNT are known */
    uint32_t percentiles;
    u128 sum_ns;
    u128 count;
};

/* The bounds of every histogram: 2^4 ns, which is about the time that a scope itself takes, and
 * each next power of two, to 2^46 ns (19.5 hours), about where the recorder has its last bucket.
 * They are the same for every scope, run and machine, so that buckets can be added. */
#define EXPOSITION_BOUNDS 43u

static inline uint64_t exposition_bound_ns(uint32_t bound) {
    return (uint64_t)16 << bound;
}

struct exposition_histogram {
    uint64_t up_to[EXPOSITION_BOUNDS]; /* the calls that were not longer than the bound */
    u128 sum_ns;
    uint64_t count;
};

/* sink: NULL for exposition_put. */
void exposition_start(struct exposition *x, struct sink *sink);
/* A family, which the series that follow belong to. */
void exposition_family(struct exposition *x, const char *name, const char *type, const char *help);
void exposition_number(struct exposition *x, const struct exposition_labels *l, u128 value,
                       enum exposition_unit unit);
void exposition_summary(struct exposition *x, const struct exposition_labels *l,
                        const struct exposition_summary *m);
void exposition_histogram(struct exposition *x, const struct exposition_labels *l,
                          const struct exposition_histogram *m);
/* Appends all families. 0, or -1 without memory, also before. */
int exposition_put(struct text *out, const struct exposition *x);
void exposition_free(struct exposition *x);

/* All of a run that the families of scopes are made of. */
struct prometheus {
    struct exposition *x;
    const struct snapshot *s;
    const struct rows *rows;
    const uint32_t *order;
};

/* The labels of a scope. */
struct exposition_labels prometheus_scope(const struct prometheus *p, const struct stint_row *r);

/* The families of histograms. */
void prometheus_histograms(const struct prometheus *p);
/* The GPU activities, if there are any. 0, or -1 if there is not enough memory. */
int prometheus_gpu(struct exposition *x, struct snapshot *s);

/* Adds a run. Times are computed with the length of a tick that the program measured at its start,
 * so that no number falls from one reading to the next. processes: its series have the labels host,
 * pid and rank. 0, or -1 without memory. */
int prometheus_add_run(struct exposition *x, struct run *r, int processes);

#endif
