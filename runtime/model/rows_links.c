/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a call tree in depth-first order, children sorted as the caller wants.
 */
#include "rows.h"

/* Walking the order backwards and pushing in front leaves every list in order. */
int rows_link_children(struct rows_links *out, struct snapshot *s, const struct rows *rows,
                       const uint32_t *order) {
    out->child = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *out->child);
    out->next = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *out->next);
    if (scratch_failed(&s->memory)) {
        return -1;
    }
    for (uint32_t i = rows->count; i-- > 0;) {
        uint32_t row = order[i];
        uint32_t parent = rows->row[row].parent;
        if (parent == SNAPSHOT_NONE) {
            parent = rows->count;
        }
        out->next[row] = out->child[parent];
        out->child[parent] = row + 1;
    }
    return 0;
}

uint32_t rows_walk_next(const struct rows_links *links, const struct rows *rows, uint32_t row,
                        int into, uint32_t *depth) {
    if (into && links->child[row]) {
        ++*depth;
        return links->child[row];
    }
    while (!links->next[row] && rows->row[row].parent != SNAPSHOT_NONE) {
        row = rows->row[row].parent;
        --*depth;
    }
    return links->next[row];
}
