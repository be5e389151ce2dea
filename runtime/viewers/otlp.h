/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metrics as a request of OpenTelemetry's protocol (OTLP 1.x, ExportMetricsServiceRequest), JSON in
 * one line.
 */
#ifndef STINT_VIEWERS_OTLP_H
#define STINT_VIEWERS_OTLP_H

#include "base/sink.h"
#include "metrics.h"

struct otlp_form {
    int explicit_bounds; /* the bounds of the recorder's buckets; else exponential histograms */
};

/* 0, or -1 without memory. */
int otlp_put(struct sink *out, struct metrics *m, const struct otlp_form *form);

#endif
