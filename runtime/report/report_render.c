/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "compat/fluid_report.h"
#include "compat/report_legacy.h"
#include "report.h"
#include "report_cost.h"

/* Adds its part of a view; nonzero without memory. */
typedef int report_part(const struct report *);

/* The end of the rows of Stat.h, which has no footer. */
static int report_legacy_end(const struct report *r) {
    if (!r->options->no_line || r->options->set != REPORT_ALL_SETS) {
        report_legacy_line(r);
        report_losses(r, "stint: ");
        report_not_corrected(r, "stint: ");
    }
    return 0;
}

/* Parts of a view end with a blank line, and the footer begins with one. */
static int report_one_blank_line(const struct report *r) {
    struct text *t = r->out;
    if (t->length > 1 && !memcmp(t->data + t->length - 2, "\n\n", 2)) {
        --t->length;
    }
    return 0;
}

#include "report_view_table.inc"

int report_render(const struct report *r) {
    const struct report_options *o = r->options;
    struct snapshot *s = r->snapshot;
    if (o->corrected && report_can_correct(o->view) && report_cost_is_known(r)) {
        if (report_correct(r)) {
            return -1;
        }
        s->corrected = 1;
    }
    int failed = 0;
    /* The rows of a part are freed before the next one makes its own: a million of them take a
     * gigabyte. */
    for (report_part *const *part = report_views[o->view]; *part && !failed; ++part) {
        struct scratch_mark before = scratch_mark(&s->memory);
        failed = (*part)(r);
        scratch_release(&s->memory, before);
    }
    s->corrected = 0;
    if (failed) {
        return -1;
    }
    return 0;
}
