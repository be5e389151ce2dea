/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of reports, from gen/columns.ini: one table for titles, order, sorting and views.
 */
#ifndef STINT_REPORT_COLUMNS_H
#define STINT_REPORT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include "rows.h"

enum report_kind {
    REPORT_TEXT,
    REPORT_COUNT,
    REPORT_TIME,
    REPORT_SHARE,
    REPORT_RATE,
    REPORT_RATIO,
    REPORT_SIZE
};
#define REPORT_IN_TABLE 1u
#define REPORT_IN_TREE 2u

struct report_column {
    const char *key;
    const char *title;
    const char *export_key; /* in csv and json, whole units, with the unit: total_ns, share_ppm */
    enum report_kind kind;
    struct row_field field;
    int sortable;
    unsigned views;
    uint64_t needs; /* ROW_*: the cell of a row without is "-" */
    int hide;       /* left out if all its cells would be */
    int spare;      /* left out first where a terminal has no room for all */
    int optional;   /* exports leave it out where it is 0 or "" */
    uint64_t mark;  /* ROW_*: the cell of a row with it begins with a ~ */
    uint64_t bound; /* ROW_*: with <= */
};

/* NULL past the last one. */
const struct report_column *report_column(uint32_t index);
/* The sortable column of that key; UINT32_MAX if there is none. */
uint32_t report_column_find(const char *key, size_t length);
static inline u128 report_value(const struct stint_row *r, const struct report_column *c) {
    return row_number(r, c->field);
}

static inline const char *report_text(const struct stint_row *r, const struct report_column *c) {
    return row_text(r, c->field);
}

/* Row numbers in the order asked for: largest first, then by name and thread. In the snapshot's
 * memory; NULL without. */
uint32_t *report_sort(struct snapshot *s, const struct rows *rows, uint32_t column);

#endif
