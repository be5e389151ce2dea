/* SPDX-License-Identifier: Apache-2.0 */
#include "report_cells.h"

int report_table(const struct report *r) {
    struct rows rows;
    struct snapshot *s = r->snapshot;
    const struct report_options *o = r->options;
    if (rows_flat(&rows, s, o->threads)) {
        return -1;
    }
    rows_drop_groups(&rows);
    uint32_t *order = report_sort(s, &rows, o->sort);
    struct report_line *lines = scratch_array(&s->memory, (size_t)rows.count + 1, sizeof *lines);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    uint32_t count = 0, more = 0;
    for (uint32_t i = 0; i < rows.count; ++i) {
        const struct stint_row *row = &rows.row[order[i]];
        if (!row_is_called(row) || (o->set != REPORT_ALL_SETS && row->set != o->set) ||
            !report_options_want(o, row->name, row->name_length)) {
            continue;
        }
        if (o->top && count == o->top) {
            ++more;
            continue;
        }
        lines[count++].row = order[i];
    }
    int failed = report_cells(r, &rows, lines, count, REPORT_IN_TABLE);
    if (more) {
        text_add(r->out, "(%u more)\n", more);
    }
    if (!count && o->wanted) {
        text_add(r->out, "(" REPORT_NO_MATCH ")\n");
    }
    return failed;
}
