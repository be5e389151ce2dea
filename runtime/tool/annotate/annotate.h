/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source file with what its lines took, as text or as a part of an HTML page.
 */
#ifndef STINT_ANNOTATE_H
#define STINT_ANNOTATE_H

#include <sys/types.h>

#include "base/scratch.h"
#include "base/text.h"
#include "model/line_rows.h"

struct annotate_source {
    const char *bytes; /* NULL: not shown */
    size_t length;
    dev_t device; /* of the file that was read; 0: none */
    ino_t inode;
    const char *note; /* said after the numbers of the file, where the source is not as expected */
};

/* In the order of the values of --sort in gen/options.ini. */
enum annotate_sort { ANNOTATE_LINE, ANNOTATE_SELF, ANNOTATE_TOTAL, ANNOTATE_HITS };

struct annotate_options {
    enum annotate_sort sort;
    uint32_t top; /* 0: all */
    int html;
};

/* All files of a run. */
struct annotate_page {
    const struct line_rows *rows;
    u128 *self_ns;   /* of each file */
    uint32_t *order; /* the files, the hottest first */
    /* By the caller: which files are shown, with these sources, and their sums. */
    struct annotate_source *sources;
    unsigned char *shown;
    u128 shown_ns;
    uint32_t shown_files;
    uint32_t shown_lines;
};

/* Sums up and orders the files. 0, or -1 without memory. */
int annotate_start(struct annotate_page *all, const struct line_rows *rows, struct scratch *memory);
/* The files that are shown and their hottest lines; of HTML all up to the first file. 0, or -1
 * without memory. */
int annotate_summary(struct text *out, const struct annotate_page *all, struct scratch *memory,
                     const struct annotate_options *options);
/* The rows of the file with that index. 0, or -1 without memory. */
int annotate_file(struct text *out, const struct line_rows *rows, uint32_t file,
                  const struct annotate_source *source, const struct annotate_options *options);
void annotate_html_begin(struct text *out, const char *program);
/* The sources whose text is in the page: list is made by annotate_html_list. */
void annotate_html_list(struct text *list, const struct line_file *file,
                        const struct annotate_source *source);
void annotate_html_end(struct text *out, const struct text *list);

/* ---- source.c: which file is read for a source that a run names, and whether its text may be
 * shown. A run file can come from anywhere and name any file, so a file is shown if it is the
 * one that was built, by its size and SHA-256, or if the user asked for it: by its path, or by a
 * folder that it is below. */

#define SOURCE_ROOTS 16u

struct source_places {
    const char *only; /* the path that is read, whatever the run says; NULL: none */
    const char *root[SOURCE_ROOTS];
    uint32_t roots;
};

/* Fills the source, in the memory. Without bytes, its note says why. */
void source_take(struct annotate_source *source, struct scratch *memory,
                 const struct line_file *file, const struct source_places *places);

#endif
