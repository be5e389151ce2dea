/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of the prometheus export.
 */
#ifndef STINT_EXPORT_PROMETHEUS_H
#define STINT_EXPORT_PROMETHEUS_H

#include "base/sink.h"
#include "export/export_names.h"

enum prometheus_unit { PROMETHEUS_SECONDS, PROMETHEUS_NUMBER };

/* HELP and TYPE of a family, before its series. */
void prometheus_head(struct sink *out, const char *name, const char *type, const char *help);
/* `{name="text"`; the key includes the brace or comma before it. */
void prometheus_label(struct sink *out, const char *key, struct export_name text);
/* The end of a series. Exact: seconds have nine decimals. */
void prometheus_value(struct sink *out, uint64_t value, enum prometheus_unit unit);

/* The GPU activities, if there are any. 0, or -1 if there is not enough memory. */
int prometheus_gpu(struct sink *out, struct snapshot *s);

#endif
