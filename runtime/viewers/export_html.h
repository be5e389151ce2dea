/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the HTML export, and what a page can hold: a browser opens 20 MB of data in a second
 * or two, and nobody reads more rows than this. What is over it is left out from the small end, and
 * the page says so.
 */
#ifndef STINT_EXPORT_HTML_H
#define STINT_EXPORT_HTML_H

#include "export/export_columns.h"
#include "read/run.h"

#define HTML_ROWS 20000u
#define HTML_HISTOGRAMS 2000u /* about 1 KB each */
#define HTML_WHOLE_TREE 2000u /* a tree of so few paths is shown to its last */
#define HTML_PATHS 20000u
#define HTML_SPANS 200000u
#define HTML_MARKS 20000u /* also the values */

struct html {
    struct sink *out;
    struct run *run;
    const struct export_columns *columns;
    size_t thinned_length;
    char thinned[640]; /* "" or what was left out, in sentences */
};

/* Adds a sentence. */
__attribute__((format(printf, 2, 3))) void html_thinned(struct html *h, const char *format, ...);
/* `,"key":` and a number or a text; the first of an object is written without. */
void html_number(struct sink *out, const char *key, uint64_t value);
void html_text(struct sink *out, const char *key, const char *text);

/* Each writes `,"tree":[…]` or the like. 0, or -1 without memory. */
int html_tree(struct html *h);
int html_trace(struct html *h);

#endif
