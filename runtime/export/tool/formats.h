/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The formats that the tool writes, in the order of gen/formats.ini.
 */
#ifndef STINT_FORMATS_H
#define STINT_FORMATS_H

#include "export/export.h"

#include "tool_formats.inc"

struct format {
    const char *name;
    /* See export/export.h. NULL: of several runs, which tool/history writes. */
    int (*write)(struct sink *out, struct run *r);
    int binary; /* not text */
};

struct metrics;
/* The page of export_html with the percentiles of `interval`, which metrics_since made, beside
 * those since the run began. */
int export_html_interval(struct sink *out, struct run *r, const struct metrics *interval);

/* By its place in the table; NULL after the last. */
const struct format *format_at(size_t index);
/* NULL: no format has this name. */
const struct format *format_find(const char *name);

#endif
