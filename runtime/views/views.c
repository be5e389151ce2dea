/* SPDX-License-Identifier: Apache-2.0 */
#include "views.h"

#include <string.h>

#include "fluid/fluid_report.h"
#include "report/report_cost.h"

/* Prints a view of gen/views.ini. Returns nonzero without memory; closing: as in report_render. */
typedef int report_view_function(const struct report *r, int closing);

#include "report_view_table.inc"

/* Parts of a view end with a blank line, and the footer begins with one. */
static int one_blank_line(const struct report *r) {
    struct text *t = r->out;
    if (t->length > 1 && !memcmp(t->data + t->length - 2, "\n\n", 2)) {
        --t->length;
    }
    return 0;
}

int report_view_legacy(const struct report *r, int closing) {
    return report_legacy(r, closing || r->options->set != REPORT_ALL_SETS);
}

int report_view_table(const struct report *r, int closing) {
    (void)closing;
    return report_header(r) || report_table(r) || report_footer(r);
}

int report_view_tree(const struct report *r, int closing) {
    (void)closing;
    return report_header(r) || report_tree(r) || report_footer(r);
}

int report_view_gpu(const struct report *r, int closing) {
    (void)closing;
    return report_header(r) || report_activity(r) || report_devices(r) || fluid_memory(r) ||
           report_hints(r) || one_blank_line(r) || report_footer(r);
}

int report_view_fluid(const struct report *r, int closing) {
    (void)closing;
    return report_fluid(r) || fluid_memory(r) || report_footer(r);
}

int report_view_ranks(const struct report *r, int closing) {
    (void)closing;
    return report_header(r) || report_ranks(r) || report_footer(r);
}

int report_view_ranges(const struct report *r, int closing) {
    (void)closing;
    return report_header(r) || report_ranges(r) || report_footer(r);
}

int report_render(const struct report *r, int closing) {
    const struct report_options *o = r->options;
    struct snapshot *s = r->snapshot;
    if (o->corrected && report_can_correct(o->view) && report_cost_is_known(r)) {
        if (report_correct(r)) {
            return -1;
        }
        s->corrected = 1;
    }
    int failed = report_views[o->view](r, closing);
    s->corrected = 0;
    if (failed) {
        return -1;
    }
    return 0;
}
