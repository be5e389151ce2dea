/* SPDX-License-Identifier: Apache-2.0 */
#include "report_cells.h"

/* A row is shown if it or anything below it was called, or is open. Parents come before children,
 * so one pass backwards is enough. */
static void find_live(uint8_t *live, const struct rows *rows, const struct report_options *o) {
    for (uint32_t i = rows->count; i-- > 0;) {
        const struct stint_row *r = &rows->row[i];
        if ((row_is_called(r) || r->extra->open_ns) &&
            (o->set == REPORT_ALL_SETS || r->set == o->set) &&
            report_options_want(o, r->name, r->name_length)) {
            live[i] = 1;
        }
        if (live[i] && r->parent != SNAPSHOT_NONE) {
            live[r->parent] = 1;
        }
    }
}

int report_tree(const struct report *r) {
    struct rows rows;
    struct rows_links links;
    struct snapshot *s = r->snapshot;
    if (rows_tree(&rows, s)) {
        return -1;
    }
    uint32_t *order = report_sort(s, &rows, r->options->sort);
    uint8_t *live = scratch_array(&s->memory, (size_t)rows.count + 1, sizeof *live);
    struct report_line *lines = scratch_array(&s->memory, (size_t)rows.count + 1, sizeof *lines);
    if (scratch_failed(&s->memory) || rows_link_children(&links, s, &rows, order)) {
        return -1;
    }
    find_live(live, &rows, r->options);
    uint32_t count = 0, depth = 0, more = 0;
    uint32_t at = links.child[rows.count];
    while (at) {
        uint32_t row = at - 1;
        if (live[row] && r->options->top && count == r->options->top) {
            ++more;
        } else if (live[row]) {
            lines[count].row = row;
            lines[count++].depth = depth;
        }
        at = rows_walk_next(&links, &rows, row, live[row], &depth);
    }
    int failed = report_cells(r, &rows, lines, count, REPORT_IN_TREE);
    if (more) {
        text_add(r->out, "(%u more)\n", more);
    }
    if (!count && r->options->wanted) {
        text_add(r->out, "(" REPORT_NO_MATCH ")\n");
    }
    return failed;
}
