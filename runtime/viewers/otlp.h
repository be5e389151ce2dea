/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as a request of OpenTelemetry's protocol (OTLP 1.x, ExportMetricsServiceRequest).
 */
#ifndef STINT_VIEWERS_OTLP_H
#define STINT_VIEWERS_OTLP_H

#include "base/sink.h"
#include "metrics.h"

struct otlp_form {
    int proto;           /* protobuf, else JSON in one line */
    int explicit_bounds; /* the bounds of the recorder's buckets; else exponential histograms */
};

/* 0, or -1 without memory. */
int otlp_put(struct sink *out, struct metrics *m, const struct otlp_form *form);
/* A run in the default form. 0, or -1 without memory. */
int otlp_export_run(struct sink *out, struct run *r, int proto);

#endif
