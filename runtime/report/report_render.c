/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <string.h>

/* Parts of a view end with a blank line, and the footer begins with one. */
static int one_blank_line(const struct report *r) {
    struct text *t = r->out;
    if (t->length > 1 && !memcmp(t->data + t->length - 2, "\n\n", 2)) {
        --t->length;
    }
    return 0;
}

int report_render(const struct report *r, int line) {
    switch (r->options->view) {
    case REPORT_TABLE:
        return report_header(r) || report_table(r) || report_footer(r) ? -1 : 0;
    case REPORT_TREE:
        return report_header(r) || report_tree(r) || report_footer(r) ? -1 : 0;
    case REPORT_GPU:
        return report_header(r) || report_activity(r) || report_devices(r) || report_memory(r) ||
                       report_hints(r) || one_blank_line(r) || report_footer(r)
                   ? -1
                   : 0;
    case REPORT_FLUID:
        return report_fluid(r) || report_memory(r) || report_footer(r) ? -1 : 0;
    default:
        return report_legacy(r, line || r->options->set != REPORT_ALL_SETS);
    }
}
