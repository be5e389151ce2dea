/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of reports: a snapshot in, text out. None of them depends on how anything was recorded.
 * views/ puts them together.
 */
#ifndef STINT_REPORT_H
#define STINT_REPORT_H

#include "base/text.h"
#include "read/snapshot.h"
#include "report_options.h"

struct arena_cost;
struct machine_usage;

/* Where the run took place; a text that is NULL or "" is not known. */
struct report_about {
    const char *program;
    const char *host;
    const char *cpu;
    const char *compiler;
    const char *clock;
    const char *gpu; /* the back end, and why it does not work; "": not requested */
    uint32_t cpus;
    const char *place;                 /* in a parallel job; NULL or "": it is not of one */
    const char *state;                 /* of a run that is read from its file: a line about it */
    int killed;                        /* its end is not known: ages are lower bounds */
    const struct machine_usage *usage; /* NULL = not known */
};

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

struct report {
    struct snapshot *snapshot;
    const struct report_options *options;
    struct text *out;
    const struct report_cost *cost; /* NULL = not known */
    const struct report_about *about;
};

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
/* The report of PaddlePaddle's Stat.h, of one set or of all of them: headers and rows, a closing
 * line with line != 0. */
int report_legacy(const struct report *r, int line);
/* One row of it by name; -1 if the set has no such name. */
int report_legacy_row(const struct report *r, const char *name);
/* The lines of the ledger that are not zero, each after `indent`. */
void report_losses(const struct report *r, const char *indent);

#endif
