/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source lines of a run that was instrumented by lines: one row per line of a file, the threads
 * added up, in the order of files and lines.
 */
#ifndef STINT_LINE_ROWS_H
#define STINT_LINE_ROWS_H

#include "snapshot.h"

struct stint_impl_line_cell;

struct line_file {
    const char *name; /* in the snapshot */
    uint32_t length;
    uint32_t first; /* of its rows */
    uint32_t count;
    /* The source that was built, as in struct stint_impl_lines_file; NULL: not known. */
    const char *content;
    uint32_t content_length;
    int is_mixed; /* several sources of that name were built */
};

struct line_row {
    uint32_t file;
    uint32_t line;
    u128 hits;
    u128 self_ns;
    u128 total_ns;  /* with the instrumented functions that the line calls */
    u128 gpu_calls; /* kernels, copies and fills that the line launched */
    u128 gpu_ns;
};

struct line_rows {
    struct line_file *files;
    uint32_t file_count;
    struct line_row *rows;
    uint32_t row_count;
    int has_gpu; /* some row has GPU time */
};

/* The lines of one file for one thread, as they are in the run file. */
struct line_table {
    const char *name; /* in the snapshot; NULL: it cannot be read */
    uint32_t length;
    const char *content; /* NULL: not known */
    uint32_t content_length;
    uint32_t thread; /* units of its record */
    uint32_t count;
    const uint32_t *numbers;
    const struct stint_impl_line_cell *cells; /* may be written to: read relaxed */
};

/* All tables of a run, the newest first. */
struct line_tables {
    struct snapshot_list list;
    uint64_t tables; /* read so far */
    uint64_t lines;  /* of these */
};

void line_tables_start(struct line_tables *t, const struct snapshot *s);
/* 0 after the last one. */
int line_tables_next(struct line_tables *t, struct line_table *out);

/* In the snapshot's memory. 0, or -1 without memory. */
int line_rows_read(struct line_rows *out, struct snapshot *s);

#endif
