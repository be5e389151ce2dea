/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the HTML export, and the maximum size of a page: a browser opens 20 MB of data in a
 * second or two, and more rows than these are not readable. Beyond the limits the smallest rows,
 * paths and spans are left out, and the page says so.
 */
#ifndef STINT_EXPORT_HTML_H
#define STINT_EXPORT_HTML_H

#include "export/export_columns.h"
#include "model/run.h"

#define HTML_ROWS 20000u
#define HTML_HISTOGRAMS 2000u /* about 1 KB each */
#define HTML_WHOLE_TREE 2000u /* a tree of at most so many paths is shown completely */
#define HTML_PATHS 20000u
#define HTML_SPANS 200000u
#define HTML_MARKS 20000u /* also the values */
#define HTML_HEAT_RANKS 4096u

struct html {
    struct sink *out;
    struct run *run;
    const struct metrics *interval; /* NULL: the page has the whole run only */
    size_t thinned_length;
    char thinned[640]; /* sentences about what was left out, or "" */
};

/* ---- export_html_parts.c */

/* Adds a sentence to `thinned`. */
__attribute__((format(printf, 2, 3))) void html_thinned(struct html *h, const char *format, ...);
/* `,"key":` and a number or a text, for all members of an object but the first. */
void html_text(struct sink *out, const char *key, const char *text);

/* ---- The other export_html_*.c files. */

/* Each writes members of the page's data: `,"tree":[…]`; `,"lanes":[…],"names":[…]`; of a merged
 * run `,"ranks":{…},"heat":[…]`. 0, or -1 if there is not enough memory. */
int html_tree(struct html *h);
int html_trace(struct html *h);
int html_ranks(struct html *h);

#endif
