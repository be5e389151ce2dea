/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

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

int report_render(const struct report *r, int line) {
    if (report_views[r->options->view].render(r, line)) {
        return -1;
    }
    return 0;
}
