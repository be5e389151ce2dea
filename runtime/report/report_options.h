/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a report: REPORT_OPTIONS_FORM. The views are in gen/views.ini, the keys of sort=
 * in gen/columns.ini.
 */
#ifndef STINT_REPORT_OPTIONS_H
#define STINT_REPORT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "read/activity_table.h"
#include "report_view_ids.inc" /* enum report_view */
#include "words.inc"

/* A value that STINT_REPORT and the functions that print a report take besides: it prints
 * nothing. */
#define REPORT_NONE "none"
#define REPORT_NONE_OR REPORT_NONE " or "
#define REPORT_OPTIONS_FORM WORDS_VIEWS "[,sort=" WORDS_SORT_KEYS "][,top=N][,threads][,corrected]"

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
    int colour;     /* bold and dim text */
    int bar;        /* of the column that the rows are sorted by; on a terminal */
    int (*wanted)(const char *name, size_t length); /* NULL: every name */
    struct fluid_options fluid;
};
#define REPORT_ALL_SETS UINT32_MAX

const char *report_view_name(enum report_view view);
/* Whether the view has times that can be corrected. */
int report_can_correct(enum report_view view);
/* 0, or -1 for a text of another form. */
int report_options_parse(const char *text, struct report_options *out);
/* The meaning of `sort` in the views gpu and fluid, whose rows are not scopes. */
enum activity_sort report_options_activity_sort(const struct report_options *o);
enum fluid_key report_options_fluid_sort(const struct report_options *o);
static inline int report_options_want(const struct report_options *o, const char *name,
                                      size_t length) {
    return !o->wanted || o->wanted(name, length);
}
#define REPORT_NO_MATCH "no name matches the filter"

#endif
