/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The families and series that a run has for Prometheus.
 */
#ifndef STINT_EXPORT_PROMETHEUS_H
#define STINT_EXPORT_PROMETHEUS_H

#include "exposition.h"
#include "read/rows.h"

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
