/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of a report: which view, rows and times it shows, of which run, and the text that it
 * becomes. The parts in report/ and compat/ take it.
 */
#ifndef STINT_REPORT_FORM_H
#define STINT_REPORT_FORM_H

#include <stddef.h>
#include <stdint.h>

#include "activity_table.h"
#include "report_view_ids.inc" /* enum report_view */

struct machine_usage;
struct ranks;
struct report;
struct report_cost;
struct text;

/* The states of the fluid view, as stint_profiler_start and _stop name them. 0: without them the
 * view shows both times and all that was recorded, by `sort`. */
enum fluid_state { FLUID_ALL, FLUID_CPU, FLUID_GPU };
enum fluid_detail { FLUID_RECORDED, FLUID_DEFAULT, FLUID_OP_DETAIL, FLUID_ALL_OP_DETAIL };
enum fluid_key {
    FLUID_BY_SORT,
    FLUID_BY_FIRST_END,
    FLUID_BY_CALLS,
    FLUID_BY_TOTAL,
    FLUID_BY_MIN,
    FLUID_BY_MAX,
    FLUID_BY_AVE,
    FLUID_BY_CPU,
    FLUID_BY_GPU
};

struct fluid_options {
    enum fluid_state state;
    enum fluid_detail detail;
    enum fluid_key key;
};

struct report_options {
    enum report_view view;
    uint32_t sort; /* column */
    uint32_t top;  /* 0 = all */
    int threads;
    int corrected;  /* times without stint's own cost, in table and tree */
    uint32_t set;   /* REPORT_ALL_SETS or an id */
    uint32_t width; /* columns of the terminal, 0 = as wide as it gets */
    int no_line;    /* the legacy view without its closing line */
    int colour;     /* bold and dim text */
    int bar;        /* of the column that the rows are sorted by; on a terminal */
    int (*wanted)(const char *name, size_t length); /* NULL: every name */
    struct fluid_options fluid;
};
#define REPORT_ALL_SETS UINT32_MAX
#define REPORT_NO_MATCH "no name matches the filter"

/* The meaning of `sort` in the views gpu and fluid, whose rows are not scopes. */
enum activity_sort report_form_activity_sort(const struct report_options *o);
enum fluid_key report_form_fluid_sort(const struct report_options *o);
static inline int report_options_want(const struct report_options *o, const char *name,
                                      size_t length) {
    return !o->wanted || o->wanted(name, length);
}

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
    /* Adds the ranks of a merged run, which only the tool can; NULL: it is not the tool. */
    int (*ranks)(const struct report *r, const struct ranks *ranks);
};

struct report {
    struct snapshot *snapshot;
    const struct report_options *options;
    struct text *out;
    const struct report_cost *cost; /* NULL = not known */
    const struct report_about *about;
};

#endif
