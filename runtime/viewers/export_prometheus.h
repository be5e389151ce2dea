/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pieces of the prometheus export.
 */
#ifndef STINT_EXPORT_PROMETHEUS_H
#define STINT_EXPORT_PROMETHEUS_H

#include "base/sink.h"
#include "export/export_names.h"
#include "read/rows.h"

enum prometheus_unit { PROMETHEUS_SECONDS, PROMETHEUS_NUMBER };

/* HELP and TYPE of a family, before its series. */
void prometheus_head(struct sink *out, const char *name, const char *type, const char *help);
/* `{name="text"`; the key includes the brace or comma before it. */
void prometheus_label(struct sink *out, const char *key, struct export_name text);
/* The end of a series. Exact: seconds have nine decimals. */
void prometheus_value(struct sink *out, uint64_t value, enum prometheus_unit unit);

/* All of a run that the families of scopes are made of. */
struct prometheus {
    struct sink *out;
    const struct snapshot *s;
    const struct rows *rows;
    const uint32_t *order;
};

/* `NAMESUFFIX{name="...",set="..."`, without the closing brace. */
void prometheus_scope(const struct prometheus *p, const struct stint_row *r, const char *name,
                      const char *suffix);
/* A whole series of a scope. */
void prometheus_series(const struct prometheus *p, const struct stint_row *r, const char *name,
                       const char *suffix, uint64_t value, enum prometheus_unit unit);

/* The families of classic histograms. */
void prometheus_histograms(const struct prometheus *p);
/* The GPU activities, if there are any. 0, or -1 if there is not enough memory. */
int prometheus_gpu(struct sink *out, struct snapshot *s);

#endif
