/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports and their parts: a snapshot in, text out. None of them depends on how anything was
 * recorded. gen/views.ini has the parts of each view.
 */
#ifndef STINT_REPORT_H
#define STINT_REPORT_H

#include "base/text.h"
#include "model/report_form.h"
#include "report_options.h"

struct arena_cost;

/* The cost of a call, in picoseconds; as struct arena_cost. */
struct report_cost {
    uint64_t timed;
    uint64_t recursive;
    uint64_t dynamic;
    uint64_t reading;
    uint64_t inner;
    uint64_t outer;
    uint64_t dense;
    uint64_t gap;
    uint64_t cold; /* 0 = not known */
    int ranges;
};
void report_cost_read(struct report_cost *out, const struct arena_cost *from, double ns_per_tick);

/* The report that the options request. -1 without memory. */
int report_render(const struct report *r);
/* Adds a report to `out`, its lines broken at a space where they are longer than so many columns of
 * a terminal. */
void report_fold(struct text *out, const struct text *in, size_t width);
/* Adds why a report that was to be corrected is not, after `indent`; nothing if it is. */
void report_not_corrected(const struct report *r, const char *indent);

/* Each adds its part; -1 without memory. */
int report_header(const struct report *r);
int report_table(const struct report *r);
int report_tree(const struct report *r);
int report_footer(const struct report *r);
/* Lines of the footer about the GPU: what is to come, the peaks that shares refer to. */
void report_gpu(const struct report *r);
/* Kernels, copies, API calls, devices, steps and hints: what a tracer saw. */
int report_activity(const struct report *r);
/* The same of devices over time (busy, idle and why, steps), and what to look at first. */
int report_devices(const struct report *r);
int report_hints(const struct report *r);
/* Scopes and ranges of libraries in the columns of profilers that list ranges. */
int report_ranges(const struct report *r);
/* Which rank of a merged run is late, and how evenly each name is spread over the ranks. */
int report_ranks(const struct report *r);
/* The lines of the ledger that are not zero, each after `indent`. */
void report_losses(const struct report *r, const char *indent);

#endif
