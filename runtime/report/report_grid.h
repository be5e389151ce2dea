/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small table of a report: cells come in row by row, and are set in columns as wide as they need.
 */
#ifndef STINT_REPORT_GRID_H
#define STINT_REPORT_GRID_H

#include "base/text.h"
#include "model/snapshot.h"
#include "report_options.h"

#define GRID_COLUMNS 24u

struct grid_cell {
    size_t at; /* in the text */
    size_t length;
    size_t width; /* columns of the terminal */
};

struct report_grid {
    struct text text; /* of all cells, one after the other */
    struct grid_cell *cells;
    uint32_t columns;
    uint32_t count;
    uint32_t room;
    uint32_t left;   /* bit i: column i is set left, the others right */
    uint32_t keep;   /* see grid_fit */
    uint32_t hidden; /* bit i: column i is not printed */
    size_t width;
    int colour;
    int failed;
};

/* The titles, at most GRID_COLUMNS and then NULL, are the first row. */
void grid_start(struct report_grid *g, const char *const *titles, uint32_t left);
__attribute__((format(printf, 2, 3))) void grid_add(struct report_grid *g, const char *format, ...);
/* A name, made safe to print, cut to so many columns (0 = never). */
void grid_name(struct report_grid *g, const char *name, size_t length, size_t columns);
void grid_dashes(struct report_grid *g, int cells);
/* Ends a cell whose text the caller has added to `text` since `from`. */
void grid_end_cell(struct report_grid *g, size_t from, size_t width);
void grid_count(struct report_grid *g, u128 n);
void grid_time(struct report_grid *g, u128 ns);
/* A time that may be a lower bound. */
void grid_time_or_more(struct report_grid *g, u128 ns, int or_more);
void grid_bytes(struct report_grid *g, u128 bytes);
void grid_rate(struct report_grid *g, uint64_t per_s);         /* in 10^9 */
void grid_share(struct report_grid *g, u128 part, u128 whole); /* "-" of nothing */
/* After the start: on a terminal, columns that it has no room for are left out from the right, but
 * for those whose bit is in `keep`; and titles are bold. */
void grid_fit(struct report_grid *g, const struct report_options *o, uint32_t keep);
/* Appends it to `out`, each line after `indent` spaces, and frees it. 0, or -1 without memory. */
int grid_print(struct report_grid *g, struct text *out, size_t indent);
/* Frees one that was not printed. */
void grid_free(struct report_grid *g);

#define REPORT_PATH 400u

/* "main > step > load", of at most so many bytes with the NUL: what does not fit goes from the
 * left. Returns the length. */
size_t report_path_text(char out[REPORT_PATH], const struct snapshot *s, uint32_t node);
/* A cell of it; "-" where no scope is known. */
void report_path(struct report_grid *g, const struct snapshot *s, uint32_t node);

#endif
