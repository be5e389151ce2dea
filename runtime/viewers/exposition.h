/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to a scrape of Prometheus: the metrics of one run or of several, each family once, as
 * text or as length-delimited MetricFamily messages with native histograms.
 */
#ifndef STINT_VIEWERS_EXPOSITION_H
#define STINT_VIEWERS_EXPOSITION_H

#include "base/text.h"
#include "metrics.h"

struct exposition_family {
    char *name;
    char *help;
    char *type;
    struct text series; /* lines */
};

#define EXPOSITION_FAMILIES 128u /* twice as many as export_prometheus.c writes */

struct exposition {
    struct exposition_family family[EXPOSITION_FAMILIES];
    uint32_t families;
    int native;                /* protobuf with native histograms */
    int processes;             /* series have the labels host, pid and rank */
    struct text histograms[2]; /* of native ones: the series, of scopes and on the GPU */
    int failed;
};

void exposition_start(struct exposition *x, int native, int processes);
/* Adds a run. 0, or -1 without memory. */
int exposition_add(struct exposition *x, struct run *r);
/* Appends all families. 0, or -1 without memory. */
int exposition_put(struct text *out, const struct exposition *x);
void exposition_free(struct exposition *x);

#endif
