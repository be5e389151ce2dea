/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include <string.h>

#include "base/name.h"
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

static int before(const struct stint_row *a, const struct stint_row *b,
                  const struct report_column *c) {
    uint64_t va = report_value(a, c), vb = report_value(b, c);
    if (va != vb) {
        return va > vb;
    }
    int names = name_compare(a->name, a->name_length, b->name, b->name_length);
    return names ? names < 0 : a->set != b->set ? a->set < b->set : a->thread < b->thread;
}

/* Merge sort: stable, no worst case, no qsort_r. */
static void sort_range(uint32_t *order, uint32_t *spare, uint32_t count, const struct rows *rows,
                       const struct report_column *c) {
    for (uint32_t width = 1; width < count; width *= 2) {
        for (uint32_t from = 0; from < count; from += 2 * width) {
            uint32_t middle = from + width < count ? from + width : count;
            uint32_t end = from + 2 * width < count ? from + 2 * width : count;
            uint32_t a = from, b = middle;
            for (uint32_t i = from; i < end; ++i) {
                int left = a < middle &&
                           (b == end || !before(&rows->row[order[b]], &rows->row[order[a]], c));
                spare[i] = left ? order[a++] : order[b++];
            }
        }
        memcpy(order, spare, count * sizeof *order);
    }
}

uint32_t *report_sort(struct snapshot *s, const struct rows *rows, uint32_t column) {
    uint32_t *order = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *order);
    uint32_t *spare = scratch_array(&s->memory, (size_t)rows->count + 1, sizeof *spare);
    if (!order || !spare) {
        return NULL;
    }
    for (uint32_t i = 0; i < rows->count; ++i) {
        order[i] = i;
    }
    sort_range(order, spare, rows->count, rows, report_column(column));
    return order;
}
