/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include <string.h>

#include "base/name.h"
#include "base/order.h"
#include "report_columns.inc"

const struct report_column *report_column(uint32_t index) {
    if (index < STINT_COLUMN_COUNT) {
        return &report_columns[index];
    }
    return NULL;
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

static int row_sorts_before(const struct stint_row *a, const struct stint_row *b,
                            const struct report_column *c) {
    uint64_t va = report_value(a, c), vb = report_value(b, c);
    if (va != vb) {
        return va > vb;
    }
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
    const struct report_column *column;
};

static int is_row_first(const void *what, uint32_t a, uint32_t b) {
    const struct column_order *o = what;
    return row_sorts_before(&o->rows->row[a], &o->rows->row[b], o->column);
}

uint32_t *report_sort(struct snapshot *s, const struct rows *rows, uint32_t column) {
    const struct column_order o = {rows, report_column(column)};
    return order_by(&s->memory, rows->count, is_row_first, &o);
}
