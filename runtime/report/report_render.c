/* SPDX-License-Identifier: Apache-2.0 */
#include "report_cost.h"

#include <string.h>

/* A view of gen/views.ini: its name and the function that prints it, 0 or nonzero without memory;
 * line: as in report_render. */
struct report_view_entry {
    const char *name;
    int (*render)(const struct report *r, int line);
};

#include "report_view_table.inc"

/* Parts of a view end with a blank line, and the footer begins with one. */
static int one_blank_line(const struct report *r) {
    struct text *t = r->out;
    if (t->length > 1 && !memcmp(t->data + t->length - 2, "\n\n", 2)) {
        --t->length;
    }
    return 0;
}

int report_view_legacy(const struct report *r, int line) {
    return report_legacy(r, line || r->options->set != REPORT_ALL_SETS);
}

int report_view_table(const struct report *r, int line) {
    (void)line;
    return report_header(r) || report_table(r) || report_footer(r);
}

int report_view_tree(const struct report *r, int line) {
    (void)line;
    return report_header(r) || report_tree(r) || report_footer(r);
}

int report_view_gpu(const struct report *r, int line) {
    (void)line;
    return report_header(r) || report_activity(r) || report_devices(r) || report_memory(r) ||
           report_hints(r) || one_blank_line(r) || report_footer(r);
}

int report_view_fluid(const struct report *r, int line) {
    (void)line;
    return report_fluid(r) || report_memory(r) || report_footer(r);
}

const char *report_view_name(enum report_view view) {
    return report_views[view].name;
}

int report_can_correct(enum report_view view) {
    return view == REPORT_TABLE || view == REPORT_TREE;
}

int report_render(const struct report *r, int line) {
    const struct report_options *o = r->options;
    struct snapshot *s = r->snapshot;
    if (o->corrected && report_can_correct(o->view) && report_cost_is_known(r)) {
        if (report_correct(r)) {
            return -1;
        }
        s->corrected = 1;
    }
    int failed = report_views[o->view].render(r, line);
    s->corrected = 0;
    if (failed) {
        return -1;
    }
    return 0;
}
