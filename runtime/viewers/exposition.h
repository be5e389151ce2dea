/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The metrics of one run or of several as Prometheus reads them: each family once, in one of two
 * forms. export_prometheus.c has the families and series of a run.
 */
#ifndef STINT_VIEWERS_EXPOSITION_H
#define STINT_VIEWERS_EXPOSITION_H

#include "base/sink.h"
#include "prometheus_form.h"

/* Twice as many as export_prometheus.c has. */
#define EXPOSITION_FAMILIES 128u

struct exposition_family {
    struct prometheus_family family;
    struct text series;
};

struct exposition {
    const struct prometheus_form *form;
    struct sink *sink;                /* takes a series at once; NULL: they are kept by family */
    struct prometheus_labels process; /* of the run at hand, the first labels of its series */
    struct exposition_family family[EXPOSITION_FAMILIES];
    uint32_t families;
    uint32_t current;
    int failed;
};

void exposition_start(struct exposition *x, const struct prometheus_form *form);
/* A family, which the series that follow belong to. */
void exposition_family(struct exposition *x, const char *name, const char *type, const char *help);
void exposition_number(struct exposition *x, const struct prometheus_labels *l, uint64_t value,
                       enum prometheus_unit unit);
void exposition_summary(struct exposition *x, const struct prometheus_labels *l,
                        const struct prometheus_summary *m);
void exposition_histogram(struct exposition *x, const struct prometheus_labels *l,
                          const struct prometheus_histogram *m);
/* Appends all families. 0, or -1 without memory, also before. */
int exposition_put(struct text *out, const struct exposition *x);
void exposition_free(struct exposition *x);

#endif
