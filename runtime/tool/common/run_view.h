/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run as a report.
 */
#ifndef STINT_TOOL_RUN_VIEW_H
#define STINT_TOOL_RUN_VIEW_H

#include "model/run.h"
#include "report/report.h"

struct run_view {
    struct report_options options;
    const char *set; /* its name; NULL = all */
};

/* A view of the tool (gen/views.ini) with options; 0, or -1 for a text of another form. */
int run_view_parse(const char *text, struct run_view *out);
/* The report as text, folded to the view's width. 0; -1 after one line: no memory, or a set that
 * the run does not have. */
int run_view_print(struct text *out, struct run *r, const struct run_view *view);
/* "running, pid 123": the run's state in words. */
void run_view_state(char *out, size_t size, const struct run *r);
/* "2026-01-31 23:59:59 +0000", or "?" */
void run_view_time(char *out, size_t size, uint64_t real_ns);

#endif
