/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include <string.h>

#include "base/name.h"
#include "base/order.h"
#include "report_columns.inc"

const struct report_column *report_column(uint32_t index) {
    return index < STINT_COLUMN_COUNT ? &report_columns[index] : NULL;
}

uint32_t report_column_find(const char *key, size_t length) {
    for (uint32_t i = 0; i < STINT_COLUMN_COUNT; ++i) {
        if (report_columns[i].sortable && strlen(report_columns[i].key) == length &&
            !memcmp(report_columns[i].key, key, length)) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Whether a precedes b; both have the same value in the column. */
static int row_precedes_of_equals(const struct stint_row *a, const struct stint_row *b) {
    int names = name_compare(a->name, a->name_length, b->name, b->name_length);
    if (names) {
        return names < 0;
    }
    if (a->set != b->set) {
        return a->set < b->set;
    }
    return a->thread < b->thread;
}

struct column_order {
    const struct rows *rows;
    const u128 *value; /* of each row */
};

static int is_row_first(const void *what, uint32_t a, uint32_t b) {
    const struct column_order *o = what;
    if (o->value[a] != o->value[b]) {
        return o->value[a] > o->value[b];
    }
    return row_precedes_of_equals(&o->rows->row[a], &o->rows->row[b]);
}

/* The values side by side: a million rows are many times as large as a cache. */
uint32_t *report_sort(struct snapshot *s, const struct rows *rows, uint32_t column) {
    const struct report_column *c = report_column(column);
    uint32_t *order = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *order);
    struct scratch_mark before = scratch_mark(&s->memory);
    uint32_t *spare = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *spare);
    u128 *value = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *value);
    if (scratch_failed(&s->memory)) {
        return NULL;
    }
    for (uint32_t i = 0; i < rows->count; ++i) {
        value[i] = report_value(&rows->row[i], c);
    }
    const struct column_order o = {rows, value};
    const uint32_t *sorted = order_in(order, spare, rows->count, is_row_first, &o);
    if (sorted != order) {
        memcpy(order, sorted, rows->count * sizeof *order);
    }
    scratch_release(&s->memory, before);
    return order;
}
