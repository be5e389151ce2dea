/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The form of a report, as STINT_REPORT and stint_report() take it, and as the tool does.
 */
#include "fuzz.h"
#include "model/columns.h"
#include "tool/common/run_view.h"

static void check(const struct report_options *o) {
    FUZZ_NEED(o->view < REPORT_VIEWS && (o->threads == 0 || o->threads == 1));
    FUZZ_NEED(report_column(o->sort) && report_column(o->sort)->sortable);
    FUZZ_NEED(o->set == REPORT_ALL_SETS && !o->wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct report_options o;
    struct run_view view;
    char *text = fuzz_text(data, size);
    int plain = report_options_parse(text, &o);
    int tool = run_view_parse(text, &view);
    if (!plain) {
        check(&o);
    }
    if (!tool) {
        check(&view.options);
        FUZZ_NEED(!plain || view.options.threads); /* "threads" is the tool's own view */
    }
    free(text);
    return 0;
}
