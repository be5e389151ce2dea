/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two forms of an exposition for Prometheus: text, and length-delimited MetricFamily messages
 * of protobuf with native histograms. Each function appends to a text; a text that runs out of
 * memory says so itself.
 */
#ifndef STINT_VIEWERS_PROMETHEUS_FORM_H
#define STINT_VIEWERS_PROMETHEUS_FORM_H

#include "base/histogram.h"
#include "base/text.h"
#include "export/export_names.h"
#include "read/rows.h"

enum prometheus_unit { PROMETHEUS_SECONDS, PROMETHEUS_NUMBER };

struct prometheus_family {
    const char *name;
    const char *type; /* counter, gauge, summary or histogram */
    const char *help;
};

/* Three of the process, and the six of stint_run_info. */
#define PROMETHEUS_LABELS 9u

struct prometheus_labels {
    uint32_t count;
    int terminal; /* they are printed on one: a name must not be a command to it */
    struct {
        const char *key;
        struct export_name value;
    } label[PROMETHEUS_LABELS];
};

void prometheus_label_add(struct prometheus_labels *l, const char *key, struct export_name value);

struct prometheus_summary {
    const uint64_t *percentile_ns; /* PERCENTILE_COUNT; NULL: they are not known */
    uint64_t sum_ns;
    uint64_t count;
};

struct prometheus_histogram {
    const struct snapshot *s; /* its length of a tick */
    const struct histogram *h;
    int gpu; /* the values are nanoseconds, else ticks */
    uint64_t sum_ns;
    uint64_t count;
};

struct prometheus_form {
    /* A whole family; `series` is what the other functions have written. */
    void (*family)(struct text *out, const struct prometheus_family *f, const struct text *series);
    void (*number)(struct text *out, const struct prometheus_family *f,
                   const struct prometheus_labels *l, uint64_t value, enum prometheus_unit unit);
    void (*summary)(struct text *out, const struct prometheus_family *f,
                    const struct prometheus_labels *l, const struct prometheus_summary *m);
    void (*histogram)(struct text *out, const struct prometheus_family *f,
                      const struct prometheus_labels *l, const struct prometheus_histogram *m);
};

extern const struct prometheus_form prometheus_text;
extern const struct prometheus_form prometheus_proto;

#endif
