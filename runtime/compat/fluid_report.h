/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the two halves of the fluid report share.
 */
#ifndef STINT_FLUID_REPORT_H
#define STINT_FLUID_REPORT_H

#include "base/text.h"
#include "fluid_rows.h"

#define FLUID_CELL 12 /* columns of one time, and of two */
#define FLUID_CELL_TWO 24

struct fluid_page {
    const struct report *r;
    const struct fluid_sheet *f;
    const uint32_t *ordinal; /* of threads that have a row; NULL: names without their thread */
    enum fluid_key key;
    size_t name; /* columns */
};

extern const char *const fluid_ways[FLUID_WAYS];

/* The Event Summary; -1 without memory. */
int fluid_table(struct fluid_page *p);

/* The title between its rules. */
void fluid_section(struct text *out, const char *title);
/* Set left in `width` columns, with at least one blank after it: spaces that the next cell puts
 * in front of it are owed. */
__attribute__((format(printf, 4, 5))) void fluid_cell(struct text *out, size_t *owed, size_t width,
                                                      const char *format, ...);
static inline double fluid_ms(double ns) {
    return ns / 1e6;
}
/* "label   Total: 1.5   Ratio: 15%", without the end of the line. */
void fluid_line(struct text *out, const char *label, double ns, double whole);
/* The same program by durations: nothing is counted twice. */
int report_fluid_once(const struct report *r, enum fluid_source source);

/* The profiling report of the fluid profiler, and durations below it. Returns -1 without memory. */
int report_fluid(const struct report *r);
/* The memory report, fluid_memory.c; prints nothing if no allocation was recorded. Returns -1
 * without memory. */
int fluid_memory(const struct report *r);

#endif
