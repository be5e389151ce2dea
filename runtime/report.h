/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: a snapshot in, text out. report.c chooses, the views format, and none of them knows how
 * anything was recorded.
 */
#ifndef STINT_REPORT_H
#define STINT_REPORT_H

#include "report_options.h"
#include "snapshot.h"
#include "text.h"

struct report {
    struct snapshot *snapshot;
    const struct report_options *options;
    struct text *out;
    uint64_t cost_ns_x1000; /* what one scope costs, in picoseconds */
};

/* Each adds its part; -1 without memory. */
int report_header(const struct report *r);
int report_table(const struct report *r);
int report_tree(const struct report *r);
int report_footer(const struct report *r);
/* The ancestor's report of one set: header and rows; set's closing line with line != 0. */
int report_legacy(const struct report *r, int line);
/* One row of it by name; -1 if the set has no such name. */
int report_legacy_row(const struct report *r, const char *name);
/* The lines of the ledger that are not zero, each behind `indent`. */
void report_losses(const struct report *r, const char *indent);

#endif
