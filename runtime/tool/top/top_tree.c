/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of the rows of `stint top` if they are a tree; called by top_table.c.
 */
#include <stdlib.h>

#include "top.h"

struct arrangement {
    const struct top_table *table;
    u128 *value;          /* by row of the table */
    uint32_t *first;      /* by row, and at count of the roots: its first child, */
    uint32_t *next;       /* and the next one with the same parent; SNAPSHOT_NONE = none */
    unsigned char *shown; /* by row */
};

static uint32_t parent_of(const struct arrangement *a, uint32_t row) {
    uint32_t parent = a->table->row[row].parent;
    return parent == SNAPSHOT_NONE ? a->table->count : parent;
}

/* How many rows are added if this one is shown: it, and those around it that are not yet. Counts
 * up to one more than `most`, because a tree may be deep. */
static uint32_t count_missing(const struct arrangement *a, uint32_t row, uint32_t most) {
    uint32_t n = 0;
    for (; n <= most && row != a->table->count && !a->shown[row]; row = parent_of(a, row)) {
        ++n;
    }
    return n;
}

static uint32_t row_index(const struct arrangement *a, const struct top_order *o) {
    return (uint32_t)(o->row - a->table->row);
}

/* The largest rows, as many as there is room for. */
static void show_largest(struct arrangement *a, const struct top_order *order, uint32_t most) {
    uint32_t left = most;
    for (uint32_t i = 0; i < a->table->count && left; ++i) {
        uint32_t row = row_index(a, &order[i]);
        uint32_t missing = count_missing(a, row, left);
        if (missing > left) {
            continue;
        }
        left -= missing;
        for (; row != a->table->count && !a->shown[row]; row = parent_of(a, row)) {
            a->shown[row] = 1;
        }
    }
}

/* Lists of children, the largest first. */
static void list_children(struct arrangement *a, const struct top_order *order) {
    for (uint32_t i = 0; i <= a->table->count; ++i) {
        a->first[i] = SNAPSHOT_NONE;
    }
    for (uint32_t i = a->table->count; i-- > 0;) {
        uint32_t row = row_index(a, &order[i]);
        uint32_t parent = parent_of(a, row);
        a->value[row] = order[i].value;
        a->next[row] = a->first[parent];
        a->first[parent] = row;
    }
}

/* The row after this one: its first child, else the next one beside it or beside a row around
 * it. */
static uint32_t next_in_tree(const struct arrangement *a, uint32_t row) {
    if (a->first[row] != SNAPSHOT_NONE) {
        return a->first[row];
    }
    while (row != a->table->count && a->next[row] == SNAPSHOT_NONE) {
        row = parent_of(a, row);
    }
    return row == a->table->count ? SNAPSHOT_NONE : a->next[row];
}

int64_t top_tree_arrange(struct top_order *order, const struct top_table *t, uint32_t most) {
    size_t count = (size_t)t->count + 1;
    struct arrangement a = {.table = t};
    int64_t rows = -1;
    a.value = calloc(count, sizeof *a.value);
    a.first = calloc(count, sizeof *a.first);
    a.next = calloc(count, sizeof *a.next);
    a.shown = calloc(count, 1);
    if (a.value && a.first && a.next && a.shown) {
        show_largest(&a, order, most);
        list_children(&a, order);
        rows = 0;
        for (uint32_t row = a.first[t->count]; row != SNAPSHOT_NONE; row = next_in_tree(&a, row)) {
            if (a.shown[row]) {
                order[rows++] = (struct top_order){&t->row[row], a.value[row]};
            }
        }
    }
    free(a.value);
    free(a.first);
    free(a.next);
    free(a.shown);
    return rows;
}
